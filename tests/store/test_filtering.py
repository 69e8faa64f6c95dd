"""What a reader may not see is not found by any road: listing, counting, words, vectors."""

from datetime import UTC, datetime, timedelta

import pytest
from store_steps import SPACE, remember, unit

from memhub_mcp.domain.memory import Filter, Kind, Status
from memhub_mcp.domain.scope import Tier
from memhub_mcp.store.file import Store

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def seen(store: Store, filter: Filter) -> set[str]:
    """The ids a filter lets through; every road must agree."""
    listed = {memory.id for memory in store.memories.newest(filter, before=None, limit=100)}
    space = store.vectors.active_space()
    assert space is not None
    by_words = store.words.search(["common"], filter, 100)
    by_vectors = store.vectors.search(space.id, unit(1), filter, 100)
    for matches in (by_words, by_vectors):
        assert {m.id for m in store.memories.by_seqs(match.seq for match in matches).values()} == listed
    assert store.memories.count(filter) == len(store.memories.seqs(filter)) == len(listed)
    assert sum(store.memories.counts_by_kind(filter).values()) == len(listed)
    return listed


@pytest.fixture
def filled(store: Store) -> Store:
    with store.write() as tx:
        space = store.vectors.space_id(tx, SPACE)
        here = store.anchors.ensure(tx, "here", "c1", None)
        there = store.anchors.ensure(tx, "there", "c2", None)
    assert (here, there) == (1, 2)
    plain = {"terms": ["common"]}
    remember(store, "1", id="fact", files=("a/test.py",), **plain)
    remember(store, "2", id="decision", kind=Kind.DECISION, source="codex", files=("a/testing.py", "b/c.py"), **plain)
    remember(store, "3", id="here", tier=Tier.BRANCH, branch="here", anchor=here, now=NOW - timedelta(days=2), **plain)
    remember(store, "4", id="there", tier=Tier.BRANCH, branch="there", anchor=there, source="codex", **plain)
    both = remember(store, "5", id="both", files=("a/",), **plain)
    old = remember(store, "6", id="old", **plain)
    with store.write() as tx:
        store.memories.add_source(tx, both.seq, "codex")
        store.memories.set_status(tx, old.seq, Status.SUPERSEDED, NOW)
        for memory in store.memories.newest(Filter(anchors=None, statuses=frozenset()), before=None, limit=100):
            store.vectors.put(tx, memory.seq, 0, space, unit(1, memory.seq / 10))
    return store


def test_branch_memories_follow_their_anchors(filled: Store) -> None:
    assert seen(filled, Filter()) == {"fact", "decision", "both"}
    assert seen(filled, Filter(anchors=frozenset({1}))) == {"fact", "decision", "both", "here"}
    assert seen(filled, Filter(anchors=None)) == {"fact", "decision", "both", "here", "there"}
    assert filled.memories.hidden(Filter()) == 2
    assert filled.memories.hidden(Filter(anchors=frozenset({2}))) == 1
    assert filled.memories.hidden(Filter(anchors=None)) == 0


def test_statuses_and_kinds(filled: Store) -> None:
    assert seen(filled, Filter(statuses=frozenset({Status.SUPERSEDED}))) == {"old"}
    assert seen(filled, Filter(kinds=frozenset({Kind.DECISION}))) == {"decision"}
    assert seen(filled, Filter(kinds=frozenset({Kind.TURN}))) == set()


@pytest.mark.parametrize(
    ("included", "excluded", "expected"),
    [
        ({"codex"}, set(), {"decision"}),
        ({"mixed"}, set(), {"both"}),
        ({"codex", "mixed"}, set(), {"decision", "both"}),
        (set(), {"codex"}, {"fact"}),
        (set(), {"gemini-cli"}, {"fact", "decision"}),
        ({"codex"}, {"codex"}, set()),
        ({"mixed", "cursor"}, {"codex"}, {"fact"}),
        ({"mixed", "cursor"}, {"gemini-cli"}, {"fact", "both"}),
        ({"mixed", "cursor"}, {"mixed"}, {"fact"}),
    ],
)
def test_exclusion_wins_and_mixed_must_be_named(
    filled: Store, included: set[str], excluded: set[str], expected: set[str]
) -> None:
    filter_ = Filter(include_sources=frozenset(included), exclude_sources=frozenset(excluded))
    assert seen(filled, filter_) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (("a/test.py",), {"fact"}),
        (("a/testing.py",), {"decision"}),
        (("a",), {"fact", "decision", "both"}),
        (("./a/",), {"fact", "decision", "both"}),
        (("a/test",), set()),
        (("est.py",), set()),
        (("b", "a/test.py"), {"fact", "decision"}),
        (("%",), set()),
        (("A/test.py",), set()),
        ((".",), {"fact", "decision", "both"}),
    ],
)
def test_files_match_a_whole_path_or_its_folder(filled: Store, files: tuple[str, ...], expected: set[str]) -> None:
    assert seen(filled, Filter(files=files)) == expected


def test_times_are_those_of_the_latest_wording(filled: Store) -> None:
    everyone = frozenset({1, 2})
    assert seen(filled, Filter(anchors=everyone, until=NOW - timedelta(days=1))) == {"here"}
    assert "here" not in seen(filled, Filter(anchors=everyone, since=NOW - timedelta(days=1)))
    assert seen(filled, Filter(since=NOW, until=NOW)) == {"fact", "decision", "both"}


def test_a_rare_path_is_found_whole_among_ten_thousand(store: Store) -> None:
    rare, vectors = Filter(files=("deep/rare.py",)), {}
    with store.write() as tx:
        space = store.vectors.space_id(tx, SPACE)
    first = remember(store, "0", terms=["common"])
    wanted = {2_000, 4_000, 6_000, 8_000, 10_000}
    with store.write() as tx:
        tx.run(
            """WITH RECURSIVE n (i) AS (VALUES (2) UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
            INSERT INTO memory (id, kind, tier, text, content_key, sources, source, created_at, updated_at,
                generation, redaction)
            SELECT 'm' || i, kind, tier, 'text ' || i, content_key, sources, source, created_at, updated_at, i, 1
            FROM n CROSS JOIN memory WHERE seq = ?""",
            (first.seq,),
        )
        for seq in range(2, 10_001):
            store.words.index(tx, seq, {"body": ["common", "words"] if seq in wanted else ["common"] * 3})
            vectors[seq] = unit(1, 1 if seq in wanted else 0.001)
            store.vectors.put(tx, seq, 0, space, vectors[seq])
        tx.run_many("INSERT INTO memory_file (path, memory) VALUES ('deep/rare.py', ?)", [(seq,) for seq in wanted])
    assert {match.seq for match in store.words.search(["common"], rare, 5)} == wanted
    assert {match.seq for match in store.vectors.search(space, unit(1), rare, 5)} == wanted
    assert set(store.memories.seqs(rare)) == wanted


def test_what_has_expired_is_left_out_from_that_moment_on(filled: Store) -> None:
    remember(filled, "7", id="until noon", valid_until=NOW, terms=["common"])
    space = filled.vectors.active_space()
    assert space is not None
    with filled.write() as tx:
        filled.vectors.put(tx, 7, 0, space.id, unit(1))
    before = seen(filled, Filter(valid_at=NOW - timedelta(seconds=1)))
    assert before - seen(filled, Filter(valid_at=NOW)) == {"until noon"}
    assert seen(filled, Filter()) == before
