"""Where a process can listen for others of the same person."""

import os
import secrets
import stat
import sys
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from memhub_mcp.errors import HomeError

_LONGEST = 100  # bytes of a socket's path; systems allow 104 or 108


def new_address(run: Path) -> str:
    """A fresh address for `multiprocessing.connection`: a socket under `run`, or a named pipe on Windows.

    A socket whose path would be too long lies under the person's runtime directory, in a folder named by a hash of
    `run`. What earlier processes left there is removed: call this only while holding the lock that guards `run`.

    Raises:
        HomeError: there is no place for it.
    """
    token = secrets.token_hex(4)  # short: the temporary folder of a Mac takes half of the path
    if sys.platform == "win32":
        return rf"\\.\pipe\memhub-{token}"
    name = f"models-{token}.sock"
    for folder in _folders(run):
        path = folder / name
        if len(os.fsencode(path)) <= _LONGEST and _made_private(folder):
            for stale in folder.glob("models-*.sock"):
                with suppress(OSError):
                    stale.unlink()
            return str(path)
    raise HomeError(f"there is no place for a socket: {run} is too long a path and no runtime directory is private")


def give_up(address: str, run: Path) -> None:
    """Remove the folder that was made for this address outside of `run`, once nothing listens there.

    Call this, too, only while holding the lock that guards `run`.
    """
    folder = Path(address).parent
    if sys.platform != "win32" and folder != run:
        with suppress(OSError):
            folder.rmdir()


def _folders(run: Path) -> list[Path]:
    digest = sha256(os.fsencode(run)).hexdigest()[:16]
    person = os.getuid()
    runtime = Path(f"/run/user/{person}")
    fallback = [runtime / "memhub" / digest] if runtime.is_dir() else []
    temporary = [Path(tempfile.gettempdir()), Path("/tmp")]
    return [run, *fallback, *(folder / f"memhub-{person}-{digest}" for folder in temporary)]


def _made_private(folder: Path) -> bool:
    """Whether `folder` is, or has become, a directory that only this person may enter."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return ours and not found.st_mode & 0o022
