"""Which workspace a call is about: an explicit name first, then what the host says, then where we stand."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memhub_mcp.domain.scope import AliasKind, Caller, Workspace
from memhub_mcp.errors import NotFound, ScopeError
from memhub_mcp.repo.identity import Repository, discover
from memhub_mcp.service.recognition import Recognised, Recognition
from memhub_mcp.settings import Settings
from memhub_mcp.store.workspaces import Workspaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A folder that could be a workspace, and the repository it lies in."""

    folder: Path
    repository: Repository | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The workspace of a call. `chosen`: its folder was named, rather than found by where the call comes from."""

    workspace: Workspace | None
    folder: Path | None = None
    repository: Repository | None = None
    chosen: bool = False
    notes: tuple[str, ...] = ()


class Places:
    """Finds the workspace of each call afresh. Threads may share it."""

    def __init__(self, *, settings: Settings, registry: Workspaces, recognition: Recognition) -> None:
        self._settings = settings
        self._registry = registry
        self._recognition = recognition
        self._never = (settings.person_home,)

    @property
    def process_cwd(self) -> Path:
        """Where this process stands."""
        return self._settings.cwd

    def of_call(self, caller: Caller) -> Place | None:
        """The place of `caller`, registered if it was not; None when there is only the person.

        Raises:
            ScopeError: the workspace named does not exist, cannot be read, or is not this session's.
        """
        if caller.workspace:
            return self._asked_for(caller, caller.workspace)
        named = self._named(caller)
        if named:
            return named
        own = list(self._session_grounds(caller))
        if not own:
            return None
        elsewhere, notes = self._of_paths(caller.paths, own)
        place = self._settled(elsewhere or own[0])
        return replace(place, notes=(*place.notes, *notes))

    def of_file(self, file: Path) -> Place | None:
        """The place of the repository that holds `file`, registered if it was not; None outside any."""
        repository = self._discover(file)
        return self._settled(Ground(folder=repository.root, repository=repository)) if repository else None

    def same_store(self, folder: Path, place: Place) -> Repository | None:
        """The repository that holds `folder`, if it belongs to the store of `place`."""
        if place.repository and folder == place.folder:
            return place.repository
        repository = self._discover(folder)
        if repository is None:
            return None
        if place.repository and place.repository.layout.common_dir == repository.layout.common_dir:
            return repository
        found = self._recognition.find(repository).workspace
        return repository if found and place.workspace and found.id == place.workspace.id else None

    def _session_grounds(self, caller: Caller) -> Iterator[Ground]:
        """Where the session works, the first that answers first. A hint that does not fit is passed over."""
        settings = self._settings
        named = self._named(caller)
        if named and named.folder:
            yield self._ground(named.folder)
        installed = [Path(settings.installed_workspace)] if settings.installed_workspace else []
        for folder in (*([settings.project_dir] if settings.project_dir else []), *caller.roots, *installed):
            if folder.is_absolute() and _is_readable(folder) and not self._refused(folder):
                yield self._ground(folder)
        for folder in (caller.cwd, settings.cwd):
            repository = self._discover(folder) if folder else None
            if folder and repository:
                yield Ground(folder=folder, repository=repository)

    def _asked_for(self, caller: Caller, name: str) -> Place:
        """The workspace a tool call names: one of the session's own, or any when the person allowed it."""
        own = list(self._with_superprojects(self._session_grounds(caller)))
        folder = _as_folder(name, caller.cwd or self._settings.cwd)
        if folder:
            asked = self._checked_ground(folder)
            fitting = next((ground for ground in own if self._same(asked, ground)), None)
            if fitting or self._settings.other_workspaces:
                inside = asked if asked.repository or fitting is None else fitting
                return replace(self._settled(inside), chosen=True)
        else:
            for place in map(self._settled, own):
                if place.workspace and _answers_to(place.workspace, name):
                    return place
            if self._settings.other_workspaces:
                return self._registered(name)
        names = sorted({ground.repository.name if ground.repository else ground.folder.name for ground in own})
        raise ScopeError(
            f"workspace {name[:200]!r} is not one of this session's ({', '.join(names) or 'it has none'}); leave it "
            f"out, or allow others with other_workspaces = true in {self._settings.home / 'config.toml'}"
        )

    def _named(self, caller: Caller) -> Place | None:
        """The workspace the person chose for this connection or this process, by path, name or id."""
        name = caller.named or self._settings.workspace
        if not name:
            return None
        folder = _as_folder(name, self._settings.cwd)
        return replace(self._settled(self._checked_ground(folder)), chosen=True) if folder else self._registered(name)

    def _registered(self, name: str) -> Place:
        try:
            workspace = self._registry.get(name)
        except NotFound as error:
            raise ScopeError(str(error)) from error
        place = Place(workspace=workspace)
        for alias in self._registry.aliases(workspace):
            folder = Path(alias.value)
            if alias.kind is AliasKind.PATH and _is_readable(folder) and self.same_store(folder, place):
                return replace(place, folder=folder)
        return place

    def _of_paths(self, paths: Sequence[str], own: Sequence[Ground]) -> tuple[Ground | None, tuple[str, ...]]:
        """The session's own ground that holds the first absolute path, and notes on paths of other repositories."""
        for path in map(Path, paths):
            repository = self._discover(path) if path.is_absolute() else None
            if repository is None:
                continue
            named = Ground(folder=repository.root, repository=repository)
            fitting = next((ground for ground in own if self._same(named, ground)), None)
            if fitting:
                return fitting, ()
            return None, (f"{path} lies in {repository.name}, another repository, whose memory is not part of this",)
        return None, ()

    def _settled(self, ground: Ground) -> Place:
        found: Recognised
        if ground.repository:
            found = self._recognition.settle(ground.repository)
        else:
            found = self._recognition.settle_folder(ground.folder)
        return Place(workspace=found.workspace, folder=ground.folder, repository=ground.repository, notes=found.notes)

    def _with_superprojects(self, grounds: Iterator[Ground]) -> Iterator[Ground]:
        for ground in grounds:
            yield ground
            repository = ground.repository
            while repository and repository.superproject:
                folder = repository.superproject
                repository = self._discover(folder)
                yield Ground(folder=folder, repository=repository)

    def _same(self, asked: Ground, own: Ground) -> bool:
        if asked.repository is None or own.repository is None:
            return asked.repository is own.repository and asked.folder.is_relative_to(own.folder)
        if asked.repository.layout.common_dir == own.repository.layout.common_dir:
            return True
        one = self._recognition.find(asked.repository).workspace
        other = self._recognition.find(own.repository).workspace
        return one is not None and other is not None and one.id == other.id

    def _checked_ground(self, folder: Path) -> Ground:
        """The ground at a folder somebody named.

        Raises:
            ScopeError: it cannot be a workspace; the text says why.
        """
        real = Path(os.path.realpath(folder))
        if self._refused(real):
            raise ScopeError(
                f"{folder} is your home directory or above it, which is never a workspace; name a repository"
            )
        try:
            with os.scandir(real if stat.S_ISDIR(real.stat().st_mode) else real.parent):
                return self._ground(real)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ScopeError(f"{folder} does not exist; name a folder, or the name of a workspace") from error
        except OSError as error:
            raise ScopeError(f"{folder} cannot be read ({error.strerror}); check its permissions") from error

    def _ground(self, folder: Path) -> Ground:
        real = Path(os.path.realpath(folder))
        return Ground(folder=real if _is_readable(real) else real.parent, repository=self._discover(real))

    def _refused(self, folder: Path) -> bool:
        """Whether `folder` is the person's home, or holds it."""
        home = Path(os.path.realpath(self._settings.person_home))
        return home.is_relative_to(Path(os.path.realpath(folder)))

    def _discover(self, path: Path) -> Repository | None:
        return discover(path, never=self._never, person_home=self._settings.person_home)


def _is_readable(folder: Path) -> bool:
    try:
        with os.scandir(folder):
            return True
    except OSError:
        return False


def _as_folder(name: str, base: Path) -> Path | None:
    """The path that `name` is, or None when it is the name or id of a workspace."""
    text = name.removeprefix("file://")
    if "\0" in text:
        raise ScopeError("a workspace is a path, a name or an id; this is none")
    looks_like_path = text.startswith(("~", ".")) or "/" in text or os.sep in text
    return base / Path(text).expanduser() if looks_like_path else None


def _answers_to(workspace: Workspace, name: str) -> bool:
    return name in (workspace.name, workspace.id) or (len(name) >= 4 and workspace.id.startswith(name))
