"""Memories are found by meaning, one space at a time, and the queue loses nothing."""

import sys
from importlib import reload
from pathlib import Path

import numpy as np
import pytest
from store_steps import SPACE, HandClock, key_of, open_store, random_units, remember, unit

from memhub_mcp.domain.embedding import EmbeddingSpace
from memhub_mcp.domain.memory import Filter
from memhub_mcp.store import extension, vectors
from memhub_mcp.store.file import Store

OTHER = EmbeddingSpace("other", "1", "f32", 32)


def space_of(store: Store, space: EmbeddingSpace = SPACE) -> int:
    with store.write() as tx:
        return store.vectors.space_id(tx, space)


def fill(store: Store, number: int, seed: int = 1) -> int:
    """`number` memories with one random vector each, in one write; the space."""
    space = space_of(store)
    first = remember(store, "0")
    with store.write() as tx:
        tx.run(
            """WITH RECURSIVE n (i) AS (VALUES (2) UNION ALL SELECT i + 1 FROM n WHERE i < ?)
            INSERT INTO memory (id, kind, tier, text, content_key, sources, source, created_at, updated_at,
                generation, redaction)
            SELECT 'm' || i, kind, tier, text, content_key, sources, source, created_at, updated_at, i, 1
            FROM n CROSS JOIN memory WHERE seq = ?""",
            (number, first.seq),
        )
        for seq, vector in enumerate(random_units(number, seed), 1):
            store.vectors.put(tx, seq, 0, space, vector)
    return space


def test_the_nearest_come_first_with_the_key_that_matched(store: Store) -> None:
    space = space_of(store)
    for text in ("one", "two", "three"):
        remember(store, text)
    with store.write() as tx:
        store.vectors.put(tx, 1, 0, space, unit(1, 0.2))
        store.vectors.put(tx, 2, 0, space, unit(0, 1))
        store.vectors.put(tx, 2, 1000, space, unit(1, 0.1))
        store.vectors.put(tx, 3, 0, space, unit(-1))
    matches = store.vectors.search(space, unit(1), Filter(), 10)
    assert [(match.seq, match.key) for match in matches] == [(2, 1000), (1, 0), (3, 0)]
    assert [match.cosine for match in matches] == pytest.approx([0.995, 0.981, -1], abs=0.002)
    assert [match.seq for match in store.vectors.search(space, unit(1), Filter(), 1)] == [2]
    [(seq, key, vector)] = store.vectors.of(space, [3], 64)
    assert (seq, key) == (3, 0)
    assert vector == pytest.approx(unit(-1), abs=0.001)


def test_spaces_never_meet(store: Store) -> None:
    space, other = space_of(store), space_of(store, OTHER)
    remember(store, "one")
    with store.write() as tx:
        store.vectors.put(tx, 1, 0, space, unit(1))
        with pytest.raises(ValueError, match="32 dimensions"):
            store.vectors.put(tx, 1, 0, other, unit(1))
    assert store.vectors.search(other, unit(1, dimension=32), Filter(), 5) == []
    assert store.vectors.search(other, unit(1), Filter(), 5) == []
    assert store.vectors.search(space, unit(1, dimension=32), Filter(), 5) == []


def test_a_large_store_answers_as_an_exact_scan_would(store: Store) -> None:
    number = 3_000
    space = fill(store, number)
    rows = random_units(number)
    found = overlap = 0
    for query in random_units(10, seed=2):
        exact = set((np.argsort(-(rows @ query))[:10] + 1).tolist())
        matches = store.vectors.search(space, query, Filter(), 10)
        assert [m.cosine for m in matches] == sorted((m.cosine for m in matches), reverse=True)
        overlap += len(exact & {match.seq for match in matches})
        found += len(matches)
    assert found == 100
    assert overlap >= 80  # random vectors in 64 dimensions are the hardest case: nothing is near anything


