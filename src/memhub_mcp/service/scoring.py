"""How right a ranking is: the usual measures against the documents that answer, and how sure they are."""

import math
import random
from collections.abc import Callable, Mapping, Sequence

METRICS = ("recall@1", "recall@5", "recall@10", "all@5", "mrr", "ndcg@10")
RESAMPLES = 1_000


def measure(ranked: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    """The metrics of one question. recall@k: the share of `gold` in the first k; mrr: 1 / rank of the first."""
    right = set(gold)
    order = list(dict.fromkeys(ranked))
    found = {k: sum(doc in right for doc in order[:k]) for k in (1, 5, 10)}
    first = next((rank for rank, doc in enumerate(order, 1) if doc in right), None)
    gain = sum(1 / math.log2(rank + 1) for rank, doc in enumerate(order[:10], 1) if doc in right)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(10, len(right)) + 1))
    return {
        "recall@1": found[1] / len(right),
        "recall@5": found[5] / len(right),
        "recall@10": found[10] / len(right),
        "all@5": float(found[5] == len(right)),
        "mrr": 1 / first if first else 0.0,
        "ndcg@10": gain / ideal,
    }


def summary(measured: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each metric over questions."""
    return {name: _mean([one[name] for one in measured]) for name in METRICS} if measured else {}


def interval(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """Where the mean lies with 95 % confidence, by resampling."""
    rng = random.Random(seed)
    means = sorted(_mean(rng.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)]


def intervals(measured: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, float]]:
    """The 95 % interval of each metric's mean."""
    return {name: interval([one[name] for one in measured]) for name in METRICS} if measured else {}


def compare(
    mine: Mapping[str, Mapping[str, float]], baseline: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """For each metric the mean difference over the questions that both runs answered, with its 95 % interval."""
    shared = sorted(mine.keys() & baseline.keys())
    if not shared:
        return {}
    differences: Callable[[str], list[float]] = lambda name: [mine[q][name] - baseline[q][name] for q in shared]  # noqa: E731
    compared: dict[str, dict[str, float]] = {}
    for name in METRICS:
        low, high = interval(differences(name))
        compared[name] = {"difference": _mean(differences(name)), "low": low, "high": high}
    return compared


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of `values` lie."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
