"""Sign bits of all vectors of one space in memory: 48 bytes for 384 dimensions, scanned in a millisecond."""

import threading

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.store.connection import Database

_NEW = "SELECT id, bits FROM vector WHERE space = ? AND id > ? AND length(bits) = ? ORDER BY id"
_LIVE = "SELECT count(*) FROM vector WHERE space = ?"
_CHECK_EVERY = 100  # generations; counting 100,000 vectors takes 4 ms
_DEAD_SHARE = 0.02  # removed vectors only take a candidate's place; above this share the matrix is made anew


def sign_bits(vector: NDArray[np.float32]) -> bytes:
    """One bit a dimension: whether it is positive."""
    return np.packbits(vector > 0).tobytes()


class BitMatrix:
    """The bits of one space, kept up to date by reading only what is new. Every thread may use it."""

    def __init__(self, db: Database, space: int, width_bytes: int) -> None:
        self._db = db
        self._space = space
        self._width = width_bytes
        self._words = -(-width_bytes // 8)
        self._lock = threading.Lock()
        self._generation = -_CHECK_EVERY
        self._empty()

    def nearest(self, bits: bytes) -> NDArray[np.int64]:
        """All vector ids by growing Hamming distance, then by id."""
        ids, columns = self._current()
        distances = np.zeros(len(ids), np.uint16)
        for column, word in zip(columns, self._as_words([bits])[:, 0], strict=True):
            distances += np.bitwise_count(column ^ word)
        return ids[np.argsort(distances, kind="stable")]

    def _empty(self) -> None:
        self._count = 0
        self._ids = np.zeros(0, np.int64)
        self._columns = np.zeros((self._words, 0), np.uint64)

    def _current(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Ids and bits as of now. Later growth does not touch the rows these views show."""
        with self._lock:
            generation = self._db.generation
            if not 0 <= generation - self._generation < _CHECK_EVERY:
                live = self._db.read(_LIVE, (self._space,))[0][0]
                if self._count - live > _DEAD_SHARE * self._count:
                    self._empty()
                self._generation = generation
            last = int(self._ids[self._count - 1]) if self._count else 0
            new = self._db.read(_NEW, (self._space, last, self._width))
            if new:
                self._append(np.array([row[0] for row in new], np.int64), self._as_words([row[1] for row in new]))
            return self._ids[: self._count], self._columns[:, : self._count]

    def _append(self, ids: NDArray[np.int64], columns: NDArray[np.uint64]) -> None:
        end = self._count + len(ids)
        if end > len(self._ids):
            spare = np.zeros(end // 8, np.int64)
            self._ids = np.concatenate((self._ids[: self._count], ids, spare))
            room = np.zeros((self._words, len(spare)), np.uint64)
            self._columns = np.concatenate((self._columns[:, : self._count], columns, room), axis=1)
        else:
            self._ids[self._count : end] = ids
            self._columns[:, self._count : end] = columns
        self._count = end

    def _as_words(self, bits: list[bytes]) -> NDArray[np.uint64]:
        """Shape (words, vectors): one contiguous column a word."""
        rows = np.zeros((len(bits), self._words * 8), np.uint8)
        rows[:, : self._width] = np.frombuffer(b"".join(bits), np.uint8).reshape(len(bits), self._width)
        return np.ascontiguousarray(rows.view(np.uint64).T)
