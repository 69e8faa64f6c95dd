"""One store copied into another, for workspaces that turn out to be one."""

from collections.abc import Callable, Iterable
from typing import Any

from memhub_mcp.domain.memory import EVERYTHING, Memory
from memhub_mcp.store.connection import Row, Transaction
from memhub_mcp.store.file import Store
from memhub_mcp.store.values import marks, texts

_SESSIONS = "SELECT * FROM session ORDER BY seq"
_MEMORIES = "SELECT * FROM memory ORDER BY generation, seq"
_IS_THERE = "SELECT seq FROM memory WHERE id = ?"
_SAME_SESSION = "SELECT id FROM session WHERE id = ? OR (source = ? AND host_session = ?)"
_VERSIONS = "SELECT version, text, source, created_at FROM memory_version WHERE memory = ?"
_ADD_VERSION = "INSERT INTO memory_version (memory, version, text, source, created_at) VALUES (?, ?, ?, ?, ?)"
_FILES = "SELECT path FROM memory_file WHERE memory = ?"
_ADD_FILE = "INSERT INTO memory_file (path, memory) VALUES (?, ?)"
_TURNS = "SELECT memory, session, position, speaker, caption, time FROM turn"
_ADD_TURN = "INSERT OR IGNORE INTO turn (memory, session, position, speaker, caption, time) VALUES (?, ?, ?, ?, ?, ?)"
_FACT = "UPDATE session SET fact = ? WHERE id = ? AND fact IS NULL"
_EDITS = "SELECT * FROM edit ORDER BY seq"


def merge(source: Store, target: Store, index: Callable[[Transaction, Memory], None]) -> int:
    """Copy what `source` remembers into `target`, in one transaction; how many memories were new there.

    `index` makes an added memory findable. What `target` already holds, or was told to forget, stays as it is
    there; doing it again adds nothing. Commits are not copied: they are read from git.
    """
    with target.write() as tx:
        sessions = _copy_sessions(source, tx)
        anchors = {
            anchor.id: target.anchors.ensure(tx, anchor.branch, anchor.commit, anchor.pending_at)
            for anchor in source.anchors.all()
        }
        known = {facts.branch for facts in target.branches.all()}
        for facts in source.branches.all():
            if facts.branch not in known:
                target.branches.put(tx, facts)
        seqs, added = _copy_memories(source, target, tx, anchors, sessions)
        for seq in added:
            index(tx, target.memories.by_seqs((seq,), reader=tx)[seq])
        for link in source.memories.all_links():
            if link.from_seq in seqs and link.to_seq in seqs and seqs[link.from_seq] != seqs[link.to_seq]:
                target.memories.link(tx, seqs[link.from_seq], seqs[link.to_seq], link.relation)
        for memory, session, *rest in source.db.read(_TURNS):
            if memory in seqs:
                tx.run(_ADD_TURN, (seqs[memory], sessions[session], *rest))
        for key in source.memories.tombstones():
            target.memories.tombstone(tx, key)
        for edit in _named(source, "edit", source.db.read(_EDITS)):
            _insert(tx, "edit", edit | {"session": sessions.get(edit["session"]), "generation": tx.generation})
    return len(added)


def _copy_sessions(source: Store, tx: Transaction) -> dict[str, str]:
    """The id in the target of each session of the source."""
    ids: dict[str, str] = {}
    for session in _named(source, "session", source.db.read(_SESSIONS)):
        key = session["id"], session["source"], session["host_session"]
        _insert(tx, "session", session | {"fact": None})
        ids[session["id"]] = tx.read(_SAME_SESSION, key)[0][0]
    return ids


def _copy_memories(
    source: Store, target: Store, tx: Transaction, anchors: dict[int, int], sessions: dict[str, str]
) -> tuple[dict[int, int], list[int]]:
    """The row in the target of each memory of the source, and which of them were added."""
    seqs: dict[int, int] = {}
    added: list[int] = []
    understood = {memory.seq for memory in source.memories.walk(EVERYTHING)}
    for memory in _named(source, "memory", source.db.read(_MEMORIES), with_seq=True):
        seq = memory.pop("seq")
        if seq not in understood:
            continue
        there = tx.read(_IS_THERE, (memory["id"],))
        if there:
            seqs[seq] = there[0][0]
            continue
        equal = target.memories.find_equal(memory["content_key"], memory["tier"], memory["branch"], reader=tx)
        if equal is not None and equal.status == memory["status"]:
            for host in texts(memory["sources"]):
                target.memories.add_source(tx, equal.seq, host)
            seqs[seq] = equal.seq
            continue
        if target.memories.is_tombstoned(memory["content_key"], reader=tx):
            continue
        anchor, session = anchors.get(memory["anchor"]), sessions.get(memory["session"])
        _insert(tx, "memory", memory | {"anchor": anchor, "session": session, "generation": tx.generation})
        seqs[seq] = tx.last_id
        added.append(tx.last_id)
        tx.run_many(_ADD_VERSION, ((seqs[seq], *version) for version in source.db.read(_VERSIONS, (seq,))))
        tx.run_many(_ADD_FILE, ((path, seqs[seq]) for (path,) in source.db.read(_FILES, (seq,))))
    for session in _named(source, "session", source.db.read(_SESSIONS)):
        if session["fact"] in seqs:
            tx.run(_FACT, (seqs[session["fact"]], sessions[session["id"]]))
    return seqs, added


def _named(store: Store, table: str, rows: Iterable[Row], *, with_seq: bool = False) -> Iterable[dict[str, Any]]:
    """Whole rows of `table` by column; without `seq`, which every file counts for itself."""
    columns = [name for (name,) in store.db.read("SELECT name FROM pragma_table_info(?)", (table,))]
    for row in rows:
        named = dict(zip(columns, row, strict=True))
        if not with_seq:
            named.pop("seq")
        yield named


def _insert(tx: Transaction, table: str, row: dict[str, Any]) -> None:
    """Add a row unless one of its names is taken."""
    tx.run(
        f"INSERT OR IGNORE INTO {table} ({', '.join(row)}) VALUES ({marks(len(row))})",
        tuple(row.values()),
    )
