"""The commit index as lineage reads it: who came from whom, and what each commit did to one path."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memhub_mcp.domain.revision import ChangeKind, CommitLine, FileChange
from memhub_mcp.store.connection import Database
from memhub_mcp.store.packing import unpack_hunks
from memhub_mcp.store.values import from_micros, storable, texts, to_json

_KEPT_PATHS = 32

_PARENTS = "SELECT seq, sha, parents FROM git_commit WHERE seq > ? ORDER BY seq"
_COLUMNS = "p.name, o.name, c.kind, c.blob_before, c.blob_after, c.is_binary, c.hunks, c.parent"
_AT_PATH = f"""SELECT g.sha, {_COLUMNS} FROM path AS p JOIN file_change AS c ON c.path = p.id
    JOIN git_commit AS g ON g.seq = c.git_commit LEFT JOIN path AS o ON o.id = c.old_path WHERE p.name = ?"""
_OF_COMMIT = f"""SELECT g.sha, {_COLUMNS} FROM git_commit AS g JOIN file_change AS c ON c.git_commit = g.seq
    JOIN path AS p ON p.id = c.path LEFT JOIN path AS o ON o.id = c.old_path WHERE g.sha = ? ORDER BY c.ordinal"""
_LINES = """SELECT sha, author, committed_at, message, note FROM git_commit
    WHERE sha IN (SELECT value FROM json_each(?))"""
_PATHS = "SELECT name FROM path"
_LAST = """SELECT g.sha FROM path AS p JOIN file_change AS c ON c.path = p.id OR c.old_path = p.id
    JOIN git_commit AS g ON g.seq = c.git_commit WHERE p.name = ? ORDER BY g.committed_at DESC, g.seq LIMIT ?"""
_TWINS = """SELECT twin.sha FROM git_commit AS g JOIN git_commit AS twin ON twin.patch_id = g.patch_id
    WHERE g.sha = ? AND twin.sha <> g.sha"""


class Ancestry:
    """Parents and changes of the indexed commits of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._parents: dict[str, tuple[str, ...]] = {}
        self._seen = 0
        self._changes: OrderedDict[str, tuple[int, dict[str, list[FileChange]]]] = OrderedDict()

    def parents(self) -> Mapping[str, Sequence[str]]:
        """The parents of every indexed commit. Rows that came since the last call are added."""
        for seq, sha, parents in self._db.read(_PARENTS, (self._seen,)):
            self._parents[sha] = texts(parents)
            self._seen = seq
        return self._parents

    def changes_at(self, path: str) -> dict[str, list[FileChange]]:
        """What each commit that left a file at `path` did to it, by commit."""
        seen, found = self._changes.get(path, (-1, {}))
        if seen != self._seen:
            found = {}
            for sha, *change in self._db.read(_AT_PATH, (storable(path),)):
                found.setdefault(sha, []).append(_change(change))
            self._changes[path] = (self._seen, found)
            if len(self._changes) > _KEPT_PATHS:
                self._changes.popitem(last=False)
        return found

    def changes_of(self, sha: str) -> list[FileChange]:
        """Everything one commit changed."""
        return [_change(change) for _, *change in self._db.read(_OF_COMMIT, (sha,))]

    def lines(self, shas: Iterable[str]) -> dict[str, CommitLine]:
        """The indexed ones among `shas`."""
        rows = self._db.read(_LINES, (to_json(shas),))
        return {sha: CommitLine(author, from_micros(at), message, note) for sha, author, at, message, note in rows}

    def last_touching(self, path: str, limit: int) -> list[str]:
        """The latest commits that changed, moved or removed `path`, newest first."""
        return [sha for (sha,) in self._db.read(_LAST, (storable(path), limit))]

    def paths(self) -> list[str]:
        """Every path that was ever there."""
        return [name for (name,) in self._db.read(_PATHS)]

    def twins(self, sha: str) -> list[str]:
        """Commits that make the same change: rebased, amended or picked copies."""
        return [twin for (twin,) in self._db.read(_TWINS, (sha,))]


def _change(row: Sequence[Any]) -> FileChange:
    path, old_path, kind, before, after, binary, hunks, parent = row
    return FileChange(
        path=path,
        old_path=old_path,
        kind=ChangeKind(kind),
        blob_before=None if before is None else before.hex(),
        blob_after=None if after is None else after.hex(),
        binary=bool(binary),
        hunks=unpack_hunks(hunks),
        parent=parent,
    )
