"""How this memhub is started: the absolute words that a configuration file needs."""

import os
import shutil
import sys
from pathlib import Path

_NAME = "memhub-mcp.exe" if os.name == "nt" else "memhub-mcp"


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
    parts = Path(command[0]).parts
    return any(part.startswith(("archive-v", "environments-v", "builds-v")) for part in parts) and "uv" in parts
