"""How near memories are to a question by their vectors; a turn by its vector mixed with those around it."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.retrieval.conversation import WORD_WEIGHTS, Conversation
from memhub_mcp.store.vectors import VectorMatch, Vectors


def nearness(
    vectors: Vectors, space: int, query: NDArray[np.float32], seqs: Iterable[int], talk: Conversation
) -> dict[int, VectorMatch]:
    """How near each of these memories is by its nearest key; a turn's text counts with those around it."""
    wanted = set(seqs)
    beside = {other for seq in wanted for _, other in talk.around(seq)}
    found = vectors.of(space, wanted | beside, query.size)
    first = {seq: vector for seq, key, vector in found if key == 0}
    best: dict[int, VectorMatch] = {}
    for seq, key, vector in found:
        if seq in wanted:
            if key == 0 and seq in talk.turns:
                vector = _mixed(seq, first, talk)
            cosine = float(np.vecdot(vector, query))
            if seq not in best or best[seq].cosine < cosine:
                best[seq] = VectorMatch(seq, key, min(cosine, 1.0))
    return best


def _mixed(seq: int, first: dict[int, NDArray[np.float32]], talk: Conversation) -> NDArray[np.float32]:
    mixed = first[seq].copy()
    for offset, other in talk.around(seq):
        if other in first:
            mixed += np.float32(WORD_WEIGHTS[offset]) * first[other]
    return (mixed / np.linalg.norm(mixed)).astype(np.float32)
