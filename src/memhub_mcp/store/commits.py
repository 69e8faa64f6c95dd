"""The commit index: what git knows, kept so that it can be found by words, path and patch."""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memhub_mcp.domain.revision import ChangeKind, Commit, FileChange
from memhub_mcp.store.connection import Database, Reader, Row, Transaction
from memhub_mcp.store.packing import pack_hunks, pack_text, unpack_hunks, unpack_text
from memhub_mcp.store.values import from_micros, marks, storable, texts, to_json, to_micros
from memhub_mcp.store.words import COMMIT_WEIGHTS, WordMatch, Words

ERASED = "erased on request"

_KNOWN = "SELECT sha FROM git_commit WHERE sha IN (SELECT value FROM json_each(?))"
_ADD = f"""INSERT OR IGNORE INTO git_commit (sha, parents, author, authored_at, committed_at, message, patch_id, patch,
    note, redaction, terms) VALUES ({marks(11)})"""
_ADD_PATH = "INSERT OR IGNORE INTO path (name) VALUES (?)"
_ADD_CHANGE = """INSERT INTO file_change (git_commit, ordinal, parent, path, old_path, kind, blob_before, blob_after,
    is_binary, hunks)
    VALUES (?, ?, ?, (SELECT id FROM path WHERE name = ?), (SELECT id FROM path WHERE name = ?), ?, ?, ?, ?, ?)"""
_SELECT = """SELECT seq, sha, parents, author, authored_at, committed_at, message, patch_id, patch, note
    FROM git_commit"""
_BY_SEQS = f"{_SELECT} WHERE seq IN (SELECT value FROM json_each(?))"
_BY_PREFIX = "SELECT seq FROM git_commit WHERE sha >= ? AND sha < ? LIMIT 2"
_CHANGES = """SELECT c.git_commit, p.name, o.name, c.kind, c.blob_before, c.blob_after, c.is_binary, c.hunks, c.parent
    FROM file_change AS c JOIN path AS p ON p.id = c.path LEFT JOIN path AS o ON o.id = c.old_path
    WHERE c.git_commit IN (SELECT value FROM json_each(?)) ORDER BY c.git_commit, c.ordinal"""
_TOUCHING = """SELECT -g.committed_at, g.seq, g.sha, iif(c.kind = 'rename', o.name, NULL)
    FROM path AS p JOIN file_change AS c ON c.path = p.id JOIN git_commit AS g ON g.seq = c.git_commit
    LEFT JOIN path AS o ON o.id = c.old_path
    WHERE p.name = ? AND (-g.committed_at, g.seq) >= (?, ?) ORDER BY 1, 2"""
_PAGE = "SELECT seq FROM git_commit WHERE seq > ? ORDER BY seq LIMIT 200"
_ALL = "SELECT seq, sha FROM git_commit ORDER BY seq"
_COUNT = "SELECT count(*) FROM git_commit"
_OUTDATED = "SELECT sha FROM git_commit WHERE redaction < ? ORDER BY committed_at DESC LIMIT ?"
_REMOVE = "DELETE FROM git_commit WHERE sha IN (SELECT value FROM json_each(?))"
_SEQS = "SELECT seq FROM git_commit WHERE sha IN (SELECT value FROM json_each(?))"
_BLANK = "UPDATE git_commit SET message = '', author = '', patch = ?, note = ? WHERE seq = ?"
_STATE = "SELECT value FROM meta WHERE key = 'commits.' || ?"
_SET_STATE = """INSERT INTO meta (key, value) VALUES ('commits.' || ?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value"""


