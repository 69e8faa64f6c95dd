"""Which store a repository or a folder belongs to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memhub_mcp.domain.scope import Alias, AliasKind, Workspace
from memhub_mcp.errors import RepoError
from memhub_mcp.repo.identity import Repository, recent_commits, root_commits, shares_commit
from memhub_mcp.service.stores import Stores
from memhub_mcp.store.workspaces import Workspaces, slug

_COMPARED_COMMITS = 1_000  # of a shallow clone with what a store knows


@dataclass(frozen=True, slots=True)
class Recognised:
    """The workspace of a place, None when it has none yet; `notes` name others that could be mistaken for it."""

    workspace: Workspace | None
    notes: tuple[str, ...] = ()


class Recognition:
    """Compares what a repository shows (remote, first commits, path) with what each store answers to.

    What only one of them says is not believed: a remote counts with a commit in common, a first commit when the
    remotes do not differ, a path while one side has no commit or a first commit is shared.
    """

    def __init__(self, registry: Workspaces, stores: Stores) -> None:
        self._registry = registry
        self._stores = stores

    def find(self, repository: Repository) -> Recognised:
        """The workspace `repository` belongs to, if it is known already."""
        try:
            return _Comparison(self._registry, self._stores, repository).result()
        except RepoError as error:  # commits are missing: what cannot be read is known by where it lies
            return _Comparison(self._registry, self._stores, replace(repository, limited=str(error))).result()

    def find_folder(self, folder: Path) -> Recognised:
        """The workspace of a folder outside any repository, if it is known already."""
        known = self._registry.having(_path_alias(folder))
        return Recognised(known[-1] if known else None)

    def settle(self, repository: Repository) -> Recognised:
        """The workspace of `repository`, made when there is none; it answers to all that is shown from now on."""
        try:
            return self._settle(repository)
        except RepoError as error:
            return self._settle(replace(repository, limited=str(error)))

    def settle_folder(self, folder: Path) -> Recognised:
        """The workspace of a folder outside any repository, made when there is none."""
        found = self.find_folder(folder)
        if found.workspace:
            return found
        if self._registry.read_only:
            return Recognised(None, (_NOT_WRITABLE,))
        with self._registry.write() as tx:
            found = self.find_folder(folder)
            workspace = found.workspace or self._registry.create(tx, folder.name, [_path_alias(folder)])
        return Recognised(workspace)

    def _settle(self, repository: Repository) -> Recognised:
        found = self.find(repository)
        if self._registry.read_only:
            return found if found.workspace else Recognised(None, (*found.notes, _NOT_WRITABLE))
        if found.workspace and not self._unknown(found.workspace, repository):
            return found
        roots = () if repository.borrows else root_commits(repository)  # a walk: made before the registry is locked
        with self._registry.write() as tx:
            found = self.find(repository)
            aliases = [*_aliases(repository), *(Alias(AliasKind.ROOT_COMMIT, root) for root in roots)]
            if found.workspace is None:
                workspace = self._registry.create(tx, repository.name, aliases)
            else:
                workspace = found.workspace
                for alias in aliases:
                    self._registry.add_alias(tx, workspace, alias)
            if repository.shallow:
                self._registry.add_commits(tx, workspace, recent_commits(repository, 1))
        return Recognised(workspace, found.notes)

    def _unknown(self, workspace: Workspace, repository: Repository) -> bool:
        """Whether `repository` shows something `workspace` does not answer to yet."""
        aliases = self._registry.aliases(workspace)
        if any(alias not in aliases for alias in _aliases(repository)):
            return True
        if repository.limited or repository.borrows or not repository.born:
            return False
        if repository.shallow:
            return not self._registry.known_commits(workspace).issuperset(recent_commits(repository, 1))
        return not shares_commit(repository, [one.value for one in aliases if one.kind is AliasKind.ROOT_COMMIT])


_NOT_WRITABLE = "the data directory can only be read, and this place has no memory in it yet"


class _Comparison:
    """One repository beside the stores of the registry."""

    def __init__(self, registry: Workspaces, stores: Stores, repository: Repository) -> None:
        self._registry = registry
        self._stores = stores
        self._repository = repository

    def result(self) -> Recognised:
        workspace = self._by_path_alone() if self._repository.limited else self._by_what_is_shared()
        return Recognised(workspace, self._notes(workspace))

    def _by_what_is_shared(self) -> Workspace | None:
        repository = self._repository
        for alias in (repository.remote_alias, self._cloned_from(), repository.path_alias):
            for workspace in self._having(alias):
                if self._shares(workspace):
                    return workspace
        return self._by_root_commit() or self._by_path_before_any_commit()

    def _cloned_from(self) -> Alias | None:
        """The path alias of the repository on this machine that this one is a clone of."""
        remote = self._repository.remote or ""
        return Alias(AliasKind.PATH, remote.removeprefix("file:")) if remote.startswith("file:") else None

    def _by_root_commit(self) -> Workspace | None:
        """The only store with the same first commit whose remotes do not speak against it."""
        if self._repository.borrows:
            return None
        fitting = {
            workspace.id: workspace
            for root in root_commits(self._repository)
            for workspace in self._registry.having(Alias(AliasKind.ROOT_COMMIT, root))
            if self._repository.remote is None or not self._remotes(workspace)
        }
        return next(iter(fitting.values())) if len(fitting) == 1 else None

    def _by_path_before_any_commit(self) -> Workspace | None:
        for workspace in reversed(self._having(self._repository.path_alias)):
            if not self._repository.born or not self._commits(workspace):
                return workspace
        return None

    def _by_path_alone(self) -> Workspace | None:
        """For a repository that cannot be read: its path, else the remote of a store that never saw a commit either."""
        by_path = self._having(self._repository.path_alias)
        if by_path:
            return by_path[-1]
        return next((one for one in self._having(self._repository.remote_alias) if not self._commits(one)), None)

    def _shares(self, workspace: Workspace) -> bool:
        """Whether the repository holds a commit of `workspace`, in objects of its own."""
        repository = self._repository
        if repository.borrows:
            return repository.path_alias in self._registry.aliases(workspace) and shares_commit(
                repository, self._commits(workspace)
            )
        if shares_commit(repository, self._commits(workspace)):
            return True
        return repository.shallow and self._knows(workspace, recent_commits(repository, _COMPARED_COMMITS))

    def _knows(self, workspace: Workspace, commits: Sequence[str]) -> bool:
        """Whether the store of `workspace` has indexed one of `commits`, or seen a branch or HEAD there."""
        store = self._stores.of(workspace)
        seen = {*store.landings.heads(), *(watch.tip for watch in store.landings.watched().values())}
        return not seen.isdisjoint(commits) or bool(store.commits.known(commits))

    def _commits(self, workspace: Workspace) -> list[str]:
        roots = [alias.value for alias in self._registry.aliases(workspace) if alias.kind is AliasKind.ROOT_COMMIT]
        return [*roots, *self._registry.known_commits(workspace)]

    def _remotes(self, workspace: Workspace) -> list[str]:
        return [alias.value for alias in self._registry.aliases(workspace) if alias.kind is AliasKind.REMOTE]

    def _having(self, alias: Alias | None) -> list[Workspace]:
        return self._registry.having(alias) if alias else []

    def _notes(self, found: Workspace | None) -> tuple[str, ...]:
        notes: list[str] = []
        for other in _others(self._having(self._repository.remote_alias), found):
            notes.append(
                f"workspace {other.name!r} ({other.id[:12]}) has the same remote but shows no commit in common: "
                "it stays apart (`memhub-mcp workspaces merge` joins the two if they are one)"
            )
        if self._repository.upstream:
            for other in _others(self._having(Alias(AliasKind.REMOTE, self._repository.upstream)), found):
                notes.append(
                    f"a fork: its upstream is workspace {other.name!r} ({other.id[:12]}), which is not searched"
                )
        name = slug(self._repository.name)
        for other in _others([one for one in self._registry.nameless() if slug(one.name) == name], found):
            notes.append(
                f"workspace {other.name!r} ({other.id[:12]}) answers to no repository, as after the loss of "
                f"workspaces.db; if it is this one: `memhub-mcp workspaces move {other.id[:12]} . --yes`"
            )
        return tuple(notes)


def _others(workspaces: Iterable[Workspace], found: Workspace | None) -> list[Workspace]:
    return [workspace for workspace in workspaces if found is None or workspace.id != found.id]


def _aliases(repository: Repository) -> list[Alias]:
    return [alias for alias in (repository.remote_alias, repository.path_alias) if alias]


def _path_alias(folder: Path) -> Alias:
    return Alias(AliasKind.PATH, str(folder))
