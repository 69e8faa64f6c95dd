"""An exclusive lock between processes, which the system takes back when its holder ends, however it ends."""

import os
import sys
from pathlib import Path

from memhub_mcp.errors import HomeError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FAR = 1 << 30  # Windows locks bytes against reading; this one holds nothing


class ProcessLock:
    """Held until `release` or the end of the process. What the file says of a holder does not decide who holds it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def try_acquire(cls, path: Path) -> "ProcessLock | None":
        """The lock, or None while someone else holds it.

        Raises:
            HomeError: the file cannot be made or locked here.
        """
        while True:
            try:
                for folder in (path.parent.parent, path.parent):  # `parents` alone would leave the home open to others
                    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            except OSError as error:
                raise HomeError(f"the lock file {path} cannot be made ({error.strerror})") from error
            try:
                _lock(descriptor)
            except (BlockingIOError, PermissionError):
                os.close(descriptor)
                return None
            except OSError as error:
                os.close(descriptor)
                raise HomeError(f"files cannot be locked in {path.parent} ({error.strerror})") from error
            if _is_still(path, descriptor):
                lock = cls(descriptor)
                try:
                    lock.write(str(os.getpid()))
                except OSError as error:
                    lock.release()
                    raise HomeError(f"the lock file {path} cannot be written ({error.strerror})") from error
                return lock
            os.close(descriptor)  # removed between open and lock: what we hold is nobody's lock

    def write(self, text: str) -> None:
        """Say something about the holder in the lock file."""
        if self._descriptor is not None:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, f"{text}\n".encode())

    def release(self) -> None:
        """Let the next one have it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
