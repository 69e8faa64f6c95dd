"""Rows that were made by earlier rules, or are to be made anew on request: which they are, how they are replaced
without becoming newer, how far that is, and who does it."""

from collections.abc import Iterable, Mapping

from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.memory import Memory
from memhub_mcp.domain.revision import Commit
from memhub_mcp.store.commits import ERASED
from memhub_mcp.store.connection import Database, Transaction
from memhub_mcp.store.packing import pack_text
from memhub_mcp.store.values import storable, to_json, to_micros

LEASE_S = 30.0

_STALE_MEMORIES = "SELECT seq FROM memory WHERE redaction < ? OR terms < ? ORDER BY seq DESC LIMIT ?"
_STALE_COMMITS = "SELECT seq FROM git_commit WHERE redaction < ? OR terms < ? ORDER BY seq DESC LIMIT ?"
_MEMORIES_AFTER = "SELECT seq FROM memory WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
_COMMITS_AFTER = "SELECT seq FROM git_commit WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
_LAST_MEMORY = "SELECT coalesce(max(seq), 0) FROM memory"
_LAST_COMMIT = "SELECT coalesce(max(seq), 0) FROM git_commit"
_MEMORIES_UP_TO = "SELECT count(*) FROM memory WHERE seq <= ?"
_COMMITS_UP_TO = "SELECT count(*) FROM git_commit WHERE seq <= ?"
_LIVE_COMMITS = "SELECT seq FROM git_commit WHERE note IS NOT ? AND seq IN (SELECT value FROM json_each(?))"

_REPLACE_MEMORY = """UPDATE memory SET text = ?, content_key = coalesce(?, content_key), subject = ?, subject_key = ?,
    files = ?, symbols = ?, search_keys = ?, solution = ?, environment = ? WHERE seq = ?"""
_REPLACE_VERSION = "UPDATE memory_version SET text = ? WHERE memory = ? AND version = ?"
_FORGET_FILES = "DELETE FROM memory_file WHERE memory = ?"
_ADD_FILE = "INSERT OR IGNORE INTO memory_file (path, memory) VALUES (?, ?)"
_REPLACE_CAPTION = "UPDATE turn SET caption = ? WHERE memory = ?"
_REPLACE_COMMIT = "UPDATE git_commit SET author = ?, message = ?, patch = ? WHERE seq = ?"
_MARK_MEMORIES = """UPDATE memory SET redaction = max(redaction, ?), terms = ?
    WHERE seq IN (SELECT value FROM json_each(?))"""
_MARK_COMMITS = """UPDATE git_commit SET redaction = max(redaction, ?), terms = ?
    WHERE seq IN (SELECT value FROM json_each(?))"""

_POSITIONS = "SELECT substr(key, 9), CAST(value AS INTEGER) FROM meta WHERE key >= 'renewal.' AND key < 'renewal/'"
_BEGIN = "INSERT OR IGNORE INTO meta (key, value) VALUES ('renewal.' || ?, '0')"
_ADVANCE = """UPDATE meta SET value = CAST(?1 AS TEXT)
    WHERE key = 'renewal.' || ?2 AND CAST(value AS INTEGER) < ?1"""
_END = "DELETE FROM meta WHERE key = 'renewal.' || ?"
_WORKER = "SELECT value FROM meta WHERE key = 'renewer'"
_SET_WORKER = """INSERT INTO meta (key, value) VALUES ('renewer', ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value"""


