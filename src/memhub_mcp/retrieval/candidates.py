"""What one store offers for a question: candidates by words and by meaning, each with its evidence and score."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memhub_mcp.domain.hit import CommitHit, Evidence, MemoryHit
from memhub_mcp.domain.memory import Filter, Memory
from memhub_mcp.domain.revision import Commit
from memhub_mcp.retrieval.forms import Form, form_of
from memhub_mcp.retrieval.fusion import fuse, idf
from memhub_mcp.retrieval.gate import passes
from memhub_mcp.retrieval.meaning import Meaning
from memhub_mcp.retrieval.terms import Query
from memhub_mcp.store.file import Store
from memhub_mcp.store.vectors import VectorMatch
from memhub_mcp.store.words import K1, MAX_TERMS, Words

UNSEEN = 100
"""Texts that a store is taken to hold besides its own when a word is weighed: in a small one every word is rare."""

POOL = 50
"""Candidates taken from words, and as many from meaning."""

COMMIT_POOL = 12
FIRST_SEARCH_KEY = 1_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, read once, with its meaning as the store that is asked can compare it."""

    query: Query
    meaning: Meaning
    relevant_only: bool = True


@dataclass(frozen=True, slots=True)
class ByWords:
    """How well a row's words answer: `score` over the best possible one, `share` of the question's weight."""

    score: float
    share: float
    matched: frozenset[str]


NO_WORDS = ByWords(0.0, 0.0, frozenset())


def memory_hits(asked: Asked, store: Store, visible: Filter, name: str | None) -> list[MemoryHit]:
    """The memories of `store` that bear on the question, unordered."""
    by_words = _by_words(asked.query, store.words, visible, POOL)
    by_meaning = _by_meaning(asked.meaning, store, visible, by_words)
    hits: list[MemoryHit] = []
    for seq, memory in store.memories.by_seqs(by_words.keys() | by_meaning.keys()).items():
        words, meaning = by_words.get(seq, NO_WORDS), by_meaning.get(seq)
        evidence = _evidence(memory, words, meaning)
        form = form_of(memory.kind, memory.text)
        if not asked.relevant_only or passes(evidence, form, lookup=asked.query.lookup):
            score = fuse(words.score, evidence.cosine, form, lookup=asked.query.lookup)
            hits.append(MemoryHit(memory=memory, workspace=name, score=score, evidence=evidence))
    return hits


def commit_hits(asked: Asked, store: Store, visible: Filter, name: str | None) -> list[CommitHit]:
    """The commits of `store` whose words bear on the question, inside the filter's times and files, unordered."""
    by_words = _by_words(asked.query, store.commits.words, None, COMMIT_POOL)
    hits: list[CommitHit] = []
    for seq, commit in store.commits.get_many(by_words).items():
        evidence = _evidence(None, by_words[seq], None)
        if _inside(commit, visible) and (
            not asked.relevant_only or passes(evidence, Form.TEXT, lookup=asked.query.lookup)
        ):
            score = fuse(evidence.words, evidence.words, Form.TEXT, lookup=asked.query.lookup)
            hits.append(CommitHit(commit=commit, workspace=name, score=score, evidence=evidence))
    return hits


def _evidence(memory: Memory | None, words: ByWords, meaning: VectorMatch | None) -> Evidence:
    keys = memory.search_keys if memory is not None else ()
    key = meaning.key - FIRST_SEARCH_KEY if meaning is not None else -1
    return Evidence(
        terms=words.matched,
        share=words.share,
        words=words.score,
        cosine=meaning.cosine if meaning is not None else None,
        matched_key=keys[key] if 0 <= key < len(keys) else None,
    )


def _by_words(query: Query, words: Words, visible: Filter | None, limit: int) -> dict[int, ByWords]:
    frequencies = words.frequencies((*query.terms, *query.characters))
    # An identifier that nobody wrote is asked by its parts alone.
    terms = [term for term in query.terms if frequencies.get(term) or term not in query.wholes]
    if not any(frequencies.get(term) for term in terms):
        terms = list(query.characters) or terms
    terms = _leading(terms, frequencies)
    total = words.total()
    weights = {term: idf(frequencies.get(term, 0), total) for term in terms}
    best = sum(weights.values()) * (K1 + 1)
    says = {term: idf(frequencies.get(term, 0), total + UNSEEN) for term in weights}
    whole = sum(says.values())
    return {
        match.seq: ByWords(
            score=match.score / best,
            share=sum(says[term] for term in match.matched if term in says) / whole,
            matched=match.matched,
        )
        for match in words.search(list(weights), visible, limit)
    }


def _leading(terms: Sequence[str], frequencies: Mapping[str, int]) -> list[str]:
    """The terms that take part: known ones first, the rarest of them, then those that nobody wrote."""
    known = sorted((term for term in terms if frequencies.get(term)), key=lambda term: frequencies[term])
    unknown = [term for term in terms if not frequencies.get(term)]
    return [*known, *unknown][:MAX_TERMS]


def _by_meaning(
    meaning: Meaning, store: Store, visible: Filter, others: Mapping[int, ByWords]
) -> dict[int, VectorMatch]:
    """The nearest memories, and how near those found by words are."""
    space = meaning.among
    if meaning.vector is None or space is None:
        return {}
    found = {match.seq: match for match in store.vectors.search(space.id, meaning.vector, visible, POOL)}
    missing = others.keys() - found.keys()
    for seq, key, vector in store.vectors.of(space.id, missing, space.dimension) if missing else ():
        cosine = float(np.dot(vector, meaning.vector))
        if seq not in found or found[seq].cosine < cosine:
            found[seq] = VectorMatch(seq, key, cosine)
    return found


def _inside(commit: Commit, visible: Filter) -> bool:
    if visible.since is not None and commit.committed_at < visible.since:
        return False
    if visible.until is not None and commit.committed_at > visible.until:
        return False
    return not visible.files or any(_under(change.path, visible.files) for change in commit.changes)


def _under(path: str, files: Iterable[str]) -> bool:
    return any(path == file or path.startswith(file.rstrip("/") + "/") for file in files)
