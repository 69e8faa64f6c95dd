"""Another embedding model takes over while the former one serves: nothing is lost or mixed up, and nobody waits."""

import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from git_steps import Git
from hash_models import HashModels
from hubs import Desk, desk_in
from numpy.typing import NDArray
from store_steps import HandClock

from memhub_mcp.errors import ModelAway, ModelError
from memhub_mcp.models.hash_embedder import HashEmbedder
from memhub_mcp.models.protocols import Encoding
from memhub_mcp.service.serving import Serving
from memhub_mcp.store.file import Store

OLD = HashEmbedder(dimension=64, model="old")
NEW = HashEmbedder(dimension=32, model="new")
NAMES = [f"alpha{number} beta{number} gamma{number}" for number in range(50)]
"""More than are embedded before a search."""


def store_of(desk: Desk) -> Store:
    store = desk.hub.scopes.resolve(desk.caller).store
    assert store is not None
    return store


def serving(desk: Desk) -> str:
    space = store_of(desk).vectors.active_space()
    assert space is not None
    return space.name


def idle(desk: Desk) -> int:
    """Idle rounds until there is nothing more to do; how many it took."""
    rounds = 1
    while desk.hub.maintenance.run_once(desk.caller):
        rounds += 1
    return rounds


def ask(desk: Desk, query: str) -> tuple[list[str], str, str]:
    """The previews found, whether meaning took part, and why not."""
    reply = desk.hub.memories.recall(desk.caller, query)
    why = [part for part in reply["mode"].get("why", "").split("; ") if "reranker" not in part]
    return [hit["preview"] for hit in reply["hits"]], reply["mode"]["dense"], "; ".join(why)


def vectors(desk: Desk) -> list[tuple[int, int, int]]:
    """(id, memory, bytes) of every vector there is."""
    return store_of(desk).db.read("SELECT id, memory, length(vector) FROM vector ORDER BY id")


@pytest.fixture
def embedded(repository: Git) -> Git:
    """A repository about which much is known, embedded by the old model."""
    with desk_in(repository.root, models=HashModels(OLD)) as desk:
        for start in range(0, len(NAMES), 20):
            desk.remember(*NAMES[start : start + 20])
        idle(desk)
        assert len(vectors(desk)) == len(NAMES)
    return repository


def test_the_old_space_serves_until_the_new_one_holds_every_memory(embedded: Git) -> None:
    with desk_in(embedded.root, models=HashModels(NEW, OLD)) as desk:
        seen: list[int] = []
        while serving(desk) == OLD.space.name:
            found, dense, _ = ask(desk, "alpha7 beta7")
            assert NAMES[7] in found[0]
            assert dense == "on"
            seen += [switch["done"] for switch in status(desk).get("switches", [])]
            desk.hub.maintenance.run_once(desk.caller)
        assert seen == [0, 32]
        assert serving(desk) == NEW.space.name
        assert "switches" not in status(desk)
        found, dense, _ = ask(desk, "alpha7 beta7")
        assert NAMES[7] in found[0]
        assert dense == "on"
        widths = [width for _, _, width in vectors(desk)]
        assert (widths.count(128), widths.count(64)) == (50, 50)


def test_the_status_says_how_far_it_is(embedded: Git) -> None:
    with desk_in(embedded.root, models=HashModels(NEW, OLD)) as desk:
        status(desk)
        desk.hub.maintenance.run_once(desk.caller)
        [switch] = status(desk)["switches"]
        assert switch == {
            "store": "shop",
            "serves": "old@1/none/64",
            "fills": "new@1/none/32",
            "done": 32,
            "of": 50,
        }


def status(desk: Desk) -> Any:
    return desk.hub.memories.status(desk.caller)


