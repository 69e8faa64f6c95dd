"""One holder at a time, and never one that is gone."""

import subprocess
import sys
from pathlib import Path

import pytest

from memhub_mcp.errors import HomeError
from memhub_mcp.models.lock import ProcessLock

HOLD = "import sys; from memhub_mcp.models.lock import *; held = ProcessLock.try_acquire(Path(sys.argv[1])); print(bool(held), flush=True); sys.stdin.read()"  # noqa: E501


def test_one_holder_at_a_time(tmp_path: Path):
    path = tmp_path / "run" / "some.lock"
    first = ProcessLock.try_acquire(path)
    assert first is not None
    assert ProcessLock.try_acquire(path) is None
    first.release()
    first.release()
    assert ProcessLock.try_acquire(path) is not None


def test_a_killed_holder_holds_nothing(tmp_path: Path):
    path = tmp_path / "some.lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=-1, stdout=-1, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline().strip() == "True"
    assert ProcessLock.try_acquire(path) is None
    holder.kill()
    holder.communicate()
    assert ProcessLock.try_acquire(path) is not None


def test_what_a_stale_file_says_does_not_matter(tmp_path: Path):
    path = tmp_path / "some.lock"
    path.write_text("1\n")
    assert ProcessLock.try_acquire(path) is not None


def test_a_removed_lock_file_can_be_locked_anew(tmp_path: Path):
    path = tmp_path / "some.lock"
    held = ProcessLock.try_acquire(path)
    path.unlink()
    again = ProcessLock.try_acquire(path)
    assert held is not None and again is not None
    assert ProcessLock.try_acquire(path) is None


def test_a_place_where_nothing_can_be_made_is_one_sentence(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(HomeError, match="cannot be made"):
        ProcessLock.try_acquire(tmp_path / "file" / "some.lock")
