"""How this memhub is started: the absolute words that a configuration file needs."""

import importlib.metadata
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from memhub_mcp.cli.asking import agreed
from memhub_mcp.errors import InvalidInput

_NAME = "memhub-mcp.exe" if os.name == "nt" else "memhub-mcp"
_CACHED = re.compile(r"(archive|environments|builds)-v\d+")  # wherever UV_CACHE_DIR puts the cache


def own_command() -> tuple[str, ...]:
    """The installed script, else this Python with our module."""
    called = Path(sys.argv[0])
    for script in (called, called.with_name(_NAME), Path(sys.executable).with_name(_NAME)):
        if script.name == _NAME and script.is_file():
            return (os.path.abspath(script),)  # noqa: PTH100 - resolve() would follow the link a tool manager keeps
    found = shutil.which(_NAME)
    return (found,) if found else (sys.executable, "-m", "memhub_mcp")


def is_passing(command: tuple[str, ...]) -> bool:
    """Whether the script stands in a cache of uv, which may clear it away."""
    return any(_CACHED.fullmatch(part) for part in Path(command[0]).parts)


def settle(command: tuple[str, ...], *, yes: bool, dry_run: bool) -> tuple[str, ...]:
    """A command that stays: from a cache of uv, the person is first offered `uv tool install`.

    Raises:
        InvalidInput: the command may be cleared away and the person, or nobody, agreed to install it.
    """
    if not is_passing(command) or dry_run:
        return command
    source = _source()
    advice = f"uv tool install {shlex.quote(source)}"
    offer = f"{command[0]} stands in uv's cache, which may clear it away. Run `{advice}` first?"
    uv = shutil.which("uv")
    if uv is None or not agreed(offer, yes=yes):
        raise InvalidInput(f"{command[0]} stands in uv's cache, which may clear it away; first run: {advice}")
    try:
        subprocess.run([uv, "tool", "install", "--quiet", source], check=True, stdout=sys.stderr)
        told = subprocess.run([uv, "tool", "dir", "--bin"], check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        raise InvalidInput(f"uv could not install it (exit {error.returncode}); nothing was changed") from error
    folder = told.stdout.strip()
    return (str(Path(folder) / _NAME),)


def _source() -> str:
    """What this memhub was installed from."""
    distribution = importlib.metadata.distribution("memhub-mcp")
    origin = json.loads(distribution.read_text("direct_url.json") or "{}").get("url", "")
    if origin.startswith("file://"):
        return url2pathname(urlsplit(origin).path)
    return origin or f"memhub-mcp=={distribution.version}"
