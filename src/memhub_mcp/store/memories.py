"""Memories, their versions, links and judgements."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from memhub_mcp.domain.memory import Draft, Feedback, Filter, Kind, Link, Memory, MemoryVersion, Status
from memhub_mcp.domain.scope import Tier
from memhub_mcp.store.connection import Database, Reader, Row, Transaction
from memhub_mcp.store.filtering import conditions
from memhub_mcp.store.values import (
    folder_path,
    from_micros,
    marks,
    maybe_micros,
    maybe_moment,
    storable,
    texts,
    to_json,
    to_micros,
)

_PAGE = 500
_COLUMNS = """m.seq, m.id, m.version, m.kind, m.tier, m.status, m.text, m.subject, m.branch, m.anchor, m.commit_sha,
    m.sources, m.session, m.origin_workspace, m.files, m.symbols, m.search_keys, m.solution, m.environment,
    m.created_at, m.updated_at, m.valid_until, m.last_used_at, m.generation, m.useful, m.wrong, m.outdated,
    m.origin_id"""
_SELECT = f"SELECT {_COLUMNS} FROM memory AS m"
_BY_IDS = f"{_SELECT} WHERE m.id IN (SELECT value FROM json_each(?))"
_BY_SEQS = f"{_SELECT} WHERE m.seq IN (SELECT value FROM json_each(?))"
_EQUAL = f"""{_SELECT} WHERE m.content_key = ? AND m.tier = ? AND (m.tier <> 'branch' OR m.branch IS ?)
    ORDER BY m.status <> 'active', m.seq DESC"""
_SUBJECT = f"""{_SELECT} WHERE m.subject_key = ? AND m.tier = ? AND (m.tier <> 'branch' OR m.branch IS ?)
    AND m.status = 'active' ORDER BY m.seq DESC"""

_ADD = f"""INSERT INTO memory (id, kind, tier, text, content_key, subject, subject_key, anchor, branch, commit_sha,
    sources, source, session, origin_workspace, files, symbols, search_keys, solution, environment,
    created_at, updated_at, valid_until, generation, redaction, terms, origin_id)
    VALUES ({marks(26)})"""
_ADD_VERSION = "INSERT INTO memory_version (memory, version, text, source, created_at) VALUES (?, ?, ?, ?, ?)"
_ADD_FILE = "INSERT OR IGNORE INTO memory_file (path, memory) VALUES (?, ?)"
_SOURCES = "SELECT sources FROM memory WHERE seq = ?"
_SET_SOURCES = "UPDATE memory SET sources = ?, source = ? WHERE seq = ?"
_SET_TEXT = """UPDATE memory SET version = ?, text = ?, content_key = ?, updated_at = ?, generation = ?, redaction = ?,
    terms = ?, wrong = 0, outdated = 0 WHERE seq = ?"""
_MOVE_ORIGIN = "UPDATE memory SET origin_workspace = ?, origin_id = ? WHERE origin_id = ?"
_SET_SUBJECT = "UPDATE memory SET subject = ?, subject_key = ?, updated_at = ?, generation = ? WHERE seq = ?"
_SET_STATUS = "UPDATE memory SET status = ?, updated_at = ?, generation = ? WHERE seq = ?"
_MARK_USED = "UPDATE memory SET last_used_at = ? WHERE seq IN (SELECT value FROM json_each(?))"
_VERSIONS = "SELECT version, text, source, created_at FROM memory_version WHERE memory = ? ORDER BY version"

_LINK = "INSERT OR IGNORE INTO link (from_memory, to_memory, relation) VALUES (?, ?, ?)"
_LINKS = """
    SELECT l.relation, 'out', m.id FROM link AS l JOIN memory AS m ON m.seq = l.to_memory WHERE l.from_memory = ?1
    UNION ALL
    SELECT l.relation, 'in', m.id FROM link AS l JOIN memory AS m ON m.seq = l.from_memory WHERE l.to_memory = ?1"""
_NEIGHBOURS = """WITH given AS (SELECT value AS seq FROM json_each(?1))
    SELECT from_memory, to_memory, relation FROM link
        WHERE from_memory IN given AND to_memory NOT IN given
    UNION ALL
    SELECT from_memory, to_memory, relation FROM link
        WHERE to_memory IN given AND from_memory NOT IN given
    LIMIT ?2"""

_ERASE = "DELETE FROM memory WHERE seq IN (SELECT value FROM json_each(?))"
_ERASE_WORDS = "DELETE FROM words WHERE rowid IN (SELECT value FROM json_each(?))"
_TOMBSTONE = "INSERT OR IGNORE INTO tombstone (content_key) VALUES (?)"
_IS_TOMBSTONED = "SELECT 1 FROM tombstone WHERE content_key = ?"


class Memories:
    """The memories of one store. A row that cannot be understood is skipped by every reader."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(
        self,
        tx: Transaction,
        draft: Draft,
        *,
        id: str,
        tier: Tier,
        branch: str | None,
        anchor: int | None,
        commit: str | None,
        source: str,
        session: str | None,
        origin_workspace: str | None,
        content_key: bytes,
        subject_key: str | None,
        now: datetime,
        redaction: int,
        terms: int = 0,
        origin_id: str | None = None,
    ) -> Memory:
        """The memory that `draft` became: its row, its first version, its files.

        `redaction` and `terms` are the versions of the rules its text and its words were made by; 0 is not known.
        """
        at = to_micros(now)
        files = tuple(folder_path(path) for path in draft.files)
        tx.run(
            _ADD,
            (
                id,
                draft.kind,
                tier,
                draft.text,
                content_key,
                draft.subject,
                subject_key,
                anchor,
                branch,
                commit,
                to_json((source,)),
                source,
                session,
                origin_workspace,
                to_json(files),
                to_json(storable(symbol) for symbol in draft.symbols),
                to_json(draft.search_keys),
                draft.solution,
                draft.environment,
                at,
                at,
                maybe_micros(draft.valid_until),
                tx.generation,
                redaction,
                terms,
                origin_id,
            ),
        )
        seq = tx.last_id
        tx.run(_ADD_VERSION, (seq, 1, draft.text, source, at))
        tx.run_many(_ADD_FILE, ((path, seq) for path in files))
        return self.by_seqs((seq,), reader=tx)[seq]

    def get(self, id: str, *, reader: Reader | None = None) -> Memory | None:
        """One memory by its id."""
        return self.get_many((id,), reader=reader).get(id)

    def get_many(self, ids: Iterable[str], *, reader: Reader | None = None) -> dict[str, Memory]:
        """The memories among `ids` that exist, by id."""
        return {found.id: found for found in _understood((reader or self._db).read(_BY_IDS, (to_json(ids),)))}

    def by_seqs(self, seqs: Iterable[int], *, reader: Reader | None = None) -> dict[int, Memory]:
        """The memories at these rows, by row."""
        return {found.seq: found for found in _understood((reader or self._db).read(_BY_SEQS, (to_json(seqs),)))}

    def visible(self, seqs: Iterable[int], filter: Filter) -> dict[int, Memory]:
        """The memories at these rows that the filter lets through, by row."""
        condition, params = conditions(filter)
        rows = self._db.read(f"{_BY_SEQS} AND {condition}", (to_json(seqs), *params))
        return {found.seq: found for found in _understood(rows)}

    def find_equal(
        self, content_key: bytes, tier: Tier, branch: str | None, *, reader: Reader | None = None
    ) -> Memory | None:
        """The memory with this normalised content in this tier (and branch, for branch memories), active first."""
        found = _understood((reader or self._db).read(_EQUAL, (content_key, tier, branch)))
        return found[0] if found else None

    def find_subject(
        self, subject_key: str, tier: Tier, branch: str | None, *, reader: Reader | None = None
    ) -> list[Memory]:
        """The active memories on this subject in this tier (and branch), newest first."""
        return _understood((reader or self._db).read(_SUBJECT, (subject_key, tier, branch)))

    def add_source(self, tx: Transaction, seq: int, source: str) -> None:
        """Note that `source` also wrote this memory."""
        held = texts(tx.run(_SOURCES, (seq,))[0][0])
        if source not in held:
            sources = (*held, source)
            tx.run(_SET_SOURCES, (to_json(sources), _one(sources), seq))
            _ = tx.generation

    def new_version(
        self,
        tx: Transaction,
        memory: Memory,
        text: str,
        content_key: bytes,
        source: str,
        now: datetime,
        *,
        redaction: int = 0,
        terms: int = 0,
    ) -> Memory:
        """`memory` with another text as its next version, not judged yet. Words and vectors are the caller's to renew.

        `redaction` and `terms` are the versions of the rules that text and words are made by; 0 is not known.
        """
        at, version = to_micros(now), memory.version + 1
        tx.run(_SET_TEXT, (version, text, content_key, at, tx.generation, redaction, terms, memory.seq))
        tx.run(_ADD_VERSION, (memory.seq, version, text, source, at))
        self.add_source(tx, memory.seq, source)
        return self.by_seqs((memory.seq,), reader=tx)[memory.seq]

    def set_subject(self, tx: Transaction, seq: int, subject: str, subject_key: str | None, now: datetime) -> Memory:
        """A memory under another subject. Words and vectors are the caller's to renew."""
        tx.run(_SET_SUBJECT, (subject, subject_key, to_micros(now), tx.generation, seq))
        return self.by_seqs((seq,), reader=tx)[seq]

    def set_status(self, tx: Transaction, seq: int, status: Status, now: datetime) -> None:
        """Let a memory take part in recall, or not."""
        tx.run(_SET_STATUS, (status, to_micros(now), tx.generation, seq))

    def move_origin(self, tx: Transaction, old_id: str, new_id: str, new_name: str) -> None:
        """What was written in one workspace counts as written in another from now on."""
        tx.run(_MOVE_ORIGIN, (new_name, new_id, old_id))

    def judge(self, tx: Transaction, seq: int, feedback: Feedback) -> None:
        """Count one judgement."""
        column = Feedback(feedback).value
        tx.run(f"UPDATE memory SET {column} = {column} + 1 WHERE seq = ?", (seq,))
        _ = tx.generation

    def mark_used(self, tx: Transaction, seqs: Iterable[int], now: datetime) -> None:
        """Note when memories were last shown. Nothing that is remembered changes, so no generation passes."""
        tx.run(_MARK_USED, (to_micros(now), to_json(seqs)))

    def versions(self, seq: int) -> list[MemoryVersion]:
        """Every wording, oldest first."""
        return [
            MemoryVersion(version=version, text=text, source=source, created_at=from_micros(at))
            for version, text, source, at in self._db.read(_VERSIONS, (seq,))
        ]

    def newest(self, filter: Filter, *, before: tuple[int, int] | None, limit: int) -> list[Memory]:
        """The latest memories by (generation, seq); `before` is that pair of the last one already seen."""
        condition, params = conditions(filter)
        if before is not None:
            condition, params = f"{condition} AND (m.generation, m.seq) < (?, ?)", [*params, *before]
        order = "ORDER BY m.generation DESC, m.seq DESC"
        page = f"SELECT m.seq FROM memory AS m WHERE {condition} {order} LIMIT ?"
        return _understood(self._db.read(f"{_SELECT} WHERE m.seq IN ({page}) {order}", (*params, limit)))

    def disputed(self, filter: Filter, limit: int) -> list[Memory]:
        """What was judged wrong or outdated more often than useful, newest first."""
        condition, params = conditions(filter)
        disputed = f"{condition} AND m.wrong + m.outdated > m.useful ORDER BY m.generation DESC LIMIT ?"
        return _understood(self._db.read(f"{_SELECT} WHERE {disputed}", (*params, limit)))

    def walk(self, filter: Filter) -> Iterator[Memory]:
        """Every visible memory, in the order they were first stored, without holding all at once."""
        condition, params = conditions(filter)
        page = f"SELECT m.seq FROM memory AS m WHERE {condition} AND m.seq > ? ORDER BY m.seq LIMIT {_PAGE}"
        last = 0
        while seqs := [seq for (seq,) in self._db.read(page, (*params, last))]:
            found = self.by_seqs(seqs)
            yield from (found[seq] for seq in seqs if seq in found)
            last = seqs[-1]

    def seqs(self, filter: Filter) -> list[int]:
        """The rows of every visible memory."""
        condition, params = conditions(filter)
        return [seq for (seq,) in self._db.read(f"SELECT m.seq FROM memory AS m WHERE {condition}", params)]

    def count(self, filter: Filter) -> int:
        """How many memories are visible."""
        condition, params = conditions(filter)
        return self._db.read(f"SELECT count(*) FROM memory AS m WHERE {condition}", params)[0][0]

    def counts_by_kind(self, filter: Filter) -> dict[Kind, int]:
        """How many memories of each kind are visible."""
        condition, params = conditions(filter)
        rows = self._db.read(f"SELECT m.kind, count(*) FROM memory AS m WHERE {condition} GROUP BY m.kind", params)
        known = {kind.value for kind in Kind}
        return {Kind(kind): number for kind, number in rows if kind in known}

    def hidden(self, filter: Filter) -> int:
        """How many memories only the branch rules hide."""
        if filter.anchors is None:
            return 0
        condition, params = conditions(replace(filter, anchors=None))
        sql = f"SELECT count(*) FROM memory AS m WHERE {condition} AND m.anchor IS NOT NULL AND m.anchor NOT IN ("
        return self._db.read(f"{sql}SELECT value FROM json_each(?))", (*params, to_json(filter.anchors)))[0][0]

    def subjects(self, filter: Filter, limit: int) -> list[str]:
        """Subjects in use, latest first, each once."""
        condition, params = conditions(filter)
        sql = f"""SELECT m.subject FROM memory AS m WHERE m.subject IS NOT NULL AND {condition}
            GROUP BY m.subject_key ORDER BY max(m.generation) DESC LIMIT ?"""
        return [subject for (subject,) in self._db.read(sql, (*params, limit))]

    def link(self, tx: Transaction, from_seq: int, to_seq: int, relation: str) -> None:
        """Relate two memories; saying it twice changes nothing."""
        tx.run(_LINK, (from_seq, to_seq, relation))
        _ = tx.generation

    def links(self, seq: int) -> list[tuple[str, Literal["out", "in"], str]]:
        """Relation, direction and the other memory's id."""
        return [(relation, direction, other) for relation, direction, other in self._db.read(_LINKS, (seq,))]

    def neighbours(self, seqs: Sequence[int], limit: int) -> list[Link]:
        """Links that lead out of `seqs` in either direction, one hop."""
        return [Link(*row) for row in self._db.read(_NEIGHBOURS, (to_json(seqs), limit))]

    def erase(self, tx: Transaction, seqs: Iterable[int]) -> None:
        """Remove memories with all that hangs on them. `Store.compact` afterwards clears the files."""
        given = to_json(seqs)
        tx.run(_ERASE_WORDS, (given,))
        tx.run(_ERASE, (given,))
        _ = tx.generation

    def tombstone(self, tx: Transaction, content_key: bytes) -> None:
        """Keep a forgotten content from coming back."""
        tx.run(_TOMBSTONE, (content_key,))

    def is_tombstoned(self, content_key: bytes, *, reader: Reader | None = None) -> bool:
        """Whether this content was forgotten."""
        return bool((reader or self._db).read(_IS_TOMBSTONED, (content_key,)))