class Commits:
    """The commits of one store's repository."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.words = Words(db, "commit_words", COMMIT_WEIGHTS)

    def known(self, shas: Iterable[str]) -> set[str]:
        """Which of `shas` are indexed."""
        return {sha for (sha,) in self._db.read(_KNOWN, (to_json(shas),))}

    def add(
        self,
        tx: Transaction,
        commits: Sequence[tuple[Commit, Mapping[str, Sequence[str]]]],
        *,
        redaction: int,
        terms: int = 0,
    ) -> None:
        """Index commits with the terms of each column (`message`, `name`, `changed`); known ones stay as they are.

        `redaction` and `terms` are the versions of the rules that texts and terms were made by; 0 is not known.
        """
        for commit, fields in commits:
            tx.run(
                _ADD,
                (
                    commit.sha,
                    to_json(commit.parents),
                    storable(commit.author),
                    to_micros(commit.authored_at),
                    to_micros(commit.committed_at),
                    storable(commit.message),
                    commit.patch_id,
                    pack_text(commit.patch),
                    commit.note,
                    redaction,
                    terms,
                ),
            )
            if tx.changes:
                seq = tx.last_id
                self._add_changes(tx, seq, commit.changes)
                self.words.index(tx, seq, fields)

    def find(self, sha_or_prefix: str) -> int | None:
        """The row of the one commit whose id begins so; None when there is none, or more than one."""
        prefix = sha_or_prefix.lower()
        rows = self._db.read(_BY_PREFIX, (prefix, prefix + "g"))
        return rows[0][0] if len(rows) == 1 else None

    def get(self, sha_or_prefix: str) -> Commit | None:
        """The one commit whose id begins so; None when there is none, or more than one."""
        seq = self.find(sha_or_prefix)
        return self.get_many((seq,)).get(seq) if seq is not None else None

    def get_many(self, seqs: Iterable[int]) -> dict[int, Commit]:
        """The commits at these rows, by row. A row that cannot be understood is left out."""
        wanted = to_json(seqs)
        changes: dict[int, list[Row]] = {}
        for seq, *change in self._db.read(_CHANGES, (wanted,)):
            changes.setdefault(seq, []).append(tuple(change))
        found: dict[int, Commit] = {}
        for row in self._db.read(_BY_SEQS, (wanted,)):
            try:
                found[row[0]] = _commit(row, changes.get(row[0], ()))
            except ValueError:
                continue  # `doctor` lists it, see Store.damaged_rows
        return found

    def by_path(self, path: str, limit: int, before: str | None = None) -> list[Commit]:
        """Commits that touched `path`, newest first, also under the names it had before; `before` is a commit id."""
        touching = self._touching(storable(path))
        if before is not None:
            for _, sha in touching:
                if sha == before:
                    break
        seqs = [seq for (seq, _), _ in zip(touching, range(limit), strict=False)]
        found = self.get_many(seqs)
        return [found[seq] for seq in seqs if seq in found]

    def search(self, terms: Sequence[str], limit: int) -> list[WordMatch]:
        """Commits found by words, best first."""
        return self.words.search(terms, None, limit)

    def walk(self) -> Iterator[tuple[int, Commit]]:
        """Every commit with its row, without holding all at once."""
        last = 0
        while seqs := [seq for (seq,) in self._db.read(_PAGE, (last,))]:
            yield from sorted(self.get_many(seqs).items())
            last = seqs[-1]

    def count(self) -> int:
        """How many commits are indexed."""
        return self._db.read(_COUNT)[0][0]

    def outdated(self, redaction: int, limit: int) -> list[str]:
        """Commits stored under earlier redaction rules: remove and add them again."""
        return [sha for (sha,) in self._db.read(_OUTDATED, (redaction, limit))]

    def remove(self, tx: Transaction, shas: Sequence[str]) -> None:
        """Take commits out of the index."""
        wanted = to_json(shas)
        self.words.remove(tx, [seq for (seq,) in tx.read(_SEQS, (wanted,))])
        tx.run(_REMOVE, (wanted,))

    def erase(self, tx: Transaction, seqs: Sequence[int]) -> None:
        """Blank author, message and patch of commits; they stay known, so indexing does not bring them back."""
        self.words.remove(tx, seqs)
        tx.run_many(_BLANK, ((pack_text(""), ERASED, seq) for seq in seqs))
        _ = tx.generation

    def state(self, key: str, *, reader: Reader | None = None) -> str | None:
        """What indexing noted under `key`."""
        rows = (reader or self._db).read(_STATE, (key,))
        return rows[0][0] if rows else None

    def set_state(self, tx: Transaction, key: str, value: str) -> None:
        """Note where indexing stands."""
        tx.run(_SET_STATE, (key, value))

    def _add_changes(self, tx: Transaction, seq: int, changes: Sequence[FileChange]) -> None:
        names = {storable(name) for change in changes for name in (change.path, change.old_path) if name is not None}
        tx.run_many(_ADD_PATH, ((name,) for name in names))
        tx.run_many(
            _ADD_CHANGE,
            (
                (
                    seq,
                    ordinal,
                    change.parent,
                    storable(change.path),
                    None if change.old_path is None else storable(change.old_path),
                    change.kind,
                    None if change.blob_before is None else bytes.fromhex(change.blob_before),
                    None if change.blob_after is None else bytes.fromhex(change.blob_after),
                    int(change.binary),
                    pack_hunks(change.hunks),
                )
                for ordinal, change in enumerate(changes)
            ),
        )

    def _touching(self, path: str) -> Iterator[tuple[int, str]]:
        """(seq, sha) of commits that touched `path`, newest first; a rename leads on to the older name."""
        seen: set[int] = set()
        names = {path}
        waiting: list[Row] = self._db.read(_TOUCHING, (path, -(2**62), 0))
        heapq.heapify(waiting)
        while waiting:
            time, seq, sha, old_path = heapq.heappop(waiting)
            if old_path is not None and old_path not in names:
                names.add(old_path)
                for row in self._db.read(_TOUCHING, (old_path, time, seq)):
                    heapq.heappush(waiting, row)
            if seq not in seen:
                seen.add(seq)
                yield seq, sha


def faults(db: Database) -> list[str]:
    """One line for each commit that cannot be understood."""
    understood = {seq for seq, _ in Commits(db).walk()}
    return [f"commit {sha} (row {seq}) cannot be read" for seq, sha in db.read(_ALL) if seq not in understood]


def _commit(row: Row, changes: Iterable[Row]) -> Commit:
    _, sha, parents, author, authored_at, committed_at, message, patch_id, patch, note = row
    return Commit(
        sha=sha,
        parents=texts(parents),
        author=author,
        authored_at=from_micros(authored_at),
        committed_at=from_micros(committed_at),
        message=message,
        patch_id=patch_id,
        changes=tuple(_change(change) for change in changes),
        patch=unpack_text(patch),
        note=note,
    )


def _change(row: Row) -> FileChange:
    path, old_path, kind, blob_before, blob_after, binary, hunks, parent = row
    return FileChange(
        path=path,
        old_path=old_path,
        kind=ChangeKind(kind),
        blob_before=None if blob_before is None else blob_before.hex(),
        blob_after=None if blob_after is None else blob_after.hex(),
        binary=bool(binary),
        hunks=unpack_hunks(hunks),
        parent=parent,
    )
