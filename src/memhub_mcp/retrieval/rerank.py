"""The cross-encoder's second look at the best hits, where one is installed."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memhub_mcp.domain.hit import Hit
from memhub_mcp.errors import ModelError
from memhub_mcp.models.load import RerankerDoor

CANDIDATES = 10
CHARACTERS = 1_000
DEADLINE_S = 2.0
_BATCH = 2


@dataclass(frozen=True, slots=True)
class Reranked:
    """Hits in their new order, and whether the cross-encoder took part."""

    hits: list[Hit]
    state: Literal["on", "loading", "off"]
    why: str | None = None


def rerank(door: RerankerDoor, question: str, hits: Sequence[Hit]) -> Reranked:
    """`hits`, best first; the first ten reordered by the mean of their score and the cross-encoder's.

    What is not scored before the deadline keeps the order it had.
    """
    reranker = door.get()
    if reranker is None:
        return Reranked(list(hits), "loading" if door.state() == "loading" else "off", door.why())
    ordered = list(hits)
    deadline = time.monotonic() + DEADLINE_S
    scored = 0
    try:
        while scored < min(CANDIDATES, len(ordered)) and time.monotonic() < deadline:
            batch = ordered[scored : scored + _BATCH]
            scores = reranker.score(question, [hit.text[:CHARACTERS] for hit in batch])
            ordered[scored : scored + _BATCH] = [
                replace(hit, evidence=replace(hit.evidence, rerank=float(score)))
                for hit, score in zip(batch, scores, strict=True)
            ]
            scored += len(batch)
    except ModelError as error:
        return Reranked(list(hits), "off", str(error))
    return Reranked(_reordered(ordered, scored), "on")


def _reordered(hits: list[Hit], scored: int) -> list[Hit]:
    """The scored hits share out the scores they had among them, in their new order."""
    known = [hit.score for hit in hits[:scored]]
    best = sorted(hits[:scored], key=lambda hit: -(hit.score + (hit.evidence.rerank or 0.0)))
    return [replace(hit, score=score) for hit, score in zip(best, known, strict=True)] + hits[scored:]
