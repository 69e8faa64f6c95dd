"""Which Markdown files hold what an assistant is told to remember, and whose they are."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from memhub_mcp.hosts.places import HostPlaces
from memhub_mcp.hosts.records import HOSTS, Host

SHARED_SOURCE = "agents-md"
"""The source of files that several assistants read."""

_HERE = "./"
_PROJECT = "{project}"
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9]")
_LONGEST_NAME = 200  # a longer one ends in a hash
_NOTES = ("memory/*.md", "memories/*.md")  # how patterns of notes end: a memory a file, and an index of them
_MARKDOWN = (".md", ".mdc", ".markdown")


class Reach(StrEnum):
    """About whom a file of memories is."""

    PERSON = "person"
    PROJECT = "project"
    REPOSITORY = "repository"


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """A file of memories. One that an assistant keeps about a repository elsewhere has the reach `project`.

    `is_note`: an assistant wrote it, one memory a file.
    """

    path: Path
    reach: Reach
    source: str
    is_note: bool = False


def is_markdown(path: Path) -> bool:
    """Whether a file can be read as Markdown."""
    return path.suffix.lower() in _MARKDOWN or source_in_repository(path.name) is not None


def source_in_repository(relative: str, host: Host | None = None) -> str | None:
    """The source of a file of memories in a repository; None when it is none, or none that `host` reads."""
    readers = [each for each in HOSTS if any(fnmatchcase(relative, name) for name in repository_patterns(each))]
    if not readers or (host is not None and host not in readers):
        return None
    return readers[0].name if len(readers) == 1 else SHARED_SOURCE


def repository_patterns(host: Host) -> list[str]:
    """The patterns of the files in a repository that `host` reads."""
    return [pattern.removeprefix(_HERE) for pattern in host.memories if pattern.startswith(_HERE)]


def is_note_in_repository(relative: str) -> bool:
    """Whether a file in a repository is a note that an assistant wrote."""
    patterns = {pattern for host in HOSTS for pattern in repository_patterns(host) if pattern.endswith(_NOTES)}
    return any(fnmatchcase(relative, pattern) for pattern in patterns)


def own_memories(host: Host, places: HostPlaces, roots: Sequence[Path]) -> list[MemoryPlace]:
    """The files outside of repositories that a host reads to its model: the person's, and those about `roots`."""
    found: list[MemoryPlace] = []
    for pattern in host.memories:
        for filled in _filled(pattern, roots):
            base, _, rest = filled.partition("/")
            folder = places.path(base)
            if filled.startswith(_HERE) or folder is None or not folder.is_dir():
                continue
            reach = Reach.PROJECT if _PROJECT in pattern else Reach.PERSON
            files = sorted(path for path in folder.glob(rest) if path.is_file())
            found += (MemoryPlace(path, reach, host.name, pattern.endswith(_NOTES)) for path in files)
    return list(dict.fromkeys(found))


def own_folders(host: Host, places: HostPlaces, roots: Sequence[Path]) -> set[Path]:
    """The folders outside of repositories, of those that are there, in which `own_memories` looks."""
    found: set[Path] = set()
    for pattern in host.memories:
        for filled in _filled(pattern, roots):
            base, _, rest = filled.partition("/")
            folder = places.path(base)
            if not filled.startswith(_HERE) and folder is not None and folder.is_dir():
                below = rest.rpartition("/")[0]
                found.update(path for path in (folder.glob(below) if below else (folder,)) if path.is_dir())
    return found


def place_of(file: Path, places: HostPlaces) -> MemoryPlace | None:
    """Whose a file outside of the repository is; None when no assistant is known to read it."""
    for host in HOSTS:
        for pattern in host.memories:
            where = None if pattern.startswith(_HERE) else places.path(pattern.replace(_PROJECT, "*"))
            if where is not None and fnmatchcase(file.as_posix(), where.as_posix()):
                reach = Reach.PROJECT if _PROJECT in pattern else Reach.PERSON
                return MemoryPlace(file, reach, host.name, pattern.endswith(_NOTES))
    return None


def _filled(pattern: str, roots: Sequence[Path]) -> Iterator[str]:
    """The pattern for each of the names that Claude Code gives the folders of a repository."""
    if _PROJECT not in pattern:
        yield pattern
        return
    for name in dict.fromkeys(_NOT_IN_NAME.sub("-", str(root)) for root in roots):
        yield pattern.replace(_PROJECT, name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}-*")
