"""Cosines of different models on one scale, so that weights and bars mean the same for each.

The scale is that of the embedded model: about .1 for texts that have nothing to do with each other, .4 and more for a
question and its answer. Measured on the set that ships with memhub, best text of a question without an answer against
the answer of one that has it:

    all-MiniLM-L6-v2         English .36 to .47      against .38 to .80
    multilingual-e5-small    English .82 to .855     against .838 to .937
                             Chinese .85 to .876     against .868 to .947
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


@dataclass(frozen=True, slots=True)
class Scale:
    """closeness = slope · (cosine − zero), `unspaced` more for zero when the question is in such a script."""

    zero: float
    slope: float
    unspaced: float


SCALES: Mapping[str, Scale] = {"multilingual-e5-small": Scale(zero=0.742, slope=4.0, unspaced=0.03)}


def closeness(model: str, cosine: float, question: str) -> float:
    """`cosine` as the embedded model would have put it."""
    scale = SCALES.get(model)
    if scale is None:
        return cosine
    zero = scale.zero + (scale.unspaced if _UNSPACED.search(question) else 0.0)
    return min(max(scale.slope * (cosine - zero), 0.0), 1.0)