def test_what_is_stored_during_a_switch_is_found_by_meaning_before_and_after(embedded: Git) -> None:
    with desk_in(embedded.root, models=HashModels(NEW, OLD)) as desk:
        desk.hub.maintenance.run_once(desk.caller)
        assert serving(desk) == OLD.space.name
        desk.remember("zeppelin hangar")
        assert "meaning 1.00" in only_hit(desk, "zeppelin hangar")["why"]
        assert serving(desk) == OLD.space.name
        idle(desk)
        assert serving(desk) == NEW.space.name
        assert "meaning 1.00" in only_hit(desk, "zeppelin hangar")["why"]


def only_hit(desk: Desk, query: str) -> Any:
    [hit] = desk.hub.memories.recall(desk.caller, query, limit=1)["hits"]
    return hit


FILLER = """
import sys, threading
sys.path[:0] = {path!r}
from pathlib import Path
from hash_models import HashModels
from hubs import desk_in
from memhub_mcp.models.hash_embedder import HashEmbedder

class Stopping(HashEmbedder):
    left = 3
    def encode(self, texts, *, query=False):
        if texts and not query:
            Stopping.left -= 1
            if Stopping.left == 0:
                print("half way", flush=True)
                threading.Event().wait()
        return super().encode(texts)

models = HashModels(Stopping(dimension=32, model="new"), HashEmbedder(dimension=64, model="old"))
with desk_in(Path({root!r}), models=models) as desk:
    while desk.hub.maintenance.run_once(desk.caller):
        pass
"""


def test_a_switch_killed_half_way_goes_on_where_it_was(embedded: Git) -> None:
    code = FILLER.format(path=[*sys.path], root=str(embedded.root))
    filler = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert filler.stdout is not None
    assert filler.stdout.readline() == "half way\n"
    filler.kill()
    filler.communicate()
    with desk_in(embedded.root, models=HashModels(NEW, OLD)) as desk:
        assert serving(desk) == OLD.space.name
        before = [vector for vector in vectors(desk) if vector[2] == 64]
        assert len(before) == 16
        [switch] = status(desk)["switches"]
        assert (switch["done"], switch["of"]) == (16, 50)
        idle(desk)
        assert serving(desk) == OLD.space.name  # the lease of the killed process holds eight back
        assert ask(desk, "alpha7")[1] == "on"
    clock = later(minutes=2)
    with desk_in(embedded.root, models=HashModels(NEW, OLD), clock=clock) as desk:
        idle(desk)
        assert serving(desk) == NEW.space.name
        after = [vector for vector in vectors(desk) if vector[2] == 64]
        assert sorted(memory for _, memory, _ in after) == list(range(1, 51))
        assert set(before) < set(after)


def later(**units: float) -> HandClock:
    """A clock that is ahead of the one of this machine."""
    clock = HandClock()
    clock.now = datetime.now(UTC)
    clock.advance(**units)
    return clock


def switched(repository: Git) -> None:
    with desk_in(repository.root, models=HashModels(NEW, OLD)) as desk:
        idle(desk)
        assert serving(desk) == NEW.space.name
        desk.remember("stored in the new space alone")
        idle(desk)


def test_going_back_is_instant_and_embeds_only_what_is_new(embedded: Git) -> None:
    switched(embedded)
    with desk_in(embedded.root, models=HashModels(OLD)) as desk:
        before = vectors(desk)
        found, dense, why = ask(desk, "alpha7 beta7")
        assert (dense, why, serving(desk)) == ("on", "", OLD.space.name)
        assert NAMES[7] in found[0]
        assert len(vectors(desk)) == len(before) + 1
        assert set(before) < set(vectors(desk))


def test_what_nobody_went_back_to_for_a_week_is_removed_in_idle_time(embedded: Git) -> None:
    switched(embedded)
    with desk_in(embedded.root, models=HashModels(NEW, OLD), clock=later(days=6)) as desk:
        idle(desk)
        assert len(vectors(desk)) == 101
    with desk_in(embedded.root, models=HashModels(NEW, OLD), clock=later(days=8)) as desk:
        idle(desk)
        assert [width for _, _, width in vectors(desk)] == [64] * 51
        assert store_of(desk).vectors.find_space(OLD.space) is None
        assert ask(desk, "alpha7 beta7")[1] == "on"


