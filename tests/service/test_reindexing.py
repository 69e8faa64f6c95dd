"""Words and vectors can be made anew from the rows alone, beside everything else that goes on."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from git_steps import Git
from hash_models import HashModels
from hubs import Desk, desk_in
from store_steps import HandClock

from memhub_mcp.capture.redact import REDACTION_VERSION, redact
from memhub_mcp.domain.clock import system_clock
from memhub_mcp.domain.memory import Filter
from memhub_mcp.domain.revision import EditEvent
from memhub_mcp.errors import ReadOnlyStore
from memhub_mcp.models.hash_embedder import HashEmbedder
from memhub_mcp.service.reindexing import Reindexing
from memhub_mcp.service.serving import Serving
from memhub_mcp.store.file import Store

OLD = HashEmbedder(dimension=64, model="old")
NEW = HashEmbedder(dimension=32, model="new")
NAMES = [f"alpha{number} beta{number} gamma{number}" for number in range(120)]
SECRET = "gh" + "p_" + "Zx9" * 12
EVERYTHING = Filter(anchors=None, statuses=frozenset())


def store_of(desk: Desk) -> Store:
    store = desk.hub.scopes.resolve(desk.caller).store
    assert store is not None
    return store


def idle(desk: Desk) -> None:
    while desk.hub.maintenance.run_once(desk.caller):
        pass


def told(store: Store) -> list[tuple[Any, ...]]:
    """All that a rebuild must leave as it is."""
    return store.db.read("SELECT id, text, version, updated_at, generation, status FROM memory ORDER BY seq")


def change(store: Store, *statements: str) -> None:
    """What an earlier version, or an accident, left behind."""
    with store.write() as tx:
        for statement in statements:
            tx.run(statement)


@pytest.fixture
def known(repository: Git) -> Git:
    """A repository with a commit and many memories, all of them embedded."""
    with desk_in(repository.root, models=HashModels(OLD)) as desk:
        desk.hub.indexing.index(desk.hub.scopes.resolve(desk.caller))
        for start in range(0, len(NAMES), 20):
            desk.remember(*NAMES[start : start + 20])
        idle(desk)
    return repository


@pytest.fixture
def desk(known: Git) -> Any:
    with desk_in(known.root, models=HashModels(OLD)) as desk:
        yield desk


def test_words_and_vectors_come_back_from_the_rows_and_nothing_becomes_newer(desk: Desk) -> None:
    store = store_of(desk)
    before, vectors = told(store), store.vectors.of(1, range(1, 121), 64)
    with store.write() as tx:
        store.words.clear(tx)
        store.commits.words.clear(tx)
        store.vectors.forget(tx, 1, range(1, 121))
    assert desk.recall("alpha7") == desk.recall("start the shop") == []
    made = desk.hub.reindexing.rebuild(store)
    assert (made.memories, made.commits, made.vectors, made.complete, made.refused) == (120, 1, 120, True, None)
    [hit] = desk.hub.memories.recall(desk.caller, "alpha7")["hits"]
    assert "words 100 %" in hit["why"]
    assert "meaning" in hit["why"]
    assert len(desk.recall("start the shop")) == 1
    assert told(store) == before
    again = store.vectors.of(1, range(1, 121), 64)
    assert [(seq, key) for seq, key, _ in again] == [(seq, key) for seq, key, _ in vectors]
    assert all((one == other).all() for (_, _, one), (_, _, other) in zip(vectors, again, strict=True))
    assert store.renewal.positions() == {}


def test_wrong_vectors_are_replaced_and_those_that_are_too_many_go(desk: Desk) -> None:
    store = store_of(desk)
    wrong = OLD.embed(["something else entirely"])[0]
    with store.write() as tx:
        store.vectors.put(tx, 8, 0, 1, wrong)
        store.vectors.put(tx, 8, 3, 1, wrong)
    made = desk.hub.reindexing.rebuild(store, words=False)
    assert (made.memories, made.commits, made.vectors) == (0, 0, 120)
    [(_, key, vector)] = store.vectors.of(1, [8], 64)
    assert key == 0
    assert vector @ OLD.embed([NAMES[7]])[0] == pytest.approx(1, abs=0.001)


REBUILDER = """
import sys, threading
sys.path[:0] = {path!r}
from pathlib import Path
from hash_models import HashModels
from hubs import desk_in
from memhub_mcp.models.hash_embedder import HashEmbedder

