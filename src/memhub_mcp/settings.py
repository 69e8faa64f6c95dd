"""The only reader of the environment and of config.toml."""

import os
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_data_dir

from memhub_mcp.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the person, the host and our installer decided."""

    home: Path
    """The data directory. `--home`, else MEMHUB_HOME, else the platform's user data directory."""

    project_dir: Path | None = None
    """CLAUDE_PROJECT_DIR: the folder Claude Code works in."""

    host_session: str | None = None
    """CLAUDE_CODE_SESSION_ID: the conversation that started this process, as its hooks name it too."""

    in_assistant: bool = False
    """Whether a shell of an assistant started this process: CLAUDECODE, CODEX_THREAD_ID, CODEX_SANDBOX, CODEX_CI,
    CURSOR_AGENT or GEMINI_CLI is set. What is typed there is not taken for the person's own word."""

    workspace: str | None = None
    """`--workspace`: a path or the name of a workspace, for every call of this process."""

    installed_workspace: str | None = None
    """MEMHUB_WORKSPACE, written by our installer for hosts that start us elsewhere."""

    cwd: Path
    """Where this process stands."""

    person_home: Path
    """The person's home directory: never a workspace."""

    embedder: str = "minilm"
    """`embedder` in config.toml: which model embeds. `minilm` comes with the package, `multilingual` with the extra of
    that name, `bge-m3` with `models pull bge-m3`; `off` turns meaning off."""

    reranker: str | None = None
    """`reranker` in config.toml: which cross-encoder reorders, `bge-reranker-v2-m3` once pulled; none by default."""

    fusion: Literal["score", "rrf"] = "score"
    """`fusion` in config.toml: how words and meaning become one order, by `score`, or by rank alone (`rrf`)."""

    threads: int = 2
    """`threads` in config.toml: how many threads a model may use."""

    budget_tokens: int = 2_000
    """`budget_tokens` in config.toml: how large a reply is unless the call says otherwise (at most 8000)."""

    model_idle_s: float = 300.0
    """`model_idle_s` in config.toml: after how many idle seconds a model leaves memory."""

    other_workspaces: bool = False
    """`other_workspaces` in config.toml: whether a tool call may name a workspace that is not the session's."""

    capture: str = "edits"
    """`capture` in config.toml: what hooks may record where nothing else was said, `off`, `edits` or `all`. It holds
    until the file changes; see `CaptureSetting`."""

    models_dir: Path | None = None
    """MEMHUB_MODELS_DIR or `models_dir` in config.toml: a folder of prepared models, instead of <home>/models."""

    model_mirror: str | None = None
    """MEMHUB_MODEL_MIRROR or HF_ENDPOINT: where models are fetched from; digests stay the same."""

    host_folders: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """CLAUDE_CONFIG_DIR, CODEX_HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, APPDATA: where assistants keep files, if set."""

    plain: bool = False
    """NO_COLOR: no colours, on a terminal either."""

    offline: bool = False
    """MEMHUB_OFFLINE or HF_HUB_OFFLINE: never fetch anything."""


_FROM_FILE: dict[str, type | tuple[type, ...]] = {
    "embedder": str,
    "reranker": str,
    "fusion": str,
    "threads": int,
    "budget_tokens": int,
    "model_idle_s": (int, float),
    "other_workspaces": bool,
    "capture": str,
    "models_dir": str,
}

_CHOICES = {"capture": ("off", "edits", "all"), "fusion": ("score", "rrf")}

_ASSISTANT_SHELLS = ("CLAUDECODE", "CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_CI", "CURSOR_AGENT", "GEMINI_CLI")
_HOST_FOLDERS = (
    "APPDATA",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "QWEN_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)


def load_settings(
    *,
    home: str | Path | None = None,
    workspace: str | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Settings:
    """The settings of this process: arguments before environment before config.toml before defaults.

    Raises:
        InvalidInput: config.toml does not parse, or a value has the wrong type; the text names file and key.
    """
    env = os.environ if environ is None else environ
    where = home or env.get("MEMHUB_HOME") or user_data_dir("memhub", appauthor=False)
    data_dir = Path(os.path.abspath(Path(where).expanduser()))  # noqa: PTH100 - resolve() would follow links
    values = _read_config(data_dir / "config.toml")
    models_dir = env.get("MEMHUB_MODELS_DIR") or values.pop("models_dir", None)
    return Settings(
        home=data_dir,
        project_dir=_path(env.get("CLAUDE_PROJECT_DIR")),
        host_session=env.get("CLAUDE_CODE_SESSION_ID") or None,
        in_assistant=any(env.get(name) for name in _ASSISTANT_SHELLS),
        workspace=workspace,
        installed_workspace=_filled_in(env.get("MEMHUB_WORKSPACE")),
        cwd=cwd or standing_in(),
        person_home=Path.home(),
        models_dir=_path(models_dir),
        model_mirror=env.get("MEMHUB_MODEL_MIRROR") or env.get("HF_ENDPOINT") or None,
        host_folders={name: Path(env[name]) for name in _HOST_FOLDERS if env.get(name)},
        plain=bool(env.get("NO_COLOR")),
        offline=_truthy(env.get("MEMHUB_OFFLINE")) or _truthy(env.get("HF_HUB_OFFLINE")),
        **values,
    )


def standing_in() -> Path:
    """The folder this process was started in; the person's home, which is no workspace, where that is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path.home()


class CaptureSetting:
    """`capture` as config.toml says it now: a server that runs for days must not go on recording once it is off."""

    def __init__(self, settings: Settings) -> None:
        self._file = settings.home / "config.toml"
        self._level = settings.capture
        self._seen = self._stamp()

    def read(self) -> tuple[str, datetime]:
        """The level, and when the file was last written. While the file cannot be understood, what it said before."""
        stamp = self._stamp()
        if stamp != self._seen:
            with suppress(InvalidInput):
                self._level = _read_config(self._file).get("capture", "edits")
            self._seen = stamp
        return self._level, datetime.fromtimestamp(stamp[0] / 1e9, UTC)

    def _stamp(self) -> tuple[int, int]:
        try:
            found = self._file.stat()
        except OSError:
            return (0, 0)
        return found.st_mtime_ns, found.st_size


def _read_config(file: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read ({error.strerror}); check its permissions") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} is not valid TOML ({error}); correct or remove it") from error
    for key, value in found.items():
        expected = _FROM_FILE.get(key)
        if expected is None:
            raise InvalidInput(f"{file} has an unknown setting {key!r}; known: {', '.join(sorted(_FROM_FILE))}")
        if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
            raise InvalidInput(f"{file}: {key} has the wrong type ({type(value).__name__}); correct it")
    for key, choices in _CHOICES.items():
        if key in found and found[key] not in choices:
            raise InvalidInput(f"{file}: {key} is one of {', '.join(choices)}")
    return found


def _path(value: str | None) -> Path | None:
    return Path(value) if value else None


def _filled_in(value: str | None) -> str | None:
    """A host that does not know `${workspaceFolder}` hands it on as it is."""
    return value if value and "${" not in value else None


def _truthy(value: str | None) -> bool:
    return (value or "").strip().lower() in ("1", "true", "yes", "on")