def test_a_store_of_an_unknown_model_answers_by_words_at_once_and_says_so(embedded: Git) -> None:
    with desk_in(embedded.root, models=HashModels(NEW)) as desk:
        before = vectors(desk)
        found, dense, why = ask(desk, "alpha7 beta7")
        assert NAMES[7] in found[0]
        assert dense == "off"
        assert "old@1/none/64" in why
        assert "words answer until new has read every memory" in why
        assert set(before) <= set(vectors(desk))
        assert (status(desk)["mode"]["dense"], status(desk)["switches"][0]["done"]) == ("off", 32)
        assert ask(desk, "alpha7 beta7")[1] == "on"  # each question embeds some, for nobody serves meanwhile
        assert serving(desk) == NEW.space.name
        assert set(before) < set(vectors(desk))


def test_when_the_old_model_cannot_be_loaded_any_more_words_answer_and_say_why(embedded: Git) -> None:
    lost = {OLD.space.name: "old: its file is missing, run `memhub-mcp models pull old`"}
    with desk_in(embedded.root, models=HashModels(NEW, lost=lost)) as desk:
        found, dense, why = ask(desk, "alpha7 beta7")
        assert NAMES[7] in found[0]
        assert (dense, why) == ("off", lost[OLD.space.name])
        assert status(desk)["mode"]["why"] == why
        assert len([width for _, _, width in vectors(desk) if width == 128]) == 50
        idle(desk)
        assert ask(desk, "alpha7 beta7")[1:] == ("on", "")


def test_when_the_new_model_cannot_be_had_the_old_one_goes_on_and_the_status_says_why(embedded: Git) -> None:
    lost = {NEW.space.name: "new: run `memhub-mcp models pull new`"}
    with desk_in(embedded.root, models=HashModels(NEW, OLD, lost=lost)) as desk:
        desk.remember("zeppelin hangar")
        assert ask(desk, "zeppelin")[1:] == ("on", "")
        idle(desk)
        [switch] = status(desk)["switches"]
        assert (switch["done"], switch["of"]) == (0, 51)
        assert "models pull" in switch["why"]
        assert serving(desk) == OLD.space.name


def test_with_meaning_switched_off_nothing_is_embedded_or_removed(embedded: Git) -> None:
    with desk_in(embedded.root, embedder="off") as desk:
        before = vectors(desk)
        desk.remember("stored without a model")
        _, dense, why = ask(desk, "alpha7 beta7")
        assert dense == "off"
        assert "switched off" in why
        idle(desk)
        assert vectors(desk) == before
    with desk_in(embedded.root, models=HashModels(OLD)) as desk:
        assert ask(desk, "alpha7 beta7")[1] == "on"
        assert len(vectors(desk)) == len(before) + 1


def test_the_process_that_was_started_last_decides(embedded: Git) -> None:
    with desk_in(embedded.root, models=HashModels(OLD, NEW)) as first:
        ask(first, "alpha7")
        with desk_in(embedded.root, models=HashModels(NEW, OLD)) as second:
            for _ in range(3):
                idle(first)
                idle(second)
                assert serving(second) == NEW.space.name
                assert ask(first, "alpha7 beta7")[1] == ask(second, "alpha7 beta7")[1] == "on"
            first.remember("zeppelin hangar")
            assert "meaning 1.00" in only_hit(first, "zeppelin hangar")["why"]


