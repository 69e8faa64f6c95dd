"""Sessions that ended are remembered by a process of its own, when their transcripts are too long to wait for."""

import os
import subprocess
import sys
import time
from pathlib import Path

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.settings import load_settings

_AGAIN_AFTER_S = 600.0  # one that did not come to an end is followed by another then, and not with every command
_GENTLY = 10
_MARKER = "settling"


def settle_later(home: Path) -> None:
    """Begin such a process, unless one began a short time ago. Nobody waits for it, nobody hears of it."""
    begun = home / "run" / _MARKER
    try:
        # A time that is still to come was written before the clock was put back.
        if begun.exists() and 0 <= time.time() - begun.stat().st_mtime < _AGAIN_AFTER_S:
            return
        begun.parent.mkdir(mode=0o700, exist_ok=True)
        begun.touch(mode=0o600)
        # -P: a module in the folder where a person stands is not ours to run.
        command = [sys.executable, "-P", "-m", __name__, str(home)]
        quiet = subprocess.DEVNULL
        if sys.platform == "win32":
            flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
            subprocess.Popen(command, cwd=home, stdin=quiet, stdout=quiet, stderr=quiet, creationflags=flags)
        else:
            subprocess.Popen(command, cwd=home, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    except OSError:
        return  # no room, no process to be had: a server or `init` does it, or the next command


def main() -> None:
    """Remember every session that ended in the data directory that the command line names."""
    home = Path(sys.argv[1])
    if hasattr(os, "nice"):
        os.nice(_GENTLY)
    hub = open_hub(load_settings(home=home))
    try:
        hub.maintenance.end_sessions()
        if not hub.maintenance.sessions_wait():
            (home / "run" / _MARKER).unlink(missing_ok=True)
    finally:
        hub.close()


if __name__ == "__main__":
    main()
