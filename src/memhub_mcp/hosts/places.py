"""Where hosts keep their files on this machine."""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memhub_mcp.errors import ConfigError
from memhub_mcp.hosts.records import HOSTS, Host, Place


@dataclass(frozen=True, slots=True)
class HostPlaces:
    """The folders that records refer to. `elsewhere` holds what environment variables move: name → folder.

    `checkout` is the first working tree of the repository, when `project` is another one.
    """

    person_home: Path
    project: Path | None
    elsewhere: Mapping[str, Path]
    platform: str = sys.platform
    checkout: Path | None = None

    @property
    def project_key(self) -> str | None:
        """What hosts call the repository: all its working trees are one to them, on every platform with `/`."""
        place = self.checkout or self.project
        return place.as_posix() if place else None

    def path(self, template: str) -> Path | None:
        """The file or folder a record names; None for a path in the repository when there is none."""
        base, _, rest = template.partition("/")
        folder = self._folder(base)
        return folder / rest if folder is not None and rest else folder

    def file(self, place: Place) -> Path:
        """The file a record names, by its other name when only that exists.

        Raises:
            ConfigError: it is in the repository, and there is none.
        """
        file = self.path(place.path)
        if file is None:
            raise no_repository()
        instead = self.path(place.instead) if place.instead else None
        return instead if instead is not None and instead.exists() and not file.exists() else file

    def found(self) -> list[Host]:
        """The hosts that are on this machine, by a program or a folder of theirs."""
        return [host for host in HOSTS if self._is_here(host)]

    def transcripts(self, host: Host) -> list[Path]:
        """The files and folders that hold the sessions of a host, the oldest first."""
        found: set[Path] = set()
        for template in host.transcripts:
            base, _, pattern = template.partition("/")
            folder = self._folder(base)
            if folder is not None and folder.is_dir():
                found.update(path for path in folder.glob(pattern) if path.is_file() or path.is_dir())
        return sorted(found, key=lambda path: (path.stat().st_mtime_ns, path))

    def _is_here(self, host: Host) -> bool:
        if any(shutil.which(program) for program in host.programs):
            return True
        return any(folder is not None and folder.is_dir() for folder in map(self.path, host.folders))

    def _folder(self, base: str) -> Path | None:
        home = self.person_home
        windows, mac = self.platform == "win32", self.platform == "darwin"
        roaming = self.elsewhere.get("APPDATA", home / "AppData" / "Roaming")
        config = self.elsewhere.get("XDG_CONFIG_HOME", home / ".config")
        claude = self.elsewhere.get("CLAUDE_CONFIG_DIR")
        match base:
            case "~":
                return home
            case ".":
                return self.project
            case "CLAUDE":
                return claude or home / ".claude"
            case "CLAUDE_STATE":
                return claude or home
            case "CODEX":
                return self.elsewhere.get("CODEX_HOME", home / ".codex")
            case "QWEN":
                return self.elsewhere.get("QWEN_HOME", home / ".qwen")
            case "GEMINI":
                return self.elsewhere.get("GEMINI_CLI_HOME", home) / ".gemini"
            case "CONFIG":
                return config
            case "ZED":
                return roaming / "Zed" if windows else home / ".config" / "zed" if mac else config / "zed"
            case "DATA":
                return self.elsewhere.get("XDG_DATA_HOME", home / ".local" / "share")
            case "CURSOR" | "VSCODE":
                support = home / "Library" / "Application Support"
                editor = "Cursor" if base == "CURSOR" else "Code"
                return (roaming if windows else support if mac else config) / editor / "User"
            case _:
                raise ValueError(f"no folder is called {base!r}")


def no_repository() -> ConfigError:
    """What to say where a scope needs a repository."""
    return ConfigError("there is no repository here; run this inside one, or choose --scope user")