def test_with_and_without_sqlite_vec_the_answers_are_the_same(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    space = fill(store, 2_500)
    queries = random_units(5, seed=3)
    in_sql = [vectors.Vectors(store.db, HandClock()).search(space, query, Filter(), 20) for query in queries]
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    try:
        reload(extension)
        monkeypatch.setattr(vectors, "load_sqlite_vec", extension.load_sqlite_vec)
        assert not extension.load_sqlite_vec(store.db.reader())
        in_numpy = [vectors.Vectors(store.db, HandClock()).search(space, query, Filter(), 20) for query in queries]
    finally:
        monkeypatch.undo()
        reload(extension)
    assert in_sql == in_numpy
    again = [store.vectors.search(space, query, Filter(), 20) for query in [*queries, *queries]]
    assert again == in_sql * 2


def test_what_is_written_later_by_anyone_is_found(home: Path, store: Store) -> None:
    space = fill(store, 2_200)
    query = unit(0.5, -0.5, 0.5, -0.5)
    for _ in range(2):
        store.vectors.search(space, query, Filter(), 5)
    other = open_store(home)
    late = remember(other, "late")
    with other.write() as tx:
        other.vectors.put(tx, late.seq, 0, space, query)
    [match, *_] = store.vectors.search(space, query, Filter(), 5)
    assert match.seq == late.seq
    with other.write() as tx:
        other.memories.erase(tx, [late.seq])
    assert late.seq not in {match.seq for match in store.vectors.search(space, query, Filter(), 5)}
    with other.write() as tx:
        other.memories.erase(tx, range(1, 101))
    assert min(match.seq for match in store.vectors.search(space, query, Filter(), 2_100)) > 100


def test_the_first_space_serves_and_every_memory_is_queued_for_it(store: Store) -> None:
    remember(store, "before any model")
    assert store.vectors.active_space() is None
    space = space_of(store)
    remember(store, "after")
    active = store.vectors.active_space()
    assert active is not None
    assert (active.id, active.state, active.dimension) == (space, "active", 64)
    assert store.vectors.pending(space) == 2
    with store.write() as tx:
        assert store.vectors.claim(tx, space, 10, 60) == [2, 1]
        store.vectors.done(tx, space, [2, 1])
    assert store.vectors.pending(space) == 0


def test_a_lease_runs_out(store: Store, clock: HandClock) -> None:
    space = space_of(store)
    for text in ("one", "two"):
        remember(store, text)
    with store.write() as tx:
        assert store.vectors.claim(tx, space, 1, 60) == [2]
        assert store.vectors.claim(tx, space, 5, 60) == [1]
        assert store.vectors.claim(tx, space, 5, 60) == []
        clock.advance(seconds=61)
        assert store.vectors.claim(tx, space, 5, 60) == [2, 1]
        clock.advance(days=-300)
        assert store.vectors.claim(tx, space, 5, 60) == [2, 1]


def test_a_memory_that_breaks_the_embedder_is_given_up(store: Store, clock: HandClock) -> None:
    space = space_of(store)
    remember(store, "poison")
    tries = 0
    with store.write() as tx:
        while store.vectors.claim(tx, space, 5, 60):
            tries += 1
            clock.advance(seconds=61)
    assert tries == 5
    assert store.vectors.pending(space) == 0


def test_a_memory_changed_while_it_is_embedded_stays_queued(store: Store) -> None:
    space = space_of(store)
    memory = remember(store, "first wording")
    with store.write() as tx:
        claimed = store.vectors.claim(tx, space, 5, 60)
    with store.write() as tx:
        store.memories.new_version(tx, memory, "second", key_of("second"), "cursor", memory.created_at)
        store.vectors.enqueue(tx, memory.seq)
    with store.write() as tx:
        store.vectors.put(tx, memory.seq, 0, space, unit(1))
        store.vectors.done(tx, space, claimed)
    assert store.vectors.pending(space) == 1


def test_a_memory_erased_while_it_is_embedded_stays_gone(store: Store) -> None:
    space = space_of(store)
    memory = remember(store, "soon gone")
    with store.write() as tx:
        store.memories.erase(tx, [memory.seq])
    with store.write() as tx:
        store.vectors.put(tx, memory.seq, 0, space, unit(1))
        store.vectors.done(tx, space, [memory.seq])
    assert store.vectors.of(space, [memory.seq], 64) == []


def test_a_changed_memory_is_not_found_by_its_old_meaning(store: Store) -> None:
    space = space_of(store)
    memory = remember(store, "old")
    with store.write() as tx:
        store.vectors.put(tx, memory.seq, 0, space, unit(1))
        store.vectors.put(tx, memory.seq, 1, space, unit(0, 1))
    with store.write() as tx:
        store.vectors.enqueue(tx, memory.seq)
    assert store.vectors.search(space, unit(1), Filter(), 5) == []


def test_a_new_space_fills_while_the_old_one_serves_and_a_killed_switch_resumes(home: Path, store: Store) -> None:
    old = space_of(store)
    for number in range(4):
        remember(store, f"text {number}")
    with store.write() as tx:
        store.vectors.done(tx, old, store.vectors.claim(tx, old, 10, 60))
        for seq in range(1, 5):
            store.vectors.put(tx, seq, 0, old, unit(1, seq))
    new = space_of(store, OTHER)
    assert store.vectors.pending(new) == 4
    with store.write() as tx:
        for seq in store.vectors.claim(tx, new, 2, 60):
            store.vectors.put(tx, seq, 0, new, unit(1, seq, dimension=32))
            store.vectors.done(tx, new, [seq])
    store.close()

    store = open_store(home)
    assert space_of(store, OTHER) == new
    assert store.vectors.pending(new) == 2
    active = store.vectors.active_space()
    assert active is not None
    assert active.id == old
    assert len(store.vectors.search(old, unit(1), Filter(), 10)) == 4
    late = remember(store, "during the switch")
    assert (store.vectors.pending(old), store.vectors.pending(new)) == (1, 3)

    with store.write() as tx:
        for seq in store.vectors.claim(tx, new, 10, 60):
            store.vectors.put(tx, seq, 0, new, unit(1, seq, dimension=32))
            store.vectors.done(tx, new, [seq])
        store.vectors.activate(tx, new)
    row = store.vectors.find_space(OTHER)
    assert row is not None
    assert (row.id, row.state) == (new, "active")
    assert late.seq in {m.seq for m in store.vectors.search(new, unit(1, dimension=32), Filter(), 10)}
    store.close()


def embed_all(store: Store, space: int, dimension: int = 64) -> None:
    with store.write() as tx:
        for seq in store.vectors.claim(tx, space, 100, 60):
            store.vectors.put(tx, seq, 0, space, unit(1, seq, dimension=dimension))
            store.vectors.done(tx, space, [seq])


def test_a_retired_space_goes_piece_by_piece_once_it_is_old_enough(store: Store, clock: HandClock) -> None:
    old = space_of(store)
    for number in range(4):
        remember(store, f"text {number}")
    embed_all(store, old)
    new = space_of(store, OTHER)
    embed_all(store, new, 32)
    with store.write() as tx:
        store.vectors.activate(tx, new)
    retired_at = clock.now
    assert store.vectors.retired(retired_at) == []
    with store.write() as tx:
        assert store.vectors.discard(tx, 3, retired_at) == 0
    assert len(store.vectors.of(old, range(1, 5), 64)) == 4

    clock.advance(seconds=1)
    assert [space.id for space in store.vectors.retired(clock.now)] == [old]
    removed = []
    for _ in range(3):
        with store.write() as tx:
            removed.append(store.vectors.discard(tx, 3, clock.now))
    assert removed == [3, 1, 0]
    assert store.vectors.find_space(SPACE) is None
    assert len(store.vectors.of(new, range(1, 5), 32)) == 4


def test_a_space_that_holds_nearly_everything_serves_at_once_and_lacks_only_what_is_new(store: Store) -> None:
    old = space_of(store)
    for number in range(10):
        remember(store, f"known to the old space {number}")
    embed_all(store, old)
    new = space_of(store, OTHER)
    with store.write() as tx:
        store.vectors.activate(tx, new)
    remember(store, "new since")
    assert space_of(store) == old
    assert store.vectors.pending(old) == 1
    active = store.vectors.active_space()
    assert active is not None
    assert active.id == old


def test_a_space_that_lacks_much_fills_before_it_serves(store: Store) -> None:
    old = space_of(store)
    remember(store, "known to the old space")
    embed_all(store, old)
    new = space_of(store, OTHER)
    with store.write() as tx:
        store.vectors.activate(tx, new)
    remember(store, "new since")
    assert space_of(store) == old
    assert store.vectors.pending(old) == 1
    row = store.vectors.find_space(SPACE)
    assert row is not None
    assert row.state == "filling"


def test_what_is_chosen_last_ends_what_was_filling_before(store: Store) -> None:
    first, second, third = SPACE, OTHER, EmbeddingSpace("third", "1", "f32", 16)
    remember(store, "one")
    states = []
    for space in (first, second, third, second):
        with store.write() as tx:
            store.vectors.choose(tx, space)
        chosen = store.vectors.chosen()
        assert chosen is not None
        assert chosen.name == space.name
        found = [store.vectors.find_space(each) for each in (first, second, third)]
        states.append([row and (row.state, store.vectors.pending(row.id)) for row in found])
    assert states == [
        [("active", 1), None, None],
        [("active", 1), ("filling", 1), None],
        [("active", 1), ("retired", 0), ("filling", 1)],
        [("active", 1), ("filling", 1), ("retired", 0)],
    ]


def test_what_was_claimed_and_not_tried_can_be_given_back(store: Store) -> None:
    space = space_of(store)
    remember(store, "one")
    for _ in range(10):
        with store.write() as tx:
            assert store.vectors.claim(tx, space, 5, 60) == [1]
            store.vectors.release(tx, space, [1])
    assert store.vectors.pending(space) == 1


def test_a_damaged_vector_is_left_out(store: Store) -> None:
    space = space_of(store)
    for text in ("one", "two"):
        remember(store, text)
    with store.write() as tx:
        for seq in (1, 2):
            store.vectors.put(tx, seq, 0, space, unit(1, seq))
        tx.run("UPDATE vector SET vector = x'00' WHERE memory = 1")
    assert [match.seq for match in store.vectors.search(space, unit(1), Filter(), 5)] == [2]
