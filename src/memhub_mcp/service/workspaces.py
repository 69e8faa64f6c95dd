"""What a person does with whole workspaces: join two, tell where one is now, delete one. First shown, then done."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.memory import EVERYTHING, Memory, Status
from memhub_mcp.domain.scope import Alias, AliasKind, Workspace
from memhub_mcp.errors import Conflict, ScopeError, StoreError
from memhub_mcp.repo.identity import Repository, discover, root_commits
from memhub_mcp.service.remembering import index_words
from memhub_mcp.service.stores import Stores
from memhub_mcp.settings import Settings
from memhub_mcp.store.connection import Transaction
from memhub_mcp.store.file import Store
from memhub_mcp.store.joining import join
from memhub_mcp.store.workspaces import Workspaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What would be done, or was (`done`): one plain sentence a line; `unreachable`: copies that are not ours."""

    action: str
    done: bool
    workspace: Workspace
    memories: int
    lines: tuple[str, ...]
    unreachable: tuple[str, ...] = ()


class WorkspaceChanges:
    """Changes to the registry and to whole stores. Without `confirm` nothing is changed."""

    def __init__(self, *, settings: Settings, registry: Workspaces, stores: Stores, clock: Clock) -> None:
        self._settings = settings
        self._registry = registry
        self._stores = stores
        self._clock = clock

    def merge(self, into: str, other: str, *, confirm: bool = False) -> Receipt:
        """Everything of workspace `other` (name or id) becomes part of `into`; the emptied file is kept as a backup.

        Raises:
            ScopeError, NotFound: a name is unknown or means several. Conflict: both names mean one workspace.
        """
        target, source = self._registry.get(into), self._registry.get(other)
        if target.id == source.id:
            raise Conflict(f"{into!r} and {other!r} are one workspace already")
        aliases = self._registry.aliases(source)
        count = self._count(source)
        lines = [f"{count} memories of {_named(source)} join the {self._count(target)} of {_named(target)}"]
        lines += [f"{_named(target)} answers to {alias.value} from then on" for alias in aliases]
        if confirm:
            lines = [self._join(target, source), *lines[1:]]
            user = self._stores.user()
            with user.write() as tx:  # what follows the person goes on being told where it was written
                user.memories.move_origin(tx, source.id, target.id, target.name)
            with self._registry.write() as tx:
                for alias in aliases:
                    self._registry.add_alias(tx, target, alias)
                self._registry.add_commits(tx, target, self._registry.known_commits(source))
                self._registry.capture.take_over(tx, target, source, self._clock())
                self._registry.remove(tx, source)
            lines.append(f"the file of {_named(source)} is kept as {self._set_aside(source)}")
        return Receipt(action="merge", done=confirm, workspace=target, memories=count, lines=tuple(lines))

    def move(self, name: str, folder: Path, *, confirm: bool = False) -> Receipt:
        """Workspace `name` is in `folder` now: it answers to what is found there, and no more to paths that are gone.

        Raises:
            ScopeError: the folder is missing or the home directory. Conflict: another workspace is there already.
        """
        workspace = self._registry.get(name)
        folder = folder.resolve()
        home = self._settings.person_home.resolve()
        if not folder.is_dir() or home.is_relative_to(folder):
            raise ScopeError(f"{folder} cannot be a workspace; name the folder of a repository")
        repository = discover(folder, never=(home,), person_home=home)
        new = self._aliases(folder, repository)
        for alias in new:
            for other in self._registry.having(alias):
                if other.id != workspace.id and alias.kind is not AliasKind.ROOT_COMMIT and self._count(other):
                    raise Conflict(
                        f"{alias.value} is where {_named(other)} is; join them with "
                        f"`memhub-mcp workspaces merge {workspace.id[:12]} {other.id[:12]}`"
                    )
        known = self._registry.aliases(workspace)
        gone = [alias for alias in known if alias.kind is AliasKind.PATH and not Path(alias.value).exists()]
        lines = [f"{_named(workspace)} answers to {alias.value}" for alias in new if alias not in known]
        lines += [f"{_named(workspace)} no longer answers to {alias.value}" for alias in gone]
        if confirm:
            with self._registry.write() as tx:
                for alias in new:
                    for other in self._registry.having(alias):
                        if other.id != workspace.id and alias.kind is not AliasKind.ROOT_COMMIT:
                            self._registry.drop_alias(tx, other, alias)
                    self._registry.add_alias(tx, workspace, alias)
                for alias in gone:
                    self._registry.drop_alias(tx, workspace, alias)
        count = self._count(workspace)
        return Receipt(action="move", done=confirm, workspace=workspace, memories=count, lines=tuple(lines))

    def delete(self, name: str, *, confirm: bool = False) -> Receipt:
        """Workspace `name` with all its memories, for good.

        Raises:
            ScopeError, NotFound: the name is unknown or means several.
        """
        workspace = self._registry.get(name)
        try:
            count = self._count(workspace)
            lines = [f"{count} memories of {_named(workspace)} in {workspace.directory}"]
        except StoreError as error:  # what cannot be read can still be deleted
            count, lines = 0, [str(error), f"all of {workspace.directory}"]
        if confirm:
            self._stores.let_go(workspace)
            with self._registry.write() as tx:
                self._registry.remove(tx, workspace)
            shutil.rmtree(workspace.directory, ignore_errors=True)
            if workspace.directory.exists():
                lines.append(f"{workspace.directory} could not be removed wholly; remove what is left by hand")
        unreachable = ("earlier backups", "git itself", "the transcripts of your assistants")
        return Receipt(
            action="delete",
            done=confirm,
            workspace=workspace,
            memories=count,
            lines=tuple(lines),
            unreachable=unreachable,
        )

    def _join(self, target: Workspace, source: Workspace) -> str:
        theirs, ours = self._stores.of(source), self._stores.of(target)
        with theirs.write(), ours.write() as tx:  # nobody adds to what is being taken over
            joined = join(tx, theirs.db)
            for seq, sources in joined.known:
                for one in json.loads(sources):
                    ours.memories.add_source(tx, seq, one)
            for memory in ours.memories.by_seqs(joined.added, reader=tx).values():
                index_words(ours, tx, memory)
            self._supersede(ours, tx, joined.added)
        told = f"{len(joined.added)} memories joined {_named(target)}, {len(joined.known)} were there already"
        return f"{told}, {joined.forgotten} had been forgotten there" if joined.forgotten else told

    def _supersede(self, store: Store, tx: Transaction, added: Sequence[int]) -> None:
        """Of two active memories of one subject in one place the later stays; which is later, the clock must say."""
        for seq, key in store.landings.subjects_of(added, reader=tx):
            memory = store.memories.by_seqs([seq], reader=tx)[seq]
            rivals = store.memories.find_subject(key, memory.tier, memory.branch, reader=tx)
            latest = max(rivals, key=_lateness, default=None)
            for rival in rivals:
                if latest is not None and rival.seq != latest.seq:
                    store.memories.set_status(tx, rival.seq, Status.SUPERSEDED, self._clock())
                    store.memories.link(tx, latest.seq, rival.seq, "supersedes")

    def _set_aside(self, workspace: Workspace) -> Path:
        self._stores.let_go(workspace)
        backups = self._settings.home / "backups"
        backups.mkdir(mode=0o700, exist_ok=True)
        kept = backups / f"merged-{self._clock():%Y%m%dT%H%M%S}-{workspace.directory.name}"
        workspace.directory.rename(kept)
        return kept

    def _count(self, workspace: Workspace) -> int:
        """How many memories it holds; none when it was never written to.

        Raises:
            StoreError: its file cannot be read; the registry alone does not say what would be lost.
        """
        if not workspace.directory.exists():
            return 0
        try:
            return self._stores.of(workspace).memories.count(EVERYTHING)
        except StoreError as error:
            raise StoreError(f"{_named(workspace)} cannot be read: {error}") from error

    def _aliases(self, folder: Path, repository: Repository | None) -> list[Alias]:
        if repository is None:
            return [Alias(AliasKind.PATH, str(folder))]
        found = [repository.remote_alias] if repository.remote_alias else []
        roots = [] if repository.borrows else [Alias(AliasKind.ROOT_COMMIT, root) for root in root_commits(repository)]
        return [*found, *roots, repository.path_alias]


def _named(workspace: Workspace) -> str:
    return f"{workspace.name} ({workspace.id[:12]})"


def _lateness(memory: Memory) -> tuple[float, int]:
    return memory.updated_at.timestamp(), memory.seq
