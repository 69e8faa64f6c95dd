"""What one store offers for a question: candidates by words and by meaning, each with its evidence and score."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from memhub_mcp.domain.hit import CommitHit, Evidence, MemoryHit
from memhub_mcp.domain.memory import Filter, Memory
from memhub_mcp.domain.revision import Commit
from memhub_mcp.retrieval.forms import Form, form_of
from memhub_mcp.retrieval.fusion import fuse, idf
from memhub_mcp.retrieval.meaning import Meaning
from memhub_mcp.retrieval.terms import Query
from memhub_mcp.store.file import Store
from memhub_mcp.store.vectors import VectorMatch
from memhub_mcp.store.words import K1, MAX_TERMS, Words

POOL = 50
"""Candidates taken from words, and as many from meaning."""

COMMIT_POOL = 12
FIRST_SEARCH_KEY = 1_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, read once for all stores."""

    query: Query
    meaning: Meaning


@dataclass(frozen=True, slots=True)
class ByWords:
    """How well a row's words answer: `score` over the best possible one, `share` of the question's weight."""

    score: float
    share: float
    matched: frozenset[str]


NO_WORDS = ByWords(0.0, 0.0, frozenset())


def memory_hits(asked: Asked, store: Store, visible: Filter, name: str | None) -> list[MemoryHit]:
    """The candidates of `store`, unordered."""
    by_words = _by_words(asked.query, store.words, visible, POOL)
    by_meaning = _by_meaning(asked.meaning, store, visible, by_words)
    memories = store.memories.by_seqs(by_words.keys() | by_meaning.keys())
    return [
        _memory_hit(asked, memory, name, by_words.get(seq, NO_WORDS), by_meaning.get(seq))
        for seq, memory in memories.items()
    ]


def commit_hits(asked: Asked, store: Store, visible: Filter, name: str | None) -> list[CommitHit]:
    """The commits of `store` that share words with the question and lie inside the filter's times and files."""
    by_words = _by_words(asked.query, store.commits.words, None, COMMIT_POOL)
    return [
        CommitHit(
            commit=commit,
            workspace=name,
            score=fuse(found.score, found.score, Form.TEXT, lookup=asked.query.lookup),
            evidence=Evidence(terms=found.matched, share=found.share, words=found.score),
        )
        for seq, commit in store.commits.get_many(by_words).items()
        if _inside(commit, visible)
        for found in (by_words[seq],)
    ]


def _memory_hit(
    asked: Asked, memory: Memory, name: str | None, words: ByWords, meaning: VectorMatch | None
) -> MemoryHit:
    cosine = meaning.cosine if meaning is not None else None
    key = meaning.key - FIRST_SEARCH_KEY if meaning is not None else -1
    return MemoryHit(
        memory=memory,
        workspace=name,
        score=fuse(words.score, cosine, form_of(memory.kind, memory.text), lookup=asked.query.lookup),
        evidence=Evidence(
            terms=words.matched,
            share=words.share,
            words=words.score,
            cosine=cosine,
            matched_key=memory.search_keys[key] if 0 <= key < len(memory.search_keys) else None,
        ),
    )


def _by_words(query: Query, words: Words, visible: Filter | None, limit: int) -> dict[int, ByWords]:
    frequencies = words.frequencies((*query.terms, *query.characters))
    # An identifier that nobody wrote is asked by its parts alone.
    terms = [term for term in query.terms if frequencies[term] or term not in query.wholes]
    if not any(frequencies[term] for term in terms):
        terms = list(query.characters) or terms
    total = words.total()
    weights = {term: idf(frequencies[term], total) for term in terms}
    weights = dict(sorted(weights.items(), key=lambda pair: -pair[1])[:MAX_TERMS])
    whole = sum(weights.values())
    return {
        match.seq: ByWords(
            score=match.score / (whole * (K1 + 1)),
            share=sum(weights[term] for term in match.matched if term in weights) / whole,
            matched=match.matched,
        )
        for match in words.search(terms, visible, limit)
    }


def _by_meaning(
    meaning: Meaning, store: Store, visible: Filter, others: Mapping[int, ByWords]
) -> dict[int, VectorMatch]:
    """The nearest memories, and how near those found by words are."""
    if meaning.vector is None or meaning.space is None:
        return {}
    space = store.vectors.active_space()
    if space is None or space.name != meaning.space.name:
        return {}
    found = {match.seq: match for match in store.vectors.search(space.id, meaning.vector, visible, POOL)}
    missing = others.keys() - found.keys()
    for seq, key, vector in store.vectors.of(space.id, missing, meaning.space.dimension) if missing else ():
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
