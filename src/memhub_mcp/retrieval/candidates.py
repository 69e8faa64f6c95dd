"""What one store offers for a question: candidates by words and by meaning, each with its evidence and score."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from memhub_mcp.domain.hit import CommitHit, Evidence, MemoryHit
from memhub_mcp.domain.memory import Filter, Memory
from memhub_mcp.domain.revision import Commit
from memhub_mcp.retrieval.closeness import SCALES, closeness
from memhub_mcp.retrieval.conversation import REACH, ROLES, Conversation
from memhub_mcp.retrieval.dialogue import hint
from memhub_mcp.retrieval.forms import Form, form_of
from memhub_mcp.retrieval.fusion import fuse
from memhub_mcp.retrieval.gate import passes
from memhub_mcp.retrieval.late import late_scores
from memhub_mcp.retrieval.lexical import NO_WORDS, ByWords, match, score, score_in_conversation, weigh
from memhub_mcp.retrieval.meaning import Meaning
from memhub_mcp.retrieval.nearness import nearness
from memhub_mcp.retrieval.terms import Query, index_terms
from memhub_mcp.store.file import Store
from memhub_mcp.store.vectors import VectorMatch

POOL = 50
"""Candidates taken from words, and as many from meaning; the best of both together are read in full."""

COMMIT_POOL = 12
FIRST_SEARCH_KEY = 1_000
_WORD = re.compile(r"\w+")

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, read once for all stores."""

    text: str
    query: Query
    meaning: Meaning
    relevant_only: bool = True


def memory_hits(asked: Asked, store: Store, visible: Filter, name: str | None) -> list[MemoryHit]:
    """The memories of `store` that bear on the question, unordered."""
    speakers = [found for found in store.sessions.speakers(_WORD.findall(asked.text)) if found.lower() not in ROLES]
    terms = weigh(asked.query, store.words, frozenset(term for speaker in speakers for term in index_terms(speaker)))
    rows = match(terms, store.words, visible, POOL)
    meaning, space = asked.meaning, asked.meaning.among.id if asked.meaning.among is not None else None
    near: dict[int, VectorMatch] = {}
    if meaning.vector is not None and space is not None:
        near = {found.seq: found for found in store.vectors.search(space, meaning.vector, visible, POOL)}
    talk = Conversation.of(store.sessions.around({*rows.seqs, *near}, REACH))
    by_words = score_in_conversation(terms, rows, talk, speakers) if talk.turns or speakers else score(terms, rows)
    if meaning.vector is not None and space is not None:
        unknown = {seq for seq in {*by_words, *near} if seq not in near or seq in talk.turns}
        near |= nearness(store.vectors, space, meaning.vector, unknown, talk) if unknown else {}
    if meaning.space is not None and meaning.space.model in SCALES:
        model = meaning.space.model
        near = {seq: replace(found, cosine=closeness(model, found.cosine, asked.text)) for seq, found in near.items()}
    pool = _first(by_words, lambda found: found.score) | _first(near, lambda found: found.cosine)
    late: dict[int, float] = {}
    if meaning.tokens is not None and space is not None:
        late = late_scores(meaning.tokens, terms.idf, store.token_bits, space, pool, talk)

    def worth(seq: int) -> float:
        cosine = near[seq].cosine if seq in near else None
        return fuse(by_words.get(seq, NO_WORDS).score, cosine, late.get(seq), Form.TEXT, lookup=asked.query.lookup)

    pool = sorted(pool, key=worth, reverse=True)[:POOL]
    hits: list[MemoryHit] = []
    for seq, memory in store.memories.visible(pool, visible).items():
        evidence = _evidence(memory, by_words.get(seq, NO_WORDS), near.get(seq), late.get(seq))
        form = form_of(memory.kind, memory.text)
        if not asked.relevant_only or passes(_judged(evidence, near.get(seq)), form, lookup=asked.query.lookup):
            fused = fuse(evidence.words, evidence.cosine, evidence.tokens, form, lookup=asked.query.lookup)
            if form is Form.DIALOGUE:
                fused += hint(asked.text, memory.text)
            hits.append(MemoryHit(memory=memory, workspace=name, score=fused, evidence=evidence))
    return hits


def commit_hits(
    query: Query, store: Store, visible: Filter, name: str | None, *, relevant_only: bool = True
) -> list[CommitHit]:
    """The commits of `store` whose words bear on the question, inside the filter's times and files, unordered."""
    words = store.commits.words
    terms = weigh(query, words)
    by_words = score(terms, match(terms, words, None, COMMIT_POOL))
    best = sorted(by_words, key=lambda seq: -by_words[seq].score)[:COMMIT_POOL]
    hits: list[CommitHit] = []
    for seq, commit in store.commits.get_many(best).items():
        evidence = _evidence(None, by_words[seq], None, None)
        if _inside(commit, visible) and (not relevant_only or passes(evidence, Form.TEXT, lookup=query.lookup)):
            # Words alone speak for a commit: the place of its meaning is taken by what they say.
            fused = fuse(evidence.words, evidence.words, None, Form.TEXT, lookup=query.lookup)
            hits.append(CommitHit(commit=commit, workspace=name, score=fused, evidence=evidence))
    return hits


def _first(found: Mapping[int, Found], score: Callable[[Found], float]) -> set[int]:
    return set(sorted(found, key=lambda seq: score(found[seq]), reverse=True)[:POOL])


def _evidence(memory: Memory | None, words: ByWords, near: VectorMatch | None, tokens: float | None) -> Evidence:
    keys = memory.search_keys if memory is not None else ()
    key = near.key - FIRST_SEARCH_KEY if near is not None else -1
    return Evidence(
        terms=words.matched,
        share=words.share,
        words=words.score,
        cosine=near.cosine if near is not None else None,
        tokens=tokens,
        matched_key=keys[key] if 0 <= key < len(keys) else None,
    )


def _judged(evidence: Evidence, near: VectorMatch | None) -> Evidence:
    """What the gate sees: the tokens that are kept are those of a text's beginning and say nothing of a later piece."""
    later = near is not None and 0 < near.key < FIRST_SEARCH_KEY
    return replace(evidence, tokens=None) if later else evidence


def _inside(commit: Commit, visible: Filter) -> bool:
    if visible.since is not None and commit.committed_at < visible.since:
        return False
    if visible.until is not None and commit.committed_at > visible.until:
        return False
    return not visible.files or any(_under(change.path, visible.files) for change in commit.changes)


def _under(path: str, files: Iterable[str]) -> bool:
    return any(path == file or path.startswith(file.rstrip("/") + "/") for file in files)
