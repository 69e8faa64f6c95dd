"""Where files of memories lie, and how they are called in a store. Paths that a file names are claims."""

import os
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from memhub_mcp.capture.withheld import Withheld
from memhub_mcp.errors import InvalidInput
from memhub_mcp.hosts.memories import (
    MemoryPlace,
    Reach,
    is_markdown,
    is_note_in_repository,
    own_folders,
    place_of,
    repository_patterns,
    source_in_repository,
)
from memhub_mcp.hosts.places import HostPlaces
from memhub_mcp.hosts.records import Host
from memhub_mcp.repo.plain_files import MAX_BYTES
from memhub_mcp.service.scope import Scope

_DEEPEST_IMPORT = 5
_MOST_FOLDERS = 20_000
_HIDDEN_READ = (".claude", ".cursor", ".github", ".windsurf")
_HOME = "~/"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to be read. `name` is how a store calls it, `relative` where it lies in the repository.

    `is_note`: an assistant wrote it, one memory a file. `named`: the person named it. `depth` counts the imports
    that led to it.
    """

    path: Path
    name: str
    reach: Reach
    source: str
    relative: str | None = None
    is_note: bool = False
    named: bool = False
    depth: int = 0


class MemoryPaths:
    """The files around one checkout, if there is one, and in the folders of assistants."""

    def __init__(self, scope: Scope, places: HostPlaces) -> None:
        self._checkout = scope.checkout
        self._places = places

    @property
    def root(self) -> Path:
        """The root of the checkout."""
        assert self._checkout is not None
        return self._checkout.root

    def roots(self) -> list[Path]:
        """The folders under whose names an assistant may keep notes about the repository: this and its first one."""
        checkout = self._checkout
        if checkout is None:
            return []
        first = [checkout.common_dir.parent] if checkout.common_dir.name == ".git" else []
        return [checkout.root, *first]

    def relative(self, file: Path) -> str | None:
        """Where a file lies in the checkout; None when it does not."""
        if self._checkout is None:
            return None
        file = Path(os.path.abspath(file))  # noqa: PTH100 - resolve() would follow links
        for path in (file, Path(os.path.realpath(file.parent), file.name)):
            if path.is_relative_to(self.root):
                return path.relative_to(self.root).as_posix()
        return None

    def inside(self, relative: str, source: str, *, named: bool = False, depth: int = 0) -> FoundFile:
        """A file of the checkout. A link to another file of it stands for that: `CLAUDE.md` for `AGENTS.md`, say."""
        path = self.root / relative
        if path.is_symlink():
            target = posixpath.normpath(posixpath.join(posixpath.dirname(relative), path.readlink().as_posix()))
            if _is_below(target):
                relative, source = target, source_in_repository(target) or source
        is_note = is_note_in_repository(relative)
        return FoundFile(self.root / relative, relative, Reach.REPOSITORY, source, relative, is_note, named, depth)

    def outside(self, place: MemoryPlace, *, depth: int = 0) -> FoundFile:
        """A file elsewhere on this machine."""
        home = self._places.person_home
        path = place.path
        name = f"{_HOME}{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else path.as_posix()
        return FoundFile(path, name, place.reach, place.source, is_note=place.is_note, depth=depth)

    def in_repository(self, host: Host, withheld: Withheld) -> list[FoundFile]:
        """The files of the checkout that a host reads to its model."""
        found = {path for pattern in repository_patterns(host) for path in self._matching(pattern, withheld)}
        ordered = sorted(found, key=lambda path: (path.count("/"), path))
        return [self.inside(path, source_in_repository(path) or host.name) for path in ordered]

    def imported(self, found: FoundFile, name: str) -> FoundFile | None:
        """The file that `found` names to be read with it; None when there is none, or it is no Markdown.

        Raises:
            InvalidInput: it lies where `found` has no say.
        """
        if found.depth >= _DEEPEST_IMPORT or not is_markdown(Path(name)):
            return None
        elsewhere = InvalidInput(f"{found.name} names {name}, which lies outside its folder: left out")
        if found.relative is not None:
            if name.startswith(_HOME) or Path(name).is_absolute():
                raise elsewhere
            target = posixpath.normpath(posixpath.join(posixpath.dirname(found.relative), name))
            if not _is_below(target):
                raise elsewhere
            source = source_in_repository(target) or found.source
            return self.inside(target, source, depth=found.depth + 1) if os.path.lexists(self.root / target) else None
        home = self._places.person_home
        given = home / name.removeprefix(_HOME) if name.startswith(_HOME) else found.path.parent / name
        path = Path(os.path.normpath(given))
        if not path.is_relative_to(found.path.parent):
            raise elsewhere
        place = MemoryPlace(path, found.reach, found.source)
        return self.outside(place, depth=found.depth + 1) if path.is_file() else None

    def missing(self, host: Host, known: list[str]) -> Iterator[FoundFile]:
        """Of the files that stores know, those of `host` that are here no more."""
        own = own_folders(host, self._places, self.roots())
        for name in known:
            if name.startswith(_HOME):
                path = self._places.person_home / name.removeprefix(_HOME)
                place = place_of(path, self._places)
                is_own = place is not None and place.source == host.name and path.parent in own
                if place is not None and is_own and not os.path.lexists(path):
                    yield self.outside(place)
            elif not Path(name).is_absolute() and source_in_repository(name, host) and self._is_gone(name):
                yield FoundFile(self.root / name, name, Reach.REPOSITORY, host.name, name)

    def _is_gone(self, relative: str) -> bool:
        return self._checkout is not None and not os.path.lexists(self.root / relative)

    def _matching(self, pattern: str, withheld: Withheld) -> Iterator[str]:
        fixed, star, _ = pattern.partition("*")
        if not star:
            if os.path.lexists(self.root / pattern):
                yield pattern
            return
        for path in self._walk(fixed.rpartition("/")[0], withheld):
            if fnmatchcase(path, pattern):
                yield path

    def _walk(self, start: str, withheld: Withheld) -> Iterator[str]:
        """The files and links below a folder of the checkout; not in repositories inside, nor where git ignores all."""
        waiting, seen = [start], 0
        while waiting and seen < _MOST_FOLDERS:
            folder = waiting.pop()
            seen += 1
            try:
                entries = sorted(os.scandir(self.root / folder), key=lambda entry: entry.name)
            except OSError:
                continue
            if folder and any(entry.name == ".git" for entry in entries):
                continue
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_symlink() or not entry.is_dir(follow_symlinks=False):
                    yield path
                elif (entry.name[0] != "." or entry.name in _HIDDEN_READ) and not withheld.holds(f"{path}/x"):
                    waiting.append(path)


def why_unread(path: Path) -> str:
    """Why `path` could not be read, as the end of a sentence that it begins."""
    if path.is_symlink():
        return "is a link, which is not followed in a repository; import the file it leads to"
    if not path.exists():
        return "does not exist"
    if not path.is_file():
        return "is no regular file"
    if path.stat().st_size > MAX_BYTES:
        return f"is larger than {MAX_BYTES >> 20} MiB; import a part of it"
    return "cannot be read"


def _is_below(path: str) -> bool:
    """Whether a normalised relative path stays below where it begins."""
    return path not in ("", ".", "..") and not path.startswith(("../", "/"))
