"""Where a database lies: private folders, and folders in which write-ahead logs are unsafe."""

import contextlib
import os
import re
import sys
from pathlib import Path

_NETWORK_TYPES = re.compile(
    r"nfs4?|cifs|smb\w*|9p|drvfs|afs|ceph|gluster\w*|lustre|vboxsf|prl_fs|fuse\.(sshfs|rclone|s3fs|gvfs.*|.*drive.*)"
)
_SYNCED_NAMES = re.compile(
    r"dropbox( .*)?|onedrive( .*)?|google ?drive|my drive|icloud ?drive|mobile documents|cloudstorage|nextcloud|pcloud"
    r"|box sync|syncthing",
    re.IGNORECASE,
)


def make_private(directory: Path) -> None:
    """`directory` exists afterwards; what had to be made belongs to its owner alone (0700)."""
    if directory.is_dir():
        return
    make_private(directory.parent)
    directory.mkdir(mode=0o700, exist_ok=True)


def publish(draft: Path, path: Path) -> None:
    """Give the file `draft` its name unless another process was first; both are equally good then."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        return
    except OSError:  # no hard links on this file system
        with contextlib.suppress(FileExistsError):
            draft.rename(path)


def why_unsafe_for_wal(directory: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str | None:
    """One sentence when `directory` is on a network share or synced by a cloud client, else None."""
    real = Path(os.path.realpath(directory))
    for part in real.parts:
        if _SYNCED_NAMES.fullmatch(part):
            return f"{directory} is inside a synced folder ({part}); keep the data directory on a local disk"
    if sys.platform == "win32":
        remote = str(real).startswith("\\\\")
        return f"{directory} is on a network share; keep the data directory on a local disk" if remote else None
    file_system = _file_system(real, mounts)
    if file_system and _NETWORK_TYPES.fullmatch(file_system):
        return f"{directory} is on a {file_system} file system; keep the data directory on a local disk"
    return None


def _file_system(real: Path, mounts: Path) -> str | None:
    """The type of the file system that holds `real`, where the system says so (Linux)."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    best, found = -1, None
    for line in lines:
        fields, _, rest = line.partition(" - ")
        mount = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields.split(" ")[4])
        if len(mount) >= best and (real == Path(mount) or Path(mount) in real.parents):
            best, found = len(mount), rest.split(" ")[0]
    return found
