"""Where a write-ahead log would be unsafe, another journal is used and a warning is kept."""

from pathlib import Path

import pytest
from store_steps import open_store, remember

from memhub_mcp.domain.memory import Filter
from memhub_mcp.store.folders import why_unsafe_for_wal

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:50 / /mnt/share rw,relatime shared:5 - nfs4 server:/share rw
41 22 0:51 / /mnt/c rw,noatime - 9p drvfs rw,dirsync
42 22 0:52 / /mnt/my\\040disk rw - cifs //server/disk rw
43 40 8:2 / /mnt/share/local rw - xfs /dev/sdb1 rw
44 22 0:53 / /remote rw - fuse.sshfs ada@host: rw
"""


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("/home/ada/.local/share/memhub", None),
        ("/mnt/share/memhub", "nfs4"),
        ("/mnt/share", "nfs4"),
        ("/mnt/shared/memhub", None),
        ("/mnt/share/local/memhub", None),
        ("/mnt/c/Users/ada/memhub", "9p"),
        ("/mnt/my disk/memhub", "cifs"),
        ("/remote/memhub", "fuse.sshfs"),
        ("/home/ada/Dropbox/memhub", "synced"),
        ("/home/ada/Dropbox (Work)/memhub", "synced"),
        ("/home/ada/OneDrive - Example/memhub", "synced"),
        ("/Users/ada/Library/Mobile Documents/memhub", "synced"),
        ("/home/ada/dropboxes/memhub", None),
    ],
)
def test_network_and_synced_folders_are_told_apart(tmp_path: Path, folder: str, reason: str | None) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    found = why_unsafe_for_wal(Path(folder), mounts)
    assert found is None if reason is None else reason in (found or "")


def test_in_a_synced_folder_there_is_no_log_and_a_warning(tmp_path: Path) -> None:
    store = open_store(tmp_path / "Dropbox" / "home")
    remember(store, "synced")
    other = open_store(tmp_path / "Dropbox" / "home")
    remember(other, "also")
    assert store.memories.count(Filter()) == 2
    assert store.db.maintain("PRAGMA journal_mode") == [("truncate",)]
    assert not list(tmp_path.rglob("*-wal"))
    [warning] = store.db.warnings
    assert "local disk" in warning
    with store.write() as tx:
        store.memories.erase(tx, [1])
    assert store.compact()


def test_a_store_moved_between_folders_changes_its_journal(tmp_path: Path) -> None:
    local, synced = tmp_path / "home", tmp_path / "OneDrive"
    store = open_store(local)
    remember(store, "moved")
    store.close()
    local.rename(synced)
    store = open_store(synced)
    assert store.db.read("PRAGMA journal_mode") != [("wal",)]
    remember(store, "there")
    store.close()
    synced.rename(local)
    store = open_store(local)
    assert store.db.read("PRAGMA journal_mode") == [("wal",)]
    assert store.memories.count(Filter()) == 2
    store.close()
