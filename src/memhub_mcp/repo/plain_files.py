"""Small files read without being fooled: regular files only, never a pipe that blocks, never without a limit."""

import os
import stat
from pathlib import Path

MAX_BYTES = 1 << 20
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)


def read_plain_file(file: Path, *, max_bytes: int = MAX_BYTES) -> bytes | None:
    """The content of a regular file, links followed; None when there is none or it is larger than `max_bytes`."""
    try:
        return _read(os.open(file, _OPEN), max_bytes)
    except (OSError, ValueError):
        return None


def read_beginning(file: Path, most_bytes: int) -> bytes:
    """The first bytes of a regular file, links followed; none when there is no such file."""
    try:
        with os.fdopen(os.open(file, _OPEN), "rb") as handle:
            return handle.read(most_bytes) if stat.S_ISREG(os.fstat(handle.fileno()).st_mode) else b""
    except (OSError, ValueError):
        return b""


def read_inside(root: Path, path: str, *, max_bytes: int = MAX_BYTES) -> bytes | None:
    """The content of the regular file `path` (relative, `/` between its parts) below `root`.

    No component may be a link, `..` or `.git`: what a repository holds decides nothing about what else is read.
    None when there is no such file, it is something else, or it is larger than `max_bytes`.
    """
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.casefold() == ".git" or "\0" in part for part in parts):
        return None
    try:
        if os.open in os.supports_dir_fd and _NOFOLLOW:
            return _read_below(root, parts, max_bytes)
        return _read_checked(root, parts, max_bytes)
    except (OSError, ValueError):
        return None


def is_odd(file: Path) -> bool:
    """Whether something other than a regular file or a folder stands where git expects one of them."""
    try:
        mode = file.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _read_below(root: Path, parts: list[str], max_bytes: int) -> bytes | None:
    folder = os.open(root, os.O_RDONLY | _DIRECTORY)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | _DIRECTORY | _NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return _read(os.open(parts[-1], _OPEN | _NOFOLLOW, dir_fd=folder), max_bytes)
    finally:
        os.close(folder)


def _read_checked(root: Path, parts: list[str], max_bytes: int) -> bytes | None:
    """For systems without `openat`: the file is opened only where no link or junction leads elsewhere."""
    wanted = Path(os.path.realpath(root), *parts)
    if any(":" in part or "\\" in part for part in parts):
        return None
    if os.path.normcase(os.path.realpath(wanted)) != os.path.normcase(wanted):
        return None
    return _read(os.open(wanted, _OPEN), max_bytes)


def _read(descriptor: int, max_bytes: int) -> bytes | None:
    with os.fdopen(descriptor, "rb") as handle:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > max_bytes:
            return None
        data = handle.read(max_bytes + 1)
        return data if len(data) <= max_bytes else None
