"""Late interaction: each token of the question finds its nearest token in a memory (MaxSim).

It tells apart what one vector for a whole text blurs, and needs no model but the embedder. It is not a cross-encoder.
Source of the idea: Khattab, Zaharia, "ColBERT", SIGIR 2020; here the stored side is one sign bit a dimension.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.models.protocols import TokenVectors
from memhub_mcp.retrieval.conversation import TOKEN_WEIGHTS, Conversation
from memhub_mcp.retrieval.forms import Form
from memhub_mcp.retrieval.terms import STOP_WORDS, index_terms
from memhub_mcp.store.token_bits import TokenBits

KEPT_TOKENS = 24
"""The first content tokens of a text are kept, 1,152 bytes; for functions they do better than all."""

UNKNOWN = 3.0
"""What a token weighs whose word was not searched for, such as a speaker's name."""


def kept_tokens(tokens: TokenVectors, form: Form) -> NDArray[np.float32] | None:
    """The token vectors worth keeping of a text; none of a diff, whose tokens mislead."""
    if form is Form.DIFF or not tokens.words:
        return None
    return tokens.without(STOP_WORDS).vectors[:KEPT_TOKENS]


def late_scores(
    tokens: TokenVectors,
    idf: Mapping[str, float],
    stored: TokenBits,
    space: int,
    seqs: Iterable[int],
    talk: Conversation,
) -> dict[int, float]:
    """For each memory with tokens: the mean over the question's tokens, by idf, of the best closeness in it.

    A turn's neighbours lend their tokens at a discount.
    """
    wanted = list(seqs)
    if not tokens.words:
        return {}
    bits = stored.of(
        space, {*wanted, *(other for seq in wanted for _, other in talk.around(seq))}, tokens.vectors.shape[1]
    )
    if not bits:
        return {}
    best = _best(tokens.vectors, bits)
    weights = np.array([_weight(word, idf) for word in tokens.words], np.float32)
    weights /= weights.sum()
    scores: dict[int, float] = {}
    for seq in wanted:
        if seq in best:
            near = best[seq]
            for offset, other in talk.around(seq):
                if other in best:
                    near = np.maximum(near, np.float32(TOKEN_WEIGHTS[offset]) * best[other])
            scores[seq] = float(np.vecdot(near, weights))
    return scores


def _best(query: NDArray[np.float32], bits: Mapping[int, NDArray[np.uint8]]) -> dict[int, NDArray[np.float32]]:
    """For each memory, each question token's best closeness: its vector against signs of unit length."""
    dimension = query.shape[1]
    ones = np.unpackbits(np.concatenate(list(bits.values())), axis=1, count=dimension).astype(np.float32)
    # A sign is 2 · bit − 1. vecdot, not @: BLAS wakes its threads for this and may wait milliseconds for them.
    close = (2 * np.vecdot(ones[:, None], query[None]) - query.sum(axis=1)) / np.float32(np.sqrt(dimension))
    starts = np.cumsum([0, *(len(tokens) for tokens in bits.values())][:-1])
    return dict(zip(bits, np.maximum.reduceat(close, starts, axis=0), strict=True))


def _weight(word: str, idf: Mapping[str, float]) -> float:
    return max((idf.get(term, UNKNOWN) for term in index_terms(word)), default=1.0)
