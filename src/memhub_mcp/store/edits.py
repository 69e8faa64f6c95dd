"""Edits that hooks and transcripts reported, each one change to one file."""

import contextlib
import json
from collections.abc import Iterable, Iterator

from memhub_mcp.domain.revision import ChangeKind, Edit, EditEvent
from memhub_mcp.store.connection import Database, Row, Transaction
from memhub_mcp.store.packing import pack_hunks, pack_text, unpack_hunks, unpack_text
from memhub_mcp.store.values import from_micros, marks, storable, to_json, to_micros

_COLUMNS = """id, source, session, host_session, tool, tool_call, turn, ordinal, branch, head, kind, path, old_path,
    said, hash_after, hunks, body, time, generation"""
_ADD = f"INSERT INTO edit (identity, {_COLUMNS}) VALUES ({marks(20)})"
_SELECT = f"SELECT {_COLUMNS} FROM edit"
_IS_KNOWN = "SELECT 1 FROM edit WHERE identity = ?1 UNION ALL SELECT 1 FROM tombstone WHERE content_key = ?1"
_BY_PATH = f"{_SELECT} WHERE path = ? ORDER BY seq DESC LIMIT ?"
_OF_SESSION = f"{_SELECT} WHERE session = ? ORDER BY seq LIMIT ?"
_PAGE = f"SELECT seq, {_COLUMNS} FROM edit WHERE seq > ? ORDER BY seq LIMIT 50"
_ALL = f"{_SELECT} ORDER BY seq"
_STALE = "SELECT seq FROM edit WHERE redaction < ? ORDER BY seq DESC LIMIT ?"
_BY_SEQS = f"SELECT seq, {_COLUMNS} FROM edit WHERE seq IN (SELECT value FROM json_each(?))"
_REPLACE = "UPDATE edit SET said = ?, body = ? WHERE seq = ?"
_MARK = "UPDATE edit SET redaction = ? WHERE seq IN (SELECT value FROM json_each(?))"
_GET = f"{_SELECT} WHERE id = ?"
_BURY = """INSERT OR IGNORE INTO tombstone (content_key)
    SELECT identity FROM edit WHERE id IN (SELECT value FROM json_each(?))"""
_ERASE = "DELETE FROM edit WHERE id IN (SELECT value FROM json_each(?))"
_ERASE_REQUESTS = """UPDATE edit SET said = NULL WHERE session IN
    (SELECT id FROM session WHERE fact IN (SELECT value FROM json_each(?)))"""


