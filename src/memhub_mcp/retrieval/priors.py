"""What speaks for a memory whatever the question is: recency, the branch, what people said of it.

A prior scales the score of a hit that is relevant already; it never makes one relevant.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memhub_mcp.domain.hit import Hit, MemoryHit
from memhub_mcp.domain.memory import Kind, Memory

FRESH = 0.08
"""How much more a memory of this moment counts than a very old one."""

HALF_LIFE_DAYS = 45.0
"""Of being idle: without a change and without being recalled."""

OWN_BRANCH = 0.05
USEFUL = 0.05
DOUBTED = 0.25

FEW_WORDS = 3
_WHOLE = 0.95


def prior(memory: Memory, now: datetime, branch: str | None) -> float:
    """The factor for `memory`, about 1. Turns keep theirs: a conversation is not outdated by going on."""
    factor = 1.0
    if memory.kind is not Kind.TURN:
        seen = max(memory.updated_at, memory.last_used_at or memory.updated_at)
        idle_days = max((now - seen).total_seconds(), 0.0) / 86_400
        factor += FRESH * 0.5 ** (idle_days / HALF_LIFE_DAYS)
    if branch is not None and memory.branch == branch:
        factor += OWN_BRANCH
    factor += USEFUL * min(memory.useful, 3)
    return factor * (1.0 - DOUBTED) ** min(memory.wrong + memory.outdated, 4)


def latest_first(hits: Sequence[Hit]) -> list[Hit]:
    """`hits` with those that hold the whole of a question of few words in the order of their days, latest first.

    "which database" is answered by what was said in June and by what replaced it in July: no word tells them apart.
    """
    equal = [
        hit
        for hit in hits
        if isinstance(hit, MemoryHit)
        and hit.evidence.share >= _WHOLE
        and hit.memory.kind is not Kind.TURN
        and not hit.memory.wrong + hit.memory.outdated
    ]
    by_day = sorted(equal, key=lambda hit: (-hit.memory.updated_at.toordinal(), -hit.score))
    scores = sorted((hit.score for hit in equal), reverse=True)
    ordered = {hit.id: replace(hit, score=score) for hit, score in zip(by_day, scores, strict=True)}
    return [ordered.get(hit.id, hit) for hit in hits]
