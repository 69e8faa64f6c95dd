"""Hits become a reply that fits: previews around what matched, near-identical hits as one, within a token budget.

What a memory says is quoted between fixed markers, escaped inside: evidence, never instructions.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from rapidfuzz import fuzz
from rapidfuzz.utils import default_process

from memhub_mcp.capture.markers import escape, fence
from memhub_mcp.domain.hit import CommitHit, Hit, MemoryHit
from memhub_mcp.domain.memory import Kind
from memhub_mcp.domain.replies import HitReply
from memhub_mcp.domain.scope import Tier
from memhub_mcp.retrieval.previews import preview
from memhub_mcp.retrieval.terms import index_terms

NEWEST_FIRST = "newest first"
"""Why a hit is there that nobody asked for."""

MAX_BUDGET_TOKENS = 8_000
PREVIEW_CHARACTERS = 300
FRAME_TOKENS = 160
"""Set aside for what a reply holds beside its hits: scope, mode, notes."""

SAME_RATIO = 92.0
_COMPARED = 2_000
_SLACK = 1.1
_SHOWN_WORDS = 6
_SUBJECT_CHARACTERS = 80
_SHORT_SHA = 12
_EDGES = ".,;:!?\"'`()[]{}<>"
_DENSE = re.compile(r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\U0001f000-\U0003ffff]")
_OTHER = re.compile(r"[^\x00-\x7f]")
_MARKS = re.compile(r"[!-/:-@\[-`{-~]")


@dataclass(frozen=True, slots=True)
class Packed:
    """Hits as a reply shows them, best first, what they cost, and what the asker should know."""

    hits: list[HitReply]
    tokens: int
    notes: tuple[str, ...] = ()


def pack(hits: Sequence[Hit], question: str, *, limit: int, budget_tokens: int) -> Packed:
    """At most `limit` of `hits` within the budget; the best one always, shortened when it has to be."""
    budget = min(budget_tokens, MAX_BUDGET_TOKENS) - FRAME_TOKENS
    shown: list[HitReply] = []
    spent = left_out = 0
    for hit, similar in _distinct(hits):
        if len(shown) == limit:
            break
        reply = _reply(hit, question, similar, PREVIEW_CHARACTERS)
        cost = estimate_tokens(json.dumps(reply, ensure_ascii=False, separators=(",", ":")))
        if shown and spent + cost > budget:
            left_out = min(limit, len(hits)) - len(shown)
            break
        if cost > budget:
            reply = _reply(hit, question, similar, PREVIEW_CHARACTERS // 3)
            cost = estimate_tokens(json.dumps(reply, ensure_ascii=False, separators=(",", ":")))
        shown.append(reply)
        spent += cost
    notes = (f"{left_out} more did not fit the budget; ask with a larger budget_tokens",) if left_out else ()
    return Packed(shown, spent, notes)


def estimate_tokens(text: str) -> int:
    """About how many tokens a model reads `text` as, a tenth on top: four letters, one ideograph, two marks a token."""
    dense = len(_DENSE.findall(text))
    other = len(_OTHER.findall(text)) - dense
    marks = len(_MARKS.findall(text))
    plain = len(text) - dense - other - marks
    return int(_SLACK * (plain / 4 + marks / 2 + other / 2 + dense)) + 1


def why(hit: Hit, question: str) -> str:
    """What speaks for a hit: the question's words in it, the closeness of its meaning, the link that led to it."""
    evidence = hit.evidence
    if evidence.linked_from:
        return f"linked with {evidence.linked_from}"
    reasons: list[str] = []
    if evidence.terms:
        words = dict.fromkeys(
            word.strip(_EDGES) for word in question.split() if evidence.terms & set(index_terms(word))
        )
        shown = list(words)[:_SHOWN_WORDS] or sorted(evidence.terms)[:_SHOWN_WORDS]
        reasons.append(f"words {round(100 * evidence.share)} % ({', '.join(word[:40] for word in shown)})")
    if evidence.cosine is not None:
        reasons.append(f"meaning {evidence.cosine:.2f}")
    if evidence.rerank is not None:
        reasons.append(f"rerank {evidence.rerank:.2f}")
    return "; ".join(reasons)


def _reply(hit: Hit, question: str, similar: int, characters: int) -> HitReply:
    room = characters - len(fence(""))
    quoted = fence(preview(escape(hit.text), hit.evidence.terms, room))
    reply = _memory_reply(hit, quoted) if isinstance(hit, MemoryHit) else _commit_reply(hit, quoted)
    reply["score"] = round(hit.score, 3)
    reply["why"] = why(hit, question) if question else NEWEST_FIRST
    if hit.workspace:
        reply["workspace"] = hit.workspace
    if similar:
        reply["similar"] = similar
    return reply


def _memory_reply(hit: MemoryHit, quoted: str) -> HitReply:
    memory = hit.memory
    reply = HitReply(
        id=memory.id,
        type="turn" if memory.kind is Kind.TURN else "memory",
        kind=memory.kind.value,
        preview=quoted,
        source=memory.source,
        at=moment(memory.updated_at),
        score=0.0,
        why="",
    )
    if memory.tier is not Tier.WORKSPACE:
        reply["tier"] = memory.tier.value
    if memory.subject:
        reply["subject"] = preview(escape(memory.subject), frozenset(), _SUBJECT_CHARACTERS)
    if memory.branch:
        reply["branch"] = memory.branch
    if memory.commit:
        reply["commit"] = memory.commit[:_SHORT_SHA]
    if hit.evidence.matched_key:
        reply["matched_key"] = preview(escape(hit.evidence.matched_key), frozenset(), _SUBJECT_CHARACTERS)
    return reply


def _commit_reply(hit: CommitHit, quoted: str) -> HitReply:
    commit = hit.commit
    short = commit.sha[:_SHORT_SHA]
    return HitReply(
        id=short,
        type="commit",
        kind="commit",
        preview=quoted,
        source="git",
        at=moment(commit.committed_at),
        commit=short,
        score=0.0,
        why="",
    )


def _distinct(hits: Sequence[Hit]) -> Iterator[tuple[Hit, int]]:
    """Each hit with the number of later ones that say the same; those are left out."""
    same: set[int] = set()
    for n, hit in enumerate(hits):
        if n in same:
            continue
        copies = [m for m in range(n + 1, len(hits)) if m not in same and _say_the_same(hit, hits[m])]
        same.update(copies)
        yield hit, len(copies)


def _say_the_same(one: Hit, other: Hit) -> bool:
    """Whether two memories differ in spelling only: not in a number, a name or the words that carry the meaning."""
    if not (isinstance(one, MemoryHit) and isinstance(other, MemoryHit)):
        return False
    first, second = one.text[:_COMPARED], other.text[:_COMPARED]
    if fuzz.ratio(first, second, processor=default_process, score_cutoff=SAME_RATIO) == 0.0:
        return False
    differing = _terms(first) ^ _terms(second)
    return len(differing) <= 2 and not any(any(c.isdigit() for c in term) for term in differing)


@lru_cache(maxsize=256)  # a reply compares each of its texts with many others
def _terms(text: str) -> frozenset[str]:
    return frozenset(index_terms(text))


def moment(value: datetime) -> str:
    """A moment as replies write it: UTC, to the second."""
    return value.strftime("%Y-%m-%dT%H:%M:%SZ")