class Edits:
    """The edits of one store, in the order they were drained."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(
        self,
        tx: Transaction,
        event: EditEvent,
        *,
        id: str,
        identity: bytes,
        branch: str | None,
        head: str | None,
        session: str | None,
    ) -> bool:
        """Keep an edit; False when one of this identity is there or was erased. `session` is our id of its session."""
        if tx.read(_IS_KNOWN, (identity,)):
            return False
        tx.run(
            _ADD,
            (
                identity,
                id,
                event.source,
                session,
                event.session,
                event.tool,
                event.tool_call,
                event.turn,
                event.ordinal,
                branch,
                head,
                event.kind,
                storable(event.path),
                None if event.old_path is None else storable(event.old_path),
                event.said,
                event.hash_after,
                pack_hunks(event.hunks),
                _body(event),
                to_micros(event.time),
                tx.generation,
            ),
        )
        return True

    def get(self, id: str) -> Edit | None:
        """One edit by its id."""
        return next(iter(_understood(self._db.read(_GET, (id,)))), None)

    def by_path(self, path: str, limit: int) -> list[Edit]:
        """The latest edits of `path`, newest first. A row that cannot be understood is left out."""
        return _understood(self._db.read(_BY_PATH, (storable(path), limit)))

    def of_session(self, session: str, limit: int) -> list[Edit]:
        """The first edits of a session, by our id of it. A row that cannot be understood is left out."""
        return _understood(self._db.read(_OF_SESSION, (session, limit)))

    def is_known(self, identity: bytes) -> bool:
        """Whether an edit of this identity is kept, or was erased."""
        return bool(self._db.read(_IS_KNOWN, (identity,)))

    def walk(self) -> Iterator[Edit]:
        """Every edit in the order they were drained, without holding all at once."""
        last = 0
        while rows := self._db.read(_PAGE, (last,)):
            for row in rows:
                with contextlib.suppress(ValueError, KeyError):
                    yield _edit(row[1:])
            last = rows[-1][0]

    def stale(self, redaction: int, limit: int) -> list[int]:
        """The rows of edits that were not redacted by the rules of this version, latest first."""
        return [seq for (seq,) in self._db.read(_STALE, (redaction, limit))]

    def by_seqs(self, seqs: Iterable[int]) -> dict[int, Edit]:
        """The edits at these rows, by row. A row that cannot be understood is left out."""
        found: dict[int, Edit] = {}
        for seq, *row in self._db.read(_BY_SEQS, (to_json(seqs),)):
            with contextlib.suppress(ValueError, KeyError):
                found[seq] = _edit(tuple(row))
        return found

    def replace(self, tx: Transaction, seq: int, event: EditEvent) -> None:
        """Let the row have the texts of `event`."""
        tx.run(_REPLACE, (event.said, _body(event), seq))

    def mark(self, tx: Transaction, seqs: Iterable[int], redaction: int) -> None:
        """Note that these were redacted by the rules of this version."""
        tx.run(_MARK, (redaction, to_json(seqs)))

    def erase(self, tx: Transaction, ids: Iterable[str]) -> None:
        """Remove edits, and keep a replay from bringing them back. `Store.compact` afterwards clears the files."""
        given = to_json(ids)
        tx.run(_BURY, (given,))
        tx.run(_ERASE, (given,))
        _ = tx.generation

    def erase_requests(self, tx: Transaction, facts: Iterable[int]) -> int:
        """Remove what was asked for in the sessions whose one fact is at one of these rows; from how many edits."""
        tx.run(_ERASE_REQUESTS, (to_json(facts),))
        return tx.changes


def _understood(rows: Iterable[Row]) -> list[Edit]:
    found: list[Edit] = []
    for row in rows:
        with contextlib.suppress(ValueError, KeyError):  # `doctor` lists it, see Store.damaged_rows
            found.append(_edit(row))
    return found


def faults(db: Database) -> list[str]:
    """One line for each edit that cannot be understood."""
    found: list[str] = []
    for row in db.read(_ALL):
        try:
            _edit(row)
        except (ValueError, KeyError) as error:
            found.append(f"edit {row[0]} of {row[11]}: {error}")
    return found


def _body(event: EditEvent) -> bytes:
    texts = {
        "cwd": None if event.cwd is None else storable(event.cwd),
        "old_text": event.old_text,
        "new_text": event.new_text,
        "content_after": event.content_after,
        "everywhere": event.everywhere,
    }
    return pack_text(json.dumps(texts))


def _edit(row: Row) -> Edit:
    id_, source, session, host_session, tool, tool_call, turn, ordinal, branch, head = row[:10]
    kind, path, old_path, said, hash_after, hunks, body, time, generation = row[10:]
    texts = json.loads(unpack_text(body))
    event = EditEvent(
        tool=tool,
        path=path,
        source=source,
        session=host_session,
        tool_call=tool_call,
        time=from_micros(time),
        kind=ChangeKind(kind),
        hunks=unpack_hunks(hunks),
        ordinal=ordinal,
        turn=turn,
        cwd=texts["cwd"],
        old_text=texts["old_text"],
        new_text=texts["new_text"],
        content_after=texts["content_after"],
        hash_after=hash_after,
        old_path=old_path,
        said=said,
        everywhere=texts.get("everywhere", False),
    )
    return Edit(id=id_, event=event, session=session, branch=branch, head=head, generation=generation)
