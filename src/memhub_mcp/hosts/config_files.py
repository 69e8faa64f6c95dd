"""Configuration files of other programs: read whole, changed whole, never half-written."""

import contextlib
import difflib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memhub_mcp.errors import ConfigError
from memhub_mcp.hosts.lines import position_of

_BOM = "\ufeff"
_NEW_FILE = 0o644
_OWNER_WRITES = 0o200


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file as it was read. `text` is None when there is none."""

    path: Path
    text: str | None

    @classmethod
    def read(cls, path: Path) -> "ConfigFile":
        """The file at `path`.

        Raises:
            ConfigError: it cannot be read, or is not UTF-8; says line and column.
        """
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return cls(path, None)
        except OSError as error:
            raise ConfigError(f"{path} cannot be read ({error.strerror or error}); nothing was changed") from error
        try:
            return cls(path, raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            good = raw[: error.start].decode("utf-8")
            place = position_of(good, len(good))
            raise ConfigError(f"{path}: {place}: not UTF-8; nothing was changed") from error

    @property
    def mark(self) -> str:
        """The byte order mark, if it begins with one."""
        return _BOM if self.text and self.text.startswith(_BOM) else ""

    @property
    def body(self) -> str:
        """The text without its byte order mark."""
        return (self.text or "").removeprefix(_BOM)


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after; None is no file. `folders` are made before writing, or removed after deleting."""

    path: Path
    before: str | None
    after: str | None
    folders: tuple[Path, ...] = ()

    def diff(self) -> str:
        """The change as a person reviews it."""
        old, new = (_lines(text) for text in (self.before, self.after))
        return "\n".join(difflib.unified_diff(old, new, str(self.path), str(self.path), lineterm=""))

    def check(self) -> None:
        """That the change can be made.

        Raises:
            ConfigError: the file is no longer what it was when the change was worked out, or is read-only.
        """
        if ConfigFile.read(self.path).text != self.before:
            raise ConfigError(f"{self.path} was changed by someone else meanwhile; run the command again")
        # Replacing a file asks only its folder: what the person or a tool of theirs protected would be overwritten.
        if self.before is not None and not self.path.stat().st_mode & _OWNER_WRITES:
            raise ConfigError(f"{self.path} is read-only; make it writable, or change it where it is generated")

    def apply(self) -> None:
        """Make the change.

        Raises:
            ConfigError: the file cannot be written.
        """
        # A link (dotfiles kept elsewhere) stays a link: what it points at is changed.
        target = self.path.resolve()
        try:
            if self.after is None:
                target.unlink(missing_ok=True)
                for folder in self.folders:
                    with contextlib.suppress(OSError):  # something else is in it by now
                        folder.rmdir()
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                _replace(target, self.after)
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be written ({error.strerror or error})") from error

    def reversed(self) -> "FileChange":
        """The change that takes this one back."""
        return FileChange(self.path, self.after, self.before, self.folders)


def apply_all(changes: Sequence[FileChange], backups: Path) -> list[Path]:
    """Make all changes or none; where the files as they were are kept.

    Raises:
        ConfigError: one of them could not be made.
    """
    for change in changes:
        change.check()
    kept = [_keep(backups, change.path, change.before) for change in changes if change.before is not None]
    made: list[FileChange] = []
    try:
        for change in changes:
            change.check()
            change.apply()
            made.append(change)
    except ConfigError:
        for change in reversed(made):
            change.reversed().apply()
        raise
    return kept


def missing_folders(path: Path) -> tuple[Path, ...]:
    """The folders that would have to be made for `path`, innermost first."""
    return tuple(folder for folder in path.resolve().parents if not folder.exists())


def _lines(text: str | None) -> list[str]:
    return (text or "").replace("\r\n", "\n").splitlines()


def _replace(target: Path, text: str) -> None:
    former = target.stat() if target.exists() else None
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    os.close(descriptor)
    temporary = Path(name)
    try:
        temporary.write_bytes(text.encode("utf-8"))
        if former and hasattr(os, "chown"):
            with contextlib.suppress(PermissionError):  # only root gives files away, and only root has to
                os.chown(temporary, former.st_uid, former.st_gid)
        temporary.chmod(former.st_mode & 0o7777 if former else _NEW_FILE)
        temporary.replace(target)
    except OSError:
        temporary.unlink()
        raise


def _keep(backups: Path, path: Path, text: str) -> Path:
    backups.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{path.parent.name.lstrip('.')}-{path.name}"
    number = 1
    while True:
        copy = backups / f"{name}.{number}"
        try:
            descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        except FileExistsError:
            number += 1
            continue
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8"))
        return copy