def decode(row: Row) -> Memory:
    """The memory a row holds. ValueError when the row cannot be understood."""
    return Memory(
        seq=row[0],
        id=row[1],
        version=row[2],
        kind=Kind(row[3]),
        tier=Tier(row[4]),
        status=Status(row[5]),
        text=row[6],
        subject=row[7],
        branch=row[8],
        anchor=row[9],
        commit=row[10],
        sources=texts(row[11]),
        session=row[12],
        origin_workspace=row[13],
        files=texts(row[14]),
        symbols=texts(row[15]),
        search_keys=texts(row[16]),
        solution=row[17],
        environment=row[18],
        created_at=from_micros(row[19]),
        updated_at=from_micros(row[20]),
        valid_until=maybe_moment(row[21]),
        last_used_at=maybe_moment(row[22]),
        generation=row[23],
        useful=row[24],
        wrong=row[25],
        outdated=row[26],
        origin_id=row[27],
    )


def _understood(rows: Iterable[Row]) -> list[Memory]:
    found: list[Memory] = []
    for row in rows:
        try:
            found.append(decode(row))
        except ValueError:
            continue  # `doctor` lists it, see Store.damaged_rows
    return found


def _one(sources: Sequence[str]) -> str:
    return sources[0] if len(sources) == 1 else "mixed"


def faults(db: Database) -> list[str]:
    """One line for each memory that cannot be understood."""
    found: list[str] = []
    held = dict(db.read("SELECT seq, id FROM memory"))
    for row in db.read(_SELECT):
        held.pop(row[0], None)
        try:
            decode(row)
        except ValueError as error:
            found.append(f"memory {row[1]} (row {row[0]}): {error}")
    return found + [f"memory {id} (row {seq}): a text in it is no UTF-8" for seq, id in held.items()]
