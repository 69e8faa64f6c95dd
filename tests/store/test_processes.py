"""Several processes and threads on one file: nothing is lost, nobody waits for readers."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from store_steps import open_store, remember

from memhub_mcp.domain.memory import Filter
from memhub_mcp.store.file import Store

WRITER = """
import sys
sys.path[:0] = {path!r}
from pathlib import Path
from datetime import UTC, datetime
from store_steps import key_of, open_store, remember
store = open_store(Path({home!r}))
print("ready", flush=True)
sys.stdin.readline()
for number in range(100):
    remember(store, f"text {{number}}", id=f"{name}-{{number}}", source="{name}")
    with store.write() as tx:
        store.operations.keep(tx, f"{name}-{{number}}", key_of("x"), "{{}}", datetime.now(UTC))
"""

LOCKER = """
import sys
sys.path[:0] = {path!r}
from pathlib import Path
from store_steps import open_store, remember
store = open_store(Path({home!r}))
with store.write() as tx:
    tx.run("INSERT INTO meta (key, value) VALUES ('held', 'yes')")
    print("locked", flush=True)
    sys.stdin.readline()
"""


def start(script: str, home: Path, name: str = "") -> subprocess.Popen[str]:
    code = script.format(path=[*sys.path], home=str(home), name=name)
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def finish(process: subprocess.Popen[str]) -> None:
    """Let a waiting process go on to its end."""
    _, errors = process.communicate("go\n", timeout=60)
    assert (process.returncode, errors) == (0, "")


@pytest.mark.parametrize("processes", [2, 6])
def test_processes_lose_nothing(home: Path, processes: int) -> None:
    writers = [start(WRITER, home, f"p{number}") for number in range(processes)]
    assert [line_of(writer) for writer in writers] == ["ready"] * processes
    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(finish, writers))
    store = open_store(home)
    assert store.memories.count(Filter()) == 100 * processes
    assert store.words.total() == 100 * processes
    assert store.db.read("SELECT count(*) FROM operation") == [(100 * processes,)]
    assert store.db.generation == 100 * processes
    generations = [memory.generation for memory in store.memories.newest(Filter(), before=None, limit=1_000)]
    assert generations == list(range(100 * processes, 0, -1))
    assert store.db.read("PRAGMA integrity_check") == [("ok",)]
    store.close()


def test_reading_and_opening_go_on_while_another_process_writes(home: Path, store: Store) -> None:
    remember(store, "there before")
    locker = start(LOCKER, home)
    assert line_of(locker) == "locked"
    fresh = open_store(home)
    for reader in (store, fresh):
        assert [memory.text for memory in reader.memories.newest(Filter(), before=None, limit=5)] == ["there before"]
        assert len(reader.words.search(["before"], Filter(), 5)) == 1
    waiting = threading.Thread(target=remember, args=(store, "written after the wait"))
    waiting.start()
    assert store.memories.count(Filter()) == 1
    finish(locker)
    waiting.join(timeout=30)
    assert store.memories.count(Filter()) == 2
    assert fresh.db.read("SELECT value FROM meta WHERE key = 'held'") == [("yes",)]
    fresh.close()


def test_a_killed_writer_leaves_nothing_half_done(home: Path, store: Store) -> None:
    locker = start(LOCKER, home)
    assert line_of(locker) == "locked"
    locker.kill()
    locker.communicate()
    remember(store, "the lock is free")
    assert store.db.read("SELECT value FROM meta WHERE key = 'held'") == []
    assert store.memories.count(Filter()) == 1


def test_every_thread_may_read_and_write(store: Store) -> None:
    begin = threading.Barrier(8)

    def work(name: str) -> int:
        begin.wait()
        for number in range(25):
            remember(store, f"{name} {number}", id=f"{name}-{number}")
            found = store.memories.get(f"{name}-{number}")
            assert found is not None
            assert store.words.search([name], Filter(), 100)
        return store.memories.count(Filter())

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(work, [f"t{number}" for number in range(8)]))
    assert max(counts) == 200
    assert store.db.generation == 200


def test_processes_that_make_the_same_store_share_it(home: Path) -> None:
    writers = [start(WRITER, home, f"p{number}") for number in range(3)]
    for writer in writers:
        finish(writer)
    assert sorted(entry.name for entry in (home / "workspaces" / "w").iterdir() if entry.name.startswith(".")) == []
    store = open_store(home)
    assert store.memories.count(Filter()) == 300
    store.close()
    assert [entry.name for entry in home.iterdir()] == ["workspaces"]
