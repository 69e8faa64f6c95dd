"""Conversations and their turns."""

import secrets
from collections.abc import Iterable
from datetime import datetime

from memhub_mcp.domain.session import Session, Turn
from memhub_mcp.store.connection import Database, Reader, Row, Transaction
from memhub_mcp.store.values import from_micros, to_json, to_micros

_COLUMNS = "id, source, host_session, started_at, branch, head"
_FIND = f"SELECT {_COLUMNS} FROM session WHERE source = ? AND host_session = ?"
_GET = f"SELECT {_COLUMNS} FROM session WHERE id = ?"
_ALL = f"SELECT {_COLUMNS} FROM session ORDER BY seq"
_ADD = "INSERT INTO session (id, source, host_session, started_at, branch, head) VALUES (?, ?, ?, ?, ?, ?)"
_FACT = "SELECT fact FROM session WHERE id = ?"
_IS_DRAFTED = "SELECT 1 FROM session WHERE id = ? AND fact_drafted"
_SET_FACT = "UPDATE session SET fact = ?, fact_drafted = ? WHERE id = ?"

_TURN_COLUMNS = "memory, session, position, speaker, caption, time"
_ADD_TURN = f"INSERT OR IGNORE INTO turn ({_TURN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
_TURNS = f"SELECT {_TURN_COLUMNS} FROM turn WHERE session = ? ORDER BY position"
_TURNS_OF = f"SELECT {_TURN_COLUMNS} FROM turn WHERE memory IN (SELECT value FROM json_each(?))"
_AROUND = """SELECT DISTINCT t.memory, t.session, t.position, t.speaker, t.caption, t.time
    FROM turn AS near JOIN turn AS t
    ON t.session = near.session AND t.position BETWEEN near.position - ?2 AND near.position + ?2
    WHERE near.memory IN (SELECT value FROM json_each(?1))"""
_SPEAKERS = """SELECT DISTINCT speaker FROM turn
    WHERE speaker COLLATE NOCASE IN (SELECT value FROM json_each(?))"""


class Sessions:
    """The sessions of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def ensure(
        self,
        tx: Transaction,
        source: str,
        host_session: str | None,
        now: datetime,
        branch: str | None,
        head: str | None,
    ) -> Session:
        """The session a host calls `host_session`, begun now when it is new. Without a name it is always new."""
        rows = tx.read(_FIND, (source, host_session))
        if rows:
            return _session(rows[0])
        row = (f"s_{secrets.token_hex(6)}", source, host_session, to_micros(now), branch, head)
        tx.run(_ADD, row)
        return _session(row)

    def find(self, source: str, host_session: str) -> Session | None:
        """The session a host calls `host_session`, if it is known."""
        rows = self._db.read(_FIND, (source, host_session))
        return _session(rows[0]) if rows else None

    def get(self, id: str) -> Session | None:
        """One session by our id."""
        rows = self._db.read(_GET, (id,))
        return _session(rows[0]) if rows else None

    def all(self) -> list[Session]:
        """Every session, in the order they were first seen."""
        return [_session(row) for row in self._db.read(_ALL)]

    def add_turn(self, tx: Transaction, turn: Turn) -> bool:
        """Place a turn memory in its session; False when that position is taken (a replay)."""
        tx.run(_ADD_TURN, (turn.memory, turn.session, turn.position, turn.speaker, turn.caption, to_micros(turn.time)))
        return tx.changes > 0

    def turns(self, session: str) -> list[Turn]:
        """What was said, in order."""
        return [_turn(row) for row in self._db.read(_TURNS, (session,))]

    def turns_of(self, seqs: Iterable[int]) -> dict[int, Turn]:
        """The turns among these memories, by row."""
        return {row[0]: _turn(row) for row in self._db.read(_TURNS_OF, (to_json(seqs),))}

    def around(self, seqs: Iterable[int], reach: int) -> list[Turn]:
        """The turns among these memories and those said up to `reach` turns before or after them."""
        return [_turn(row) for row in self._db.read(_AROUND, (to_json(seqs), reach))]

    def speakers(self, words: Iterable[str]) -> list[str]:
        """The speakers whose name is one of `words`, whatever its case."""
        return [speaker for (speaker,) in self._db.read(_SPEAKERS, (to_json(words),))]

    def fact(self, reader: Reader, session: str) -> int | None:
        """The row of the one fact of a session."""
        rows = reader.read(_FACT, (session,))
        return rows[0][0] if rows else None

    def is_fact_drafted(self, reader: Reader, session: str) -> bool:
        """Whether the fact of a session was drawn from what was captured, rather than told by an assistant."""
        return bool(reader.read(_IS_DRAFTED, (session,)))

    def set_fact(self, tx: Transaction, session: str, seq: int, *, drafted: bool = False) -> None:
        """Make a memory the one fact of a session."""
        tx.run(_SET_FACT, (seq, drafted, session))


def _session(row: Row) -> Session:
    id_, source, host_session, started_at, branch, head = row
    return Session(
        id=id_,
        source=source,
        host_session=host_session,
        started_at=from_micros(started_at),
        branch=branch,
        head=head,
    )


def _turn(row: Row) -> Turn:
    memory, session, position, speaker, caption, time = row
    return Turn(
        memory=memory,
        session=session,
        position=position,
        speaker=speaker,
        caption=caption,
        time=from_micros(time),
    )
