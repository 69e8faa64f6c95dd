"""One store's rows taken over by another: memories with all that hangs on them, sessions, edits, branches."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from memhub_mcp.store.connection import Database, Row, Transaction
from memhub_mcp.store.values import marks

_COLUMNS = "SELECT name FROM pragma_table_info(?) ORDER BY cid"
_FIND_ANCHOR = "SELECT id FROM anchor WHERE branch = ? AND commit_sha IS ?"
_FIND_SESSION = "SELECT id FROM session WHERE id = ? OR (source = ? AND host_session = ?)"
_FIND_MEMORY = """
SELECT seq FROM memory WHERE id = ?1 OR (
    ?5 = 'active' AND status = 'active' AND content_key = ?2 AND tier = ?3 AND (tier <> 'branch' OR branch IS ?4))
"""
_FORGOTTEN = "SELECT 1 FROM tombstone WHERE content_key = ?"
_SET_FACT = "UPDATE session SET fact = ?, fact_drafted = ? WHERE id = ? AND fact IS NULL"
_AS_THEY_ARE = ("branch_fact", "branch_commit", "branch_path", "branch_squash", "tombstone")


@dataclass(frozen=True, slots=True)
class Joined:
    """What became of the rows: `added` memories by their new row, `known` ones as (row there, its sources here)."""

    added: tuple[int, ...]
    known: tuple[tuple[int, str], ...]
    forgotten: int


def join(tx: Transaction, source: Database) -> Joined:
    """Take over what `source` holds; what is here already stays. Words and vectors are the caller's to make."""
    anchors = {row["id"]: _anchor(tx, row) for row in _rows(source, "anchor")}
    sessions = _sessions(tx, source)
    memories: dict[int, int] = {}
    added: list[int] = []
    known: list[tuple[int, str]] = []
    forgotten = 0
    for row in sorted(_rows(source, "memory"), key=lambda row: (row["generation"], row["seq"])):
        found = tx.run(_FIND_MEMORY, (row["id"], row["content_key"], row["tier"], row["branch"], row["status"]))
        if found:
            memories[row["seq"]] = found[0][0]
            known.append((found[0][0], row["sources"]))
        elif tx.run(_FORGOTTEN, (row["content_key"],)):
            forgotten += 1
        else:
            changed = {
                "anchor": anchors.get(row["anchor"]),
                "session": sessions.get(row["session"]),
                "generation": tx.generation,
            }
            memories[row["seq"]] = _insert(tx, "memory", {**row, **changed}, without="seq")
            added.append(memories[row["seq"]])
    fresh = frozenset(added)
    for table in ("memory_version", "memory_file", "turn", "excerpt"):
        for row in _rows(source, table):
            if memories.get(row["memory"]) in fresh:
                kept = {"session": sessions.get(row["session"])} if "session" in row else {}
                _insert(tx, table, {**row, **kept, "memory": memories[row["memory"]]})
    _links(tx, source, memories)
    for row in _rows(source, "session"):
        if row["fact"] in memories:
            tx.run(_SET_FACT, (memories[row["fact"]], row["fact_drafted"], sessions[row["id"]]))
    for row in _rows(source, "edit"):
        if tx.run(_FORGOTTEN, (row["identity"],)):
            continue
        changed = {"session": sessions.get(row["session"]), "generation": tx.generation}
        _insert(tx, "edit", {**row, **changed}, without="seq")
    for row in _rows(source, "landing"):
        _insert(tx, "landing", {**row, "anchor": anchors[row["anchor"]]})
    for table in _AS_THEY_ARE:
        for row in _rows(source, table):
            _insert(tx, table, row)
    return Joined(tuple(added), tuple(known), forgotten)


def _anchor(tx: Transaction, row: dict[str, Any]) -> int:
    found = tx.run(_FIND_ANCHOR, (row["branch"], row["commit_sha"]))
    return found[0][0] if found else _insert(tx, "anchor", row, without="id")


def _sessions(tx: Transaction, source: Database) -> dict[str | None, str]:
    """The session each one is here; their facts follow when the memories are here."""
    ids: dict[str | None, str] = {}
    for row in _rows(source, "session"):
        found = tx.run(_FIND_SESSION, (row["id"], row["source"], row["host_session"]))
        if not found:
            _insert(tx, "session", {**row, "fact": None, "fact_drafted": 0}, without="seq")
        ids[row["id"]] = found[0][0] if found else row["id"]
    return ids


def _links(tx: Transaction, source: Database, memories: dict[int, int]) -> None:
    for row in _rows(source, "link"):
        start, end = memories.get(row["from_memory"]), memories.get(row["to_memory"])
        if start is not None and end is not None and start != end:
            _insert(tx, "link", {**row, "from_memory": start, "to_memory": end})


def _rows(source: Database, table: str) -> Iterable[dict[str, Any]]:
    names: list[Row] = source.read(_COLUMNS, (table,))
    columns = [name for (name,) in names]
    for row in source.read(f"SELECT {', '.join(columns)} FROM {table}"):
        yield dict(zip(columns, row, strict=True))


def _insert(tx: Transaction, table: str, row: dict[str, Any], *, without: str | None = None) -> int:
    """The new row's number; a row that is here already stays."""
    kept = {column: value for column, value in row.items() if column != without}
    tx.run(f"INSERT OR IGNORE INTO {table} ({', '.join(kept)}) VALUES ({marks(len(kept))})", tuple(kept.values()))
    return tx.last_id
