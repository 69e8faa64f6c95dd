"""The data directory is the user's alone."""

import os
import stat
from pathlib import Path

from memhub_mcp.errors import HomeError
from memhub_mcp.store.folders import make_private

_REGISTRY = "workspaces.db"
_MADE_HERE = frozenset(
    {"backups", "capture.json", "config.toml", "eval", "installs.json", "logs", "models", "run", "spool", "user"}
)


def is_data_directory(home: Path) -> bool:
    """Whether `home` is plainly a data directory of memhub: it has our registry, or nothing but what we make."""
    names = {entry.name for entry in home.iterdir()} if home.is_dir() else set[str]()
    return _REGISTRY in names or (bool(names) and names <= _MADE_HERE)


def prepare_home(home: Path) -> tuple[str, ...]:
    """Make `home` exist and private; what had to be tightened, in words.

    Raises:
        HomeError: it belongs to somebody else, is no folder, or cannot be made.
    """
    if hasattr(os, "umask"):
        os.umask(0o077)  # before the first file: databases and sockets inherit it
    try:
        make_private(home)
        found = home.stat()
    except OSError as error:
        raise HomeError(
            f"{home} cannot be used as data directory ({error.strerror}); choose another with --home"
        ) from error
    if not stat.S_ISDIR(found.st_mode):
        raise HomeError(f"{home} is not a folder; choose another data directory with --home")
    if not hasattr(os, "getuid"):
        return ()  # Windows: the profile folder's access list rules
    if found.st_uid != os.getuid():
        raise HomeError(f"{home} belongs to another user (uid {found.st_uid}); choose another with --home")
    if found.st_mode & 0o077 and os.access(home, os.W_OK):
        home.chmod(0o700)
        return (f"{home} was open to others; it is yours alone now",)
    return ()
