"""What is used stays fresh, and reading stays a read."""

from datetime import timedelta

import pytest
from git_steps import Git
from hubs import Desk, desk_in
from store_steps import HandClock

from memhub_mcp.domain.memory import Memory
from memhub_mcp.store.file import Store


def store_of(desk: Desk) -> Store:
    store = desk.hub.scopes.resolve(desk.caller).store
    assert store is not None
    return store


def memory(desk: Desk, memory_id: str) -> Memory:
    found = store_of(desk).memories.get(memory_id)
    assert found is not None
    return found


def test_a_recalled_memory_is_marked_with_the_next_write_and_does_not_become_newer(repository: Git) -> None:
    clock = HandClock()
    with desk_in(repository.root, clock=clock) as desk:
        used, unused = desk.remember("the harbor crane is yellow", "lunch is at noon")
        while desk.hub.maintenance.run_once(desk.caller):
            pass
        before = memory(desk, used)
        clock.advance(days=3)
        generation = store_of(desk).db.generation
        assert desk.recall("which color has the harbor crane") == [used]
        assert memory(desk, used) == before
        desk.remember("the next write")
        after = memory(desk, used)
        assert after.last_used_at == clock.now
        assert (after.updated_at, after.generation) == (before.updated_at, before.generation)
        assert memory(desk, unused).last_used_at is None
        assert store_of(desk).db.generation == generation + 1


def test_idle_time_writes_it_when_nothing_else_does(repository: Git) -> None:
    clock = HandClock()
    with desk_in(repository.root, clock=clock) as desk:
        recalled, opened, listed = desk.remember("the harbor crane is yellow", "opened in full", "only listed")
        desk.recall("harbor crane")
        desk.text(opened)
        desk.hub.memories.list(desk.caller)
        desk.hub.maintenance.run_once(desk.caller)
        marked = {each for each in (recalled, opened, listed) if memory(desk, each).last_used_at == clock.now}
        assert marked == {recalled, opened}


def test_a_write_that_fails_loses_no_mark(repository: Git) -> None:
    clock = HandClock()
    with desk_in(repository.root, clock=clock) as desk:
        [used] = desk.remember("the harbor crane is yellow")
        desk.recall("harbor crane")
        store = store_of(desk)
        with pytest.raises(KeyError), store.write():
            raise KeyError
        assert memory(desk, used).last_used_at is None
        first, clock.now = clock.now, clock.now + timedelta(hours=1)
        store.write_uses()
        assert memory(desk, used).last_used_at == first
