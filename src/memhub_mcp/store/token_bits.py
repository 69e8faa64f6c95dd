"""The tokens of memories as sign bits, for a second look at the candidates of a question."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.store.connection import Database, Transaction
from memhub_mcp.store.values import to_json

_PUT = "INSERT OR REPLACE INTO token_bits (space, memory, bits) SELECT ?, seq, ? FROM memory WHERE seq = ?"
_OF = """SELECT memory, bits FROM token_bits
    WHERE space = ? AND length(bits) % ? = 0 AND memory IN (SELECT value FROM json_each(?))"""


class TokenBits:
    """One bit a dimension, so a token costs 48 bytes where its vector would cost 1,536."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, tx: Transaction, seq: int, space: int, vectors: NDArray[np.float32]) -> None:
        """Keep the signs of a memory's token vectors, shape (tokens, dimension). None is kept of an erased memory."""
        tx.run(_PUT, (space, np.packbits(vectors > 0, axis=1).tobytes(), seq))

    def of(self, space: int, seqs: Iterable[int], dimension: int) -> dict[int, NDArray[np.uint8]]:
        """The packed bits of these memories, shape (tokens, dimension / 8)."""
        width = (dimension + 7) // 8
        rows = self._db.read(_OF, (space, width, to_json(seqs)))
        return {seq: np.frombuffer(bits, np.uint8).reshape(-1, width) for seq, bits in rows if bits}