def test_two_stores_in_different_spaces_answer_one_question(embedded: Git) -> None:
    with desk_in(embedded.root, models=HashModels(NEW, OLD)) as desk:
        [mine] = desk.remember("alpha7 is what I prefer", kind="preference")
        reply = desk.hub.memories.recall(desk.caller, "alpha7")
        assert reply["mode"]["dense"] == "on"
        assert {hit["id"] == mine for hit in reply["hits"]} == {True, False}
        assert all("meaning" in hit["why"] for hit in reply["hits"])
        assert serving(desk) == OLD.space.name
        user = desk.hub.scopes.resolve(desk.caller).user.vectors.active_space()
        assert user is not None
        assert user.name == NEW.space.name


class Choosy(HashEmbedder):
    """Fails at what it is told to fail at."""

    def __init__(self, fails: Exception, word: str = "") -> None:
        super().__init__(model="choosy")
        self.fails = fails
        self.word = word

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        return self.encode(texts).vectors

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Encoding:
        if any(self.word in text for text in texts):
            raise self.fails
        return super().encode(texts)


def test_a_text_that_breaks_the_model_takes_no_other_with_it(repository: Git) -> None:
    clock = HandClock()
    with desk_in(repository.root, models=HashModels(Choosy(ModelError("too strange"), "poison")), clock=clock) as desk:
        desk.remember("poison", *NAMES[:12])
        for _ in range(6):
            idle(desk)
            clock.advance(seconds=61)
        assert len(vectors(desk)) == 12
        assert status(desk)["counts"]["to_embed"] == 0
        assert len(desk.recall("poison")) == 1


@pytest.mark.parametrize("failure", [ModelError("out of memory"), ModelAway("process 7 has ended")])
def test_a_model_that_fails_for_a_while_gives_up_no_memory(repository: Git, failure: ModelError) -> None:
    broken = Choosy(failure)
    with desk_in(repository.root, models=HashModels(broken)) as desk:
        desk.remember(*NAMES[:12])
        for _ in range(10):
            idle(desk)
            found, dense, why = ask(desk, "alpha7 beta7")
            assert NAMES[7] in found[0]
            assert (dense, why) == ("off", str(failure))
        broken.word = "nothing like it"
        idle(desk)
        assert len(vectors(desk)) == 12
        assert ask(desk, "alpha7 beta7")[1:] == ("on", "")


def test_a_very_long_text_is_left_to_idle_time(repository: Git) -> None:
    with desk_in(repository.root, models=HashModels(OLD)) as desk:
        desk.remember("short note", "long " * 5_000)
        desk.recall("note")
        assert {memory for _, memory, _ in vectors(desk)} == {1}
        idle(desk)
        assert {memory for _, memory, _ in vectors(desk)} == {1, 2}


def test_a_memory_changed_while_it_is_embedded_is_not_found_by_its_old_wording(repository: Git) -> None:
    class Slow(HashEmbedder):
        def encode(self, texts: Sequence[str], *, query: bool = False) -> Encoding:
            if "first wording" in texts:
                desk.hub.memories.update(desk.caller, memory_id, text="second wording")
            return super().encode(texts)

    with desk_in(repository.root, models=HashModels(Slow())) as desk:
        [memory_id] = desk.remember("first wording")
        idle(desk)
        [(_, _, vector)] = store_of(desk).vectors.of(1, [1], 64)
        assert vector @ HashEmbedder().embed(["second wording"])[0] == pytest.approx(1, abs=0.001)


def test_a_store_that_cannot_be_written_stays_with_the_model_that_made_it(embedded: Git) -> None:
    with desk_in(embedded.root, models=HashModels(NEW, OLD)) as desk:
        written = store_of(desk)
        store = Store.open(written.workspace.directory, written.workspace, HandClock(), read_only=True)
        serving = Serving(HashModels(NEW, OLD), HandClock())
        serving.prepare([store], time.monotonic() + 60)
        assert not serving.work(store, most=100, deadline=time.monotonic() + 60)
        assert serving.switch(store) is None
        assert store.vectors.find_space(NEW.space) is None
        active = store.vectors.active_space()
        assert active is not None
        assert serving.door_of(active.name).get() is OLD
        store.close()