class Renewal:
    """What is to be made anew in one store."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def stale_memories(self, redaction: int, terms: int, limit: int) -> list[int]:
        """Memories whose text or words were made by earlier versions of the rules than these, latest first."""
        return [seq for (seq,) in self._db.read(_STALE_MEMORIES, (redaction, terms, limit))]

    def stale_commits(self, redaction: int, terms: int, limit: int) -> list[int]:
        """Commits whose texts or words were made by earlier versions of the rules than these, latest first."""
        return [seq for (seq,) in self._db.read(_STALE_COMMITS, (redaction, terms, limit))]

    def memories_after(self, seq: int, last: int, limit: int) -> list[int]:
        """The next memories in the order they were first stored, up to the row `last`."""
        return [found for (found,) in self._db.read(_MEMORIES_AFTER, (seq, last, limit))]

    def commits_after(self, seq: int, last: int, limit: int) -> list[int]:
        """The next commits in the order they were indexed, up to the row `last`."""
        return [found for (found,) in self._db.read(_COMMITS_AFTER, (seq, last, limit))]

    def last_memory(self) -> int:
        """The row that was stored last, 0 without any."""
        return self._db.read(_LAST_MEMORY)[0][0]

    def last_commit(self) -> int:
        """The row that was indexed last, 0 without any."""
        return self._db.read(_LAST_COMMIT)[0][0]

    def memories_up_to(self, seq: int) -> int:
        """How many memories there are up to this one."""
        return self._db.read(_MEMORIES_UP_TO, (seq,))[0][0]

    def commits_up_to(self, seq: int) -> int:
        """How many commits there are up to this one."""
        return self._db.read(_COMMITS_UP_TO, (seq,))[0][0]

    def live_commits(self, tx: Transaction, seqs: Iterable[int]) -> set[int]:
        """Those that are still there and were not erased on request."""
        return {seq for (seq,) in tx.read(_LIVE_COMMITS, (ERASED, to_json(seqs)))}

    def replace_memory(
        self, tx: Transaction, memory: Memory, content_key: bytes | None, subject_key: str | None
    ) -> None:
        """Let the row say what `memory` says, at the same version and time. None leaves the content key as it is."""
        tx.run(
            _REPLACE_MEMORY,
            (
                memory.text,
                content_key,
                memory.subject,
                subject_key,
                to_json(memory.files),
                to_json(memory.symbols),
                to_json(memory.search_keys),
                memory.solution,
                memory.environment,
                memory.seq,
            ),
        )
        tx.run(_FORGET_FILES, (memory.seq,))
        tx.run_many(_ADD_FILE, ((path, memory.seq) for path in memory.files))
        _ = tx.generation

    def replace_versions(self, tx: Transaction, seq: int, texts: Mapping[int, str]) -> None:
        """Let these versions of a memory have other texts."""
        tx.run_many(_REPLACE_VERSION, ((text, seq, version) for version, text in texts.items()))

    def replace_caption(self, tx: Transaction, seq: int, caption: str) -> None:
        """Let a turn have another caption."""
        tx.run(_REPLACE_CAPTION, (caption, seq))

    def replace_commit(self, tx: Transaction, seq: int, commit: Commit) -> None:
        """Let the row have the texts of `commit`."""
        texts = storable(commit.author), storable(commit.message), pack_text(commit.patch)
        tx.run(_REPLACE_COMMIT, (*texts, seq))

    def mark_memories(self, tx: Transaction, seqs: Iterable[int], redaction: int, terms: int) -> None:
        """Note that these follow the rules of these versions."""
        tx.run(_MARK_MEMORIES, (redaction, terms, to_json(seqs)))

    def mark_commits(self, tx: Transaction, seqs: Iterable[int], redaction: int, terms: int) -> None:
        """Note that these follow the rules of these versions."""
        tx.run(_MARK_COMMITS, (redaction, terms, to_json(seqs)))

    def positions(self) -> dict[str, int]:
        """The rebuilds that were begun and not ended: their name and the last row that is done."""
        return dict(self._db.read(_POSITIONS))

    def begin(self, tx: Transaction, name: str) -> None:
        """Begin a rebuild; one that was begun before stands where it is."""
        tx.run(_BEGIN, (name,))

    def advance(self, tx: Transaction, name: str, seq: int) -> None:
        """A rebuild is done up to this row, unless another process is further."""
        tx.run(_ADVANCE, (seq, name))

    def end(self, tx: Transaction, name: str) -> None:
        """A rebuild is complete."""
        tx.run(_END, (name,))

    def take(self, tx: Transaction, worker: str, *, by_force: bool = False) -> bool:
        """Whether `worker` may do this work for now: nobody else did some in the last half minute."""
        now = to_micros(self._clock())
        rows = tx.read(_WORKER)
        other, _, until = rows[0][0].partition(" ") if rows else ("", "", "0")
        if other not in ("", worker) and not by_force and now < int(until) <= now + int(LEASE_S * 1e6):
            return False
        tx.run(_SET_WORKER, (f"{worker} {now + int(LEASE_S * 1e6)}",))
        return True
