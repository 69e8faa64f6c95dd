"""Configuration files of other programs: read whole, changed whole, never half-written."""

import contextlib
import difflib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from memhub_mcp.errors import ConfigError
from memhub_mcp.hosts.lines import position_of

_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file as it was read. `text` is None when there is none."""

    path: Path
    text: str | None

    @classmethod
    def read(cls, path: Path) -> "ConfigFile":
        """The file at `path`.

        Raises:
            ConfigError: it is not UTF-8; says line and column.
        """
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return cls(path, None)
        try:
            return cls(path, raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            good = raw[: error.start].decode("utf-8")
            place = position_of(good, len(good))
            raise ConfigError(f"{path}: {place}: not UTF-8") from error

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

    def apply(self, backups: Path) -> Path | None:
        """Make the change; where the file as it was is kept.

        Raises:
            ConfigError: the file is no longer what it was when the change was worked out.
        """
        if ConfigFile.read(self.path).text != self.before:
            raise ConfigError(f"{self.path} was changed by someone else meanwhile; run the command again")
        kept = None if self.before is None else _keep(backups, self.path, self.before)
        if self.after is None:
            self.path.unlink()
            for folder in self.folders:
                with contextlib.suppress(OSError):  # something else is in it by now
                    folder.rmdir()
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _replace(self.path, self.after)
        return kept


def missing_folders(path: Path) -> tuple[Path, ...]:
    """The folders that would have to be made for `path`, innermost first."""
    return tuple(folder for folder in path.parents if not folder.exists())


def _lines(text: str | None) -> list[str]:
    return (text or "").replace("\r\n", "\n").splitlines()


def _replace(path: Path, text: str) -> None:
    # A link (dotfiles kept elsewhere) stays a link: what it points at is replaced.
    target = path.resolve()
    mode = target.stat().st_mode & 0o7777 if target.exists() else 0o644
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    os.close(descriptor)
    temporary = Path(name)
    try:
        temporary.write_bytes(text.encode("utf-8"))
        temporary.chmod(mode)
        temporary.replace(target)
    except OSError:
        temporary.unlink()
        raise


def _keep(backups: Path, path: Path, text: str) -> Path:
    backups.mkdir(mode=0o700, parents=True, exist_ok=True)
    number = 1
    while (copy := backups / f"{path.name}.{number}").exists():
        number += 1
    copy.touch(mode=0o600)
    copy.write_bytes(text.encode("utf-8"))
    return copy
