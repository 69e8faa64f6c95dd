"""Rows of tokens become arrays, and arrays become unit vectors."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

TOKENS_PER_RUN = 1_024
"""Padding included. Bounds the memory of a run and how long a question waits behind it; more is not faster."""


def batches(lengths: Sequence[int], *, tokens_per_run: int = TOKENS_PER_RUN) -> Iterator[list[int]]:
    """Positions of texts that run together: similar lengths, so that padding costs little; each position once."""
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[position] > tokens_per_run:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


def padded(rows: Sequence[Sequence[int]], *, pad: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Token ids and attention mask of one batch, shape (len(rows), longest row)."""
    width = max(len(row) for row in rows)
    ids = np.full((len(rows), width), pad, dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
        mask[place, : len(row)] = 1
    return ids, mask


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same directions with length 1; a zero vector stays zero."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.maximum(norms, 1e-12)).astype(np.float32, copy=False)
