"""What was installed where: enough to undo it exactly. Kept in `<home>/installs.json`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from memhub_mcp.errors import ConfigError
from memhub_mcp.hosts.edits import Trace
from memhub_mcp.hosts.records import InstallScope

_FILE = "installs.json"


@dataclass(frozen=True, slots=True)
class InstalledFile:
    """A file with pieces of ours. `fresh`: it was missing or blank before, `former` is what stood in it then.

    `folders` were made for it, innermost first.
    """

    path: Path
    traces: tuple[Trace, ...]
    fresh: bool = False
    former: str | None = None
    folders: tuple[Path, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """For the record."""
        return {
            "path": str(self.path),
            "fresh": self.fresh,
            "former": self.former,
            "folders": [str(folder) for folder in self.folders],
            "traces": [trace.to_json() for trace in self.traces],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "InstalledFile":
        """What `to_json` wrote."""
        return cls(
            path=Path(data["path"]),
            fresh=data["fresh"],
            former=data["former"],
            folders=tuple(Path(folder) for folder in data["folders"]),
            traces=tuple(Trace.from_json(trace) for trace in data["traces"]),
        )


@dataclass(frozen=True, slots=True)
class Installation:
    """One host in one scope; `project` is the repository for all scopes but the user's."""

    host: str
    scope: InstallScope
    project: Path | None
    command: tuple[str, ...] = ()
    files: tuple[InstalledFile, ...] = ()

    @property
    def place(self) -> tuple[str, InstallScope, Path | None]:
        """What makes it this installation."""
        return (self.host, self.scope, self.project)


@dataclass(frozen=True, slots=True)
class Installations:
    """All that is recorded in a data directory."""

    home: Path
    known: tuple[Installation, ...] = field(default=())

    @classmethod
    def read(cls, home: Path) -> "Installations":
        """The record; empty when nothing was installed from this data directory.

        Raises:
            ConfigError: the record is damaged.
        """
        file = home / _FILE
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            return cls(home, tuple(_from_json(one) for one in cast("list[Any]", data)))
        except FileNotFoundError:
            return cls(home)
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{file} is damaged ({error}); remove it, then install again") from error

    def find(self, place: tuple[str, InstallScope, Path | None]) -> Installation | None:
        """The installation at a place."""
        return next((one for one in self.known if one.place == place), None)

    def files_of_others(self, place: tuple[str, InstallScope, Path | None]) -> list[InstalledFile]:
        """The files of all installations but the one at a place."""
        return [file for one in self.known if one.place != place for file in one.files]

    def with_one(self, installation: Installation) -> "Installations":
        """The record with an installation put in, in place of the former one."""
        return replace(self.without(installation.place), known=(*self.without(installation.place).known, installation))

    def without(self, place: tuple[str, InstallScope, Path | None]) -> "Installations":
        """The record with an installation taken out."""
        return replace(self, known=tuple(one for one in self.known if one.place != place))

    def write(self) -> None:
        """Keep the record; an empty one leaves no file."""
        file = self.home / _FILE
        if not self.known:
            file.unlink(missing_ok=True)
            return
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = file.with_suffix(".tmp")
        temporary.unlink(missing_ok=True)
        temporary.touch(mode=0o600)
        temporary.write_text(json.dumps([_to_json(one) for one in self.known], indent=1) + "\n", encoding="utf-8")
        temporary.replace(file)


def _to_json(one: Installation) -> dict[str, Any]:
    return {
        "host": one.host,
        "scope": one.scope,
        "project": str(one.project) if one.project else None,
        "command": list(one.command),
        "files": [file.to_json() for file in one.files],
    }


def _from_json(data: Mapping[str, Any]) -> Installation:
    return Installation(
        host=data["host"],
        scope=InstallScope(data["scope"]),
        project=Path(data["project"]) if data["project"] else None,
        command=tuple(data["command"]),
        files=tuple(InstalledFile.from_json(file) for file in data["files"]),
    )
