"""Which memories a person stands by, each in the version that was read."""

from collections.abc import Sequence
from datetime import datetime

from memhub_mcp.domain.memory import Confirmation, Memory
from memhub_mcp.store.connection import Database, Transaction
from memhub_mcp.store.values import from_micros, to_micros

_CONFIRM = "INSERT OR REPLACE INTO confirmation (memory, version, confirmed_by, confirmed_at) VALUES (?, ?, ?, ?)"
_HELD = """SELECT c.confirmed_by, c.confirmed_at FROM confirmation AS c JOIN memory AS m ON m.seq = c.memory
    WHERE m.seq = ? AND m.version = c.version"""
_WAIT = """FROM memory AS m WHERE m.tier = 'user' AND m.status = 'active'
    AND (m.valid_until IS NULL OR m.valid_until > ?)
    AND NOT EXISTS (SELECT 1 FROM confirmation AS c WHERE c.memory = m.seq AND c.version = m.version)"""
_WAITING = f"SELECT m.seq {_WAIT} ORDER BY m.generation DESC, m.seq DESC LIMIT ?"
_HOW_MANY_WAIT = f"SELECT count(*) {_WAIT}"


class Confirmations:
    """The confirmations of one store. A new version of a memory waits for one of its own."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def confirm(self, tx: Transaction, memories: Sequence[Memory], by: str, now: datetime) -> None:
        """A person stands by these memories as they are."""
        at = to_micros(now)
        tx.run_many(_CONFIRM, ((memory.seq, memory.version, by, at) for memory in memories))
        _ = tx.generation

    def of(self, memory: Memory) -> Confirmation | None:
        """Who confirmed a memory as it is now, and when; None while nobody did."""
        rows = self._db.read(_HELD, (memory.seq,))
        return Confirmation(by=rows[0][0], at=from_micros(rows[0][1])) if rows else None

    def waiting(self, now: datetime, limit: int) -> list[int]:
        """Rows of memories that follow the person and that nobody confirmed, newest first."""
        return [seq for (seq,) in self._db.read(_WAITING, (to_micros(now), limit))]

    def count_waiting(self, now: datetime) -> int:
        """How many of them there are."""
        return self._db.read(_HOW_MANY_WAIT, (to_micros(now),))[0][0]
