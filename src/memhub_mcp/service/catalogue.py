"""The workspaces of a data directory, read without changing any."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.memory import Filter
from memhub_mcp.domain.scope import Alias, AliasKind, Workspace
from memhub_mcp.errors import MemhubError, OlderStore
from memhub_mcp.service.stores import USER
from memhub_mcp.store.file import Store
from memhub_mcp.store.workspaces import Workspaces

Opened = TypeVar("Opened", Workspaces, Store)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One workspace. `fault` says why its store cannot be read; the counts are 0 then.

    `damaged` has one line for each row that cannot be understood, `warnings` what is unusual about the file.
    """

    workspace: Workspace
    aliases: tuple[Alias, ...]
    memories: int = 0
    commits: int = 0
    size_bytes: int = 0
    damaged: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    fault: str | None = None

    @property
    def places(self) -> list[str]:
        """Where it is on this machine, and where it comes from."""
        return [alias.value for alias in self.aliases if alias.kind is not AliasKind.ROOT_COMMIT]


def catalogue(home: Path, clock: Clock) -> list[Entry]:
    """Every workspace, by name; empty when there is no registry yet.

    Raises:
        StoreError: the registry cannot be read.
    """
    if not (home / "workspaces.db").exists():
        return []
    registry = _for_reading(lambda read_only: Workspaces(home, clock, read_only=read_only))
    try:
        return [_entry(workspace, registry.aliases(workspace), clock) for workspace in registry.list()]
    finally:
        registry.close()


def user_entry(home: Path, clock: Clock) -> Entry | None:
    """The store that follows the person; None when there is none yet."""
    workspace = Workspace(id=USER, name=USER, directory=home / USER)
    return _entry(workspace, (), clock) if workspace.directory.exists() else None


def strays(home: Path, known: list[Entry]) -> Iterator[Path]:
    """Folders of stores that no workspace refers to."""
    directories = {entry.workspace.directory for entry in known}
    for file in sorted((home / "workspaces").glob("*/memory.db")):
        if file.parent not in directories:
            yield file.parent


def _for_reading(open_file: Callable[[bool], Opened]) -> Opened:
    """The file, read only; one that an earlier memhub wrote is brought up to date first."""
    try:
        return open_file(True)
    except OlderStore:
        open_file(False).close()
        return open_file(True)


def _entry(workspace: Workspace, aliases: tuple[Alias, ...], clock: Clock) -> Entry:
    if not workspace.directory.exists():
        return Entry(workspace=workspace, aliases=aliases)  # it was never written to
    size = sum(file.stat().st_size for file in workspace.directory.iterdir() if file.is_file())
    try:
        store = _for_reading(lambda read_only: Store.open(workspace.directory, workspace, clock, read_only))
    except MemhubError as error:
        return Entry(workspace=workspace, aliases=aliases, size_bytes=size, fault=str(error))
    try:
        return Entry(
            workspace=workspace,
            aliases=aliases,
            memories=store.memories.count(Filter(anchors=None)),
            commits=store.commits.count(),
            size_bytes=size,
            damaged=tuple(store.damaged_rows()),
            warnings=store.db.warnings,
        )
    finally:
        store.close()
