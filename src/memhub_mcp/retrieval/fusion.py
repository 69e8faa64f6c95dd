"""Scores of different kinds become one.

Words count by their score over the best possible one, meaning by the raw cosine: both mean the same for every
question and store, so weights can be fixed and hits of several stores stand in one order. Rankings fused by
position alone do worse than words alone on dialogue, so they are only a choice.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from memhub_mcp.domain.hit import Evidence
from memhub_mcp.retrieval.forms import Form

Fusion = Literal["score", "rrf"]
"""How words and meaning become one order: by their scores, or by their ranks alone."""

K1 = 1.2
"""FTS5's own: a term counts at most k1 + 1 times its idf."""

RANK_CONSTANT = 60

LOOKUP_BOOST = 4.0
"""How much more words weigh in a question that is an identifier, a path or a flag."""

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much words, meaning and the closeness of tokens count for one form of text."""

    words: float
    meaning: float
    tokens: float


WEIGHTS: Mapping[Form, Weights] = {
    Form.DIALOGUE: Weights(0.7, 0.5, 2.0),
    Form.CODE: Weights(0.5, 2.5, 1.0),
    Form.TEXT: Weights(1.0, 1.0, 1.0),
    Form.DIFF: Weights(1.0, 1.0, 0.0),
}
"""Measured by scripts/tune_ranking."""


def idf(frequency: int, total: int) -> float:
    """How much a term says that stands in `frequency` of `total` texts. Positive, whatever the numbers."""
    return math.log(1.0 + (max(total, frequency) - frequency + 0.5) / (frequency + 0.5))


def fuse(words: float, cosine: float | None, tokens: float | None, form: Form, *, lookup: bool) -> float:
    """One score, 0 to 1, from the words' score over the best possible one, the cosine and the closeness of tokens.

    What was not compared is None: without tokens the cosine stands for them, without a cosine words stand alone.
    """
    if cosine is None:
        return words
    weights = WEIGHTS[form]
    by_words = weights.words * LOOKUP_BOOST if lookup else weights.words
    meaning = weights.meaning * max(cosine, 0.0) + weights.tokens * max(cosine if tokens is None else tokens, 0.0)
    return (by_words * words + meaning) / (by_words + weights.meaning + weights.tokens)


def rank_scores(found: Sequence[Evidence]) -> list[float]:
    """A score, 0 to 1, for each of these from its rank by words and its rank by meaning."""
    by_words = [at for at in _ranked(found, lambda one: one.words) if found[at].words > 0]
    by_meaning = [at for at in _ranked(found, lambda one: one.cosine or 0.0) if found[at].cosine is not None]
    fused = reciprocal_rank_fusion([by_words, by_meaning])
    best = 2 / (RANK_CONSTANT + 1)
    return [fused.get(at, 0.0) / best for at in range(len(found))]


def reciprocal_rank_fusion(rankings: Iterable[Sequence[Item]], k: int = RANK_CONSTANT) -> dict[Item, float]:
    """Items with their fused score, best first. score = sum over rankings of 1 / (k + rank), rank from 1.

    Source: Cormack, Clarke, Buettcher, "Reciprocal Rank Fusion", SIGIR 2009.
    """
    scores: dict[Item, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


def _ranked(found: Sequence[Evidence], worth: Callable[[Evidence], float]) -> list[int]:
    return sorted(range(len(found)), key=lambda at: -worth(found[at]))
