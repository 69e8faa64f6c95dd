"""The registry: which store answers to which remote, first commit or path."""

import re
import secrets
import unicodedata
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager
from pathlib import Path

from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.scope import Alias, AliasKind, Workspace
from memhub_mcp.errors import NotFound, ScopeError, StoreError
from memhub_mcp.store.capture_rules import CaptureRules
from memhub_mcp.store.connection import Database, Row, Transaction
from memhub_mcp.store.migrate import scripts_in
from memhub_mcp.store.values import storable, to_micros

_COLUMNS = "workspace.id, workspace.name, workspace.directory"
_HAVING = f"""
SELECT {_COLUMNS} FROM workspace JOIN alias ON alias.workspace = workspace.seq
WHERE alias.kind = ? AND alias.value = ? ORDER BY workspace.seq
"""
_ALL = f"SELECT {_COLUMNS} FROM workspace ORDER BY workspace.name COLLATE NOCASE, workspace.seq"
_ONE = f"SELECT {_COLUMNS} FROM workspace WHERE workspace.id = ?"
_ALIASES = """
SELECT alias.kind, alias.value FROM alias JOIN workspace ON workspace.seq = alias.workspace
WHERE workspace.id = ? ORDER BY alias.added_at, alias.value
"""
_NAMELESS = f"""
SELECT {_COLUMNS} FROM workspace
WHERE NOT EXISTS (SELECT 1 FROM alias WHERE alias.workspace = workspace.seq) ORDER BY workspace.seq
"""
_ADOPT = "INSERT OR IGNORE INTO workspace (id, name, directory, created_at) VALUES (?, ?, ?, ?)"
_ID_IN_STORE = "SELECT value FROM meta WHERE key = 'workspace'"
_INSERT = "INSERT INTO workspace (id, name, directory, created_at) VALUES (?, ?, ?, ?)"
_ADD_ALIAS = """
INSERT OR IGNORE INTO alias (kind, value, workspace, added_at)
SELECT ?, ?, seq, ? FROM workspace WHERE id = ?
"""
_DROP_ALIAS = "DELETE FROM alias WHERE kind = ? AND value = ? AND workspace = (SELECT seq FROM workspace WHERE id = ?)"
_ADD_COMMIT = "INSERT OR IGNORE INTO known_commit (workspace, sha) SELECT seq, ? FROM workspace WHERE id = ?"
_COMMITS = """
SELECT known_commit.sha FROM known_commit JOIN workspace ON workspace.seq = known_commit.workspace
WHERE workspace.id = ?
"""
_REMOVE = "DELETE FROM workspace WHERE id = ?"