def progress(what, done, total):
    print(what, done, total, flush=True)
    if (what, done) == {stop!r}:
        threading.Event().wait()

with desk_in(Path({root!r}), models=HashModels(HashEmbedder(dimension=64, model="old"))) as desk:
    desk.hub.reindexing.rebuild(desk.hub.scopes.resolve(desk.caller).store, progress=progress)
"""


def kill_at(repository: Git, what: str, done: int) -> None:
    """A rebuild in another process, killed when it has done so many."""
    code = REBUILDER.format(path=[*sys.path], root=str(repository.root), stop=(what, done))
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.split()[:2] == [what, str(done)]:
            break
    process.kill()
    process.communicate()


@pytest.mark.parametrize(("what", "done"), [("memories", 50), ("vectors", 40)])
def test_a_rebuild_killed_half_way_goes_on_where_it_was(known: Git, what: str, done: int) -> None:
    kill_at(known, what, done)
    with desk_in(known.root, models=HashModels(OLD)) as desk:
        made = desk.hub.reindexing.rebuild(store_of(desk))
        assert made.complete
        rest = {"memories": (120 - done, 1, 120), "vectors": (120, 1, 120 - done)}
        # What had come to its end before it was killed is made anew, as it is asked for anew.
        assert (made.memories, made.commits, made.vectors) == rest[what]
        assert store_of(desk).renewal.positions() == {}
        assert NAMES[7] in desk.hub.memories.recall(desk.caller, "alpha7")["hits"][0]["preview"]


def test_what_a_killed_rebuild_left_is_done_in_idle_time(known: Git) -> None:
    kill_at(known, "memories", 50)
    with desk_in(known.root, models=HashModels(OLD)) as desk:
        store = store_of(desk)
        left = store.renewal.positions()
        assert left["memories"] == 50
        idle(desk)  # the killed process may still be at work, as far as one can know
        assert store.renewal.positions() == left
    clock = HandClock()
    clock.now = system_clock()
    clock.advance(minutes=1)
    with desk_in(known.root, models=HashModels(OLD), clock=clock) as desk:
        idle(desk)
        assert store_of(desk).renewal.positions() == {}
        assert len(desk.recall("alpha7")) == 1


def test_others_write_in_between_and_are_not_written_over(desk: Desk) -> None:
    store = store_of(desk)
    other = Store.open(store.workspace.directory, store.workspace, system_clock)
    other.db.maintain("PRAGMA busy_timeout = 0")
    written: list[str] = []

    def write(what: str, done: int, total: int) -> None:
        with other.write() as tx:  # at once, or not at all
            other.commits.set_state(tx, "test", f"{what} {done}")
        [memory_id] = desk.remember(f"written beside{len(written)}")
        written.append(memory_id)
        desk.hub.memories.update(desk.caller, desk.recall("alpha119")[0], text=f"alpha119 omega{done}")

    made = desk.hub.reindexing.rebuild(store, progress=write)
    assert made.complete
    assert len(written) > 10
    idle(desk)
    assert store.words.total() == store.memories.count(EVERYTHING) == 120 + len(written)
    assert [desk.recall(f"beside{number}")[0] for number in range(len(written))] == written
    assert store.words.search(["gamma119"], None, 5) == []
    other.close()


def test_it_stops_when_it_is_told_to_and_goes_on_the_next_time(desk: Desk) -> None:
    asked = iter([False, True])
    first = desk.hub.reindexing.rebuild(store_of(desk), stop=lambda: next(asked))
    assert (first.memories, first.complete) == (50, False)
    second = desk.hub.reindexing.rebuild(store_of(desk))
    assert (second.memories, second.vectors, second.complete) == (70, 120, True)


def test_while_another_model_fills_its_space_a_rebuild_completes_that(known: Git) -> None:
    with desk_in(known.root, models=HashModels(NEW, OLD)) as desk:
        desk.hub.maintenance.run_once(desk.caller)
        made = desk.hub.reindexing.rebuild(store_of(desk), words=False)
        assert (made.vectors, made.complete) == (120 - 32, True)
        active = store_of(desk).vectors.active_space()
        assert active is not None
        assert active.name == NEW.space.name


def test_without_a_model_words_are_made_and_it_says_why_vectors_are_not(known: Git) -> None:
    lost = {OLD.space.name: "old: its file is missing, run `memhub-mcp models pull old`"}
    with desk_in(known.root, models=HashModels(OLD, lost=lost)) as desk:
        store = store_of(desk)
        before = store.vectors.of(1, range(1, 121), 64)
        with store.write() as tx:
            store.words.clear(tx)
        made = desk.hub.reindexing.rebuild(store)
        assert (made.memories, made.vectors, made.refused) == (120, 0, lost[OLD.space.name])
        assert len(desk.recall("alpha7")) == 1
        assert len(store.vectors.of(1, range(1, 121), 64)) == len(before)


def test_what_cannot_be_written_is_refused(desk: Desk) -> None:
    store = store_of(desk)
    frozen = Store.open(store.workspace.directory, store.workspace, system_clock, read_only=True)
    serving = Serving(HashModels(OLD), system_clock)
    reindexing = Reindexing(models=HashModels(OLD), serving=serving)
    with pytest.raises(ReadOnlyStore):
        reindexing.rebuild(frozen)
    assert not reindexing.refresh(frozen, time.monotonic() + 60)
    frozen.close()


def test_rows_whose_words_follow_earlier_rules_are_indexed_again_in_idle_time(desk: Desk) -> None:
    store = store_of(desk)
    before, vectors = told(store), store.db.read("SELECT max(id), count(*) FROM vector")
    change(
        store,
        "UPDATE memory SET terms = 0",
        "UPDATE git_commit SET terms = 0",
        "INSERT INTO words (words) VALUES ('delete-all')",
        "INSERT INTO commit_words (commit_words) VALUES ('delete-all')",
    )
    idle(desk)
    assert len(desk.recall("alpha7")) == len(desk.recall("start the shop")) == 1
    assert store.words.total() == 120
    assert told(store) == before
    assert store.db.read("SELECT max(id), count(*) FROM vector") == vectors
    idle(desk)
    assert store.db.read("SELECT count(*) FROM memory WHERE terms = 0") == [(0,)]


def test_what_earlier_rules_did_not_redact_is_redacted_in_idle_time_and_leaves_every_file(
    repository: Git, tmp_path: Path
) -> None:
    with desk_in(repository.root, models=HashModels(OLD)) as desk:
        desk.hub.indexing.index(desk.hub.scopes.resolve(desk.caller))
        [memory_id] = desk.remember("deploy with PLACEHOLDER", subject="deploying", search_keys=["use PLACEHOLDER"])
        desk.hub.memories.update(desk.caller, memory_id, text="deploy always with PLACEHOLDER")
        idle(desk)
        store = store_of(desk)
        planted = [
            f"UPDATE memory SET text = replace(text, 'PLACEHOLDER', '{SECRET}'), redaction = 0,"
            f" search_keys = replace(search_keys, 'PLACEHOLDER', '{SECRET}')",
            f"UPDATE memory_version SET text = replace(text, 'PLACEHOLDER', '{SECRET}')",
            f"UPDATE git_commit SET message = message || ' with {SECRET}', redaction = 0",
            f"INSERT OR REPLACE INTO words (rowid, body) VALUES (1, '{SECRET.lower()}')",
        ]
        change(store, *planted)
        assert holding(tmp_path, SECRET)
        before = store.db.read("SELECT version, updated_at, generation FROM memory")
        idle(desk)
        assert desk.text(memory_id) == redact(f"deploy always with {SECRET}")
        assert SECRET not in str(desk.hub.memories.get(desk.caller, [memory_id]))
        assert desk.recall("always deploy") == [memory_id]
        assert store.db.read("SELECT version, updated_at, generation FROM memory") == before
        [(_, commit)] = store.commits.walk()
        assert commit.message == redact(f"start the shop with {SECRET}")
        assert desk.recall(SECRET) == []
        assert holding(tmp_path, SECRET) == holding(tmp_path, SECRET.lower()) == []
        assert store.renewal.positions() == {}
        found = store.vectors.of(1, [1], 64)
        assert sorted(key for _, key, _ in found) == [0, 1000]


def test_edits_that_a_hook_redacted_by_earlier_rules_are_redacted_too(desk: Desk, tmp_path: Path) -> None:
    store = store_of(desk)
    event = EditEvent(
        tool="Edit",
        path="app.py",
        source="cursor",
        session=None,
        tool_call=None,
        time=system_clock(),
        old_text="retries = 5",
        new_text=f"retries = 6  # {SECRET}",
        said=f"use {SECRET}",
    )
    with store.write() as tx:
        store.edits.add(tx, event, id="e1", identity=b"1", branch="main", head=None, session=None)
        store.edits.add(tx, replace(event, new_text=None, said="fine"), id="e2", identity=b"2", branch="main",
                        head=None, session=None)  # fmt: skip
    idle(desk)
    later, first = store.edits.by_path("app.py", 5)
    assert (first.event.said, first.event.old_text) == (redact(f"use {SECRET}"), "retries = 5")
    assert first.event.new_text == redact(f"retries = 6  # {SECRET}")
    assert (later.event.said, later.event.new_text) == ("fine", None)
    assert holding(tmp_path, SECRET) == []
    assert store.edits.stale(REDACTION_VERSION, 5) == []


def holding(folder: Path, text: str) -> list[Path]:
    files = [file for file in (folder / "memhub-home").rglob("*") if file.is_file()]
    return [file for file in files if text.encode() in file.read_bytes()]


def test_what_was_erased_on_request_is_not_indexed_again(desk: Desk) -> None:
    store = store_of(desk)
    [commit] = desk.recall("start the shop")
    desk.hub.memories.forget(desk.caller, [commit], confirm=True)
    desk.hub.reindexing.rebuild(store)
    assert desk.recall("app.py") == desk.recall("start the shop") == []


def test_of_several_processes_one_does_the_work(known: Git) -> None:
    with desk_in(known.root, models=HashModels(OLD)) as one, desk_in(known.root, models=HashModels(OLD)) as two:
        store = store_of(one)
        change(store, "UPDATE memory SET terms = 0")
        assert one.hub.reindexing.refresh(store, time.monotonic())
        assert not two.hub.reindexing.refresh(store_of(two), time.monotonic() + 60)
        assert store.db.read("SELECT count(*) FROM memory WHERE terms = 0") == [(120,)]
        assert not one.hub.reindexing.refresh(store, time.monotonic() + 60)
        assert store.db.read("SELECT count(*) FROM memory WHERE terms = 0") == [(0,)]


def test_a_row_that_cannot_be_understood_holds_nothing_up(desk: Desk) -> None:
    change(store_of(desk), "UPDATE memory SET terms = 0", "UPDATE memory SET kind = 'rumour' WHERE seq = 60")
    idle(desk)
    assert store_of(desk).db.read("SELECT count(*) FROM memory WHERE terms = 0") == [(0,)]
    assert desk.hub.reindexing.rebuild(store_of(desk)).complete
