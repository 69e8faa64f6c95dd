"""What a hook captured waits on disk until it is committed, whatever happens to single entries."""

import json
import os
import stat
import threading
import time
from pathlib import Path

import pytest

from memhub_mcp.capture import spool


def test_entries_come_back_oldest_first(tmp_path: Path) -> None:
    for number in range(20):
        spool.write(tmp_path, {"event": "edit", "number": number})
    entries = spool.pending(tmp_path)
    assert [(spool.read(entry) or {})["number"] for entry in entries] == list(range(20))
    assert all(Path(entry).parent == tmp_path / "spool" for entry in entries)


def test_an_entry_goes_only_when_it_is_removed(tmp_path: Path) -> None:
    entry = spool.write(tmp_path, {"event": "edit"})
    assert spool.read(entry) == spool.read(entry) == {"v": spool.SPOOL_VERSION, "event": "edit"}
    spool.remove(entry)
    spool.remove(entry)
    assert spool.pending(tmp_path) == []
    assert spool.read(entry) is None


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"event": "edit"}', b"\xff\xfe", b"[" * 100_000, b'{"v": "1"}'])
def test_a_broken_entry_is_set_aside_and_the_rest_goes_on(tmp_path: Path, body: bytes) -> None:
    spool.write(tmp_path, {"number": 1})
    bad = tmp_path / "spool" / "0000000000000000001-1-dead.json"
    bad.write_bytes(body)
    read = [spool.read(entry) for entry in spool.pending(tmp_path)]
    assert read[0] is None
    assert read[1] == {"v": spool.SPOOL_VERSION, "number": 1}
    assert spool.broken(tmp_path) == [f"{bad}.broken"]
    assert len(spool.pending(tmp_path)) == 1


def test_an_entry_of_a_newer_memhub_is_left_to_it(tmp_path: Path) -> None:
    entry = Path(spool.write(tmp_path, {}))
    entry.write_text(json.dumps({"v": spool.SPOOL_VERSION + 1, "event": "dream"}))
    assert spool.read(str(entry)) is None
    assert spool.pending(tmp_path) == [str(entry)]
    assert spool.broken(tmp_path) == []


def test_nothing_waits_in_a_home_that_was_never_written(tmp_path: Path) -> None:
    assert spool.pending(tmp_path / "none") == []
    assert spool.broken(tmp_path / "none") == []


@pytest.mark.skipif(os.name == "nt", reason="permission bits are POSIX")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_others_cannot_read_what_was_captured(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        entry = Path(spool.write(tmp_path / "home", {"event": "edit"}))
    finally:
        os.umask(before)
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    assert stat.S_IMODE(entry.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry.parent.parent.stat().st_mode) == 0o700


def test_a_full_disk_leaves_no_half_entry(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(OSError, match=r"\w"):
            spool.write(tmp_path, {"text": "x" * 10_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list((tmp_path / "spool").iterdir()) == []


def test_a_half_written_entry_is_never_seen_and_later_cleared(tmp_path: Path) -> None:
    spool.write(tmp_path, {})
    fresh, old = (tmp_path / "spool" / f"000000000000000000{n}-1-ab.tmp" for n in (1, 2))
    for temporary in (fresh, old):
        temporary.write_text('{"v":1')
    os.utime(old, (time.time() - 7200,) * 2)
    assert len(spool.pending(tmp_path)) == 1
    assert fresh.exists()
    assert not old.exists()


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    def write_some(writer: int) -> None:
        for number in range(50):
            spool.write(tmp_path, {"writer": writer, "number": number})

    threads = [threading.Thread(target=write_some, args=(writer,)) for writer in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [spool.read(entry) or {} for entry in spool.pending(tmp_path)]
    assert len(found) == 400
    for writer in range(8):
        assert [event["number"] for event in found if event["writer"] == writer] == list(range(50))


def test_text_that_is_no_unicode_is_kept(tmp_path: Path) -> None:
    entry = spool.write(tmp_path, {"text": "é\ud800\0\u2028"})
    assert (spool.read(entry) or {})["text"] == "é\ud800\0\u2028"