class Workspaces:
    """The registry file `<home>/workspaces.db`."""

    def __init__(self, home: Path, clock: Clock, *, read_only: bool = False) -> None:
        self._folder = home / "workspaces"
        self._clock = clock
        self._db = Database.open(
            home / "workspaces.db",
            expected_id=None,
            clock=clock,
            scripts=scripts_in(Path(__file__).parent / "registry"),
            read_only=read_only,
            backups=home / "backups",
        )
        self.capture = CaptureRules(self._db)
        if not self._db.read_only and not self.list():
            self._adopt()

    @property
    def read_only(self) -> bool:
        """Whether no workspace can be added here."""
        return self._db.read_only

    @contextmanager
    def write(self) -> Generator[Transaction]:
        """A transaction; the readers of this class see what stood before it."""
        with self._db.write() as tx:
            yield tx

    def having(self, alias: Alias) -> list[Workspace]:
        """Every workspace that answers to `alias`, oldest first."""
        return [self._workspace(row) for row in self._db.read(_HAVING, (alias.kind, storable(alias.value)))]

    def nameless(self) -> list[Workspace]:
        """Every workspace that answers to nothing, so that no call finds it."""
        return [self._workspace(row) for row in self._db.read(_NAMELESS)]

    def aliases(self, workspace: Workspace) -> tuple[Alias, ...]:
        """What `workspace` answers to, in the order it was learnt."""
        return tuple(Alias(AliasKind(kind), value) for kind, value in self._db.read(_ALIASES, (workspace.id,)))

    def known_commits(self, workspace: Workspace) -> frozenset[str]:
        """Commits the repository of `workspace` was seen at."""
        return frozenset(sha for (sha,) in self._db.read(_COMMITS, (workspace.id,)))

    def list(self) -> list[Workspace]:
        """Every workspace, by name."""
        return [self._workspace(row) for row in self._db.read(_ALL)]

    def get(self, name: str) -> Workspace:
        """The workspace of this id, this name, or the only one whose id begins so.

        Raises:
            NotFound: there is none. ScopeError: there are several.
        """
        everyone = self.list()
        for matching in (
            [one for one in everyone if one.id == name],
            [one for one in everyone if one.name == name],
            [one for one in everyone if len(name) >= 4 and one.id.startswith(name)],
        ):
            if len(matching) == 1:
                return matching[0]
            if matching:
                ids = ", ".join(one.id[:12] for one in matching)
                raise ScopeError(f"several workspaces are called {name!r}; name one by its id: {ids}")
        raise NotFound(f"no workspace {name!r}; `memhub-mcp workspaces list` shows what there is")

    def exists(self, workspace: Workspace) -> bool:
        """Whether `workspace` is still registered."""
        return bool(self._db.read(_ONE, (workspace.id,)))

    def create(self, tx: Transaction, name: str, aliases: Iterable[Alias]) -> Workspace:
        """A new workspace that answers to `aliases`. Its folder is made when its store is opened."""
        workspace_id = secrets.token_hex(16)
        shown = storable(name)[:200] or "workspace"
        directory = f"{slug(shown)}-{workspace_id[:16]}"
        tx.run(_INSERT, (workspace_id, shown, directory, to_micros(self._clock())))
        workspace = Workspace(id=workspace_id, name=shown, directory=self._folder / directory)
        for alias in aliases:
            self.add_alias(tx, workspace, alias)
        return workspace

    def add_alias(self, tx: Transaction, workspace: Workspace, alias: Alias) -> None:
        """`workspace` answers to `alias` from now on."""
        tx.run(_ADD_ALIAS, (alias.kind, storable(alias.value), to_micros(self._clock()), workspace.id))

    def drop_alias(self, tx: Transaction, workspace: Workspace, alias: Alias) -> None:
        """`workspace` no longer answers to `alias`."""
        tx.run(_DROP_ALIAS, (alias.kind, storable(alias.value), workspace.id))

    def add_commits(self, tx: Transaction, workspace: Workspace, commits: Iterable[str]) -> None:
        """Note that the repository of `workspace` has `commits`."""
        tx.run_many(_ADD_COMMIT, [(commit, workspace.id) for commit in commits])

    def remove(self, tx: Transaction, workspace: Workspace) -> None:
        """Forget `workspace` and its aliases; its folder is the caller's to delete."""
        tx.run(_REMOVE, (workspace.id,))

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _adopt(self) -> None:
        """Register the stores that lie here already: the registry was lost. What they answer to, a person must say."""
        found: list[tuple[str, str, str, int]] = []
        for file in sorted(self._folder.glob("*/memory.db")):
            try:
                with closing(Database.open(file, expected_id=None, clock=self._clock, read_only=True)) as db:
                    ids = db.read(_ID_IN_STORE)
            except StoreError:
                continue  # `memhub-mcp doctor` names the folder
            directory = file.parent.name
            name = directory.rpartition("-")[0] or directory
            found.extend((workspace_id, name, directory, to_micros(self._clock())) for (workspace_id,) in ids)
        if found:
            with self._db.write() as tx:
                tx.run_many(_ADOPT, found)

    def _workspace(self, row: Row) -> Workspace:
        workspace_id, name, directory = row
        return Workspace(id=workspace_id, name=name, directory=self._folder / directory)


def slug(name: str) -> str:
    """`name` as the readable part of a folder name: at most 40 of `a-z0-9-`."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii").lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].rstrip("-") or "workspace"
