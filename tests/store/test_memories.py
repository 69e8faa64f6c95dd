"""Memories come back as they were given, keep their versions, and survive bad neighbours."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_steps import key_of, open_store, remember

from memhub_mcp.domain.memory import Draft, Feedback, Filter, Kind, Link, Status
from memhub_mcp.domain.scope import Tier
from memhub_mcp.store.file import Store

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
EVERYTHING = Filter(anchors=None, statuses=frozenset())


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(text=TEXT, subject=st.none() | TEXT, key=TEXT, solution=st.none() | TEXT)
def test_any_text_comes_back_unchanged(
    store: Store, text: str, subject: str | None, key: str, solution: str | None
) -> None:
    number = store.memories.count(EVERYTHING)
    stored = remember(store, text, id=f"m{number}", subject=subject, search_keys=(key,), solution=solution)
    found = store.memories.get(f"m{number}")
    assert found == stored
    assert found is not None
    assert (found.text, found.subject, found.search_keys, found.solution) == (text, subject, (key,), solution)
    assert [version.text for version in store.memories.versions(found.seq)] == [text]


def test_every_field_comes_back(store: Store) -> None:
    until = NOW + timedelta(days=3, microseconds=1)
    stored = remember(
        store,
        "the build needs jq",
        kind=Kind.EXPERIENCE,
        subject="build",
        files=("./src/a.py", "docs/"),
        symbols=("Build.run",),
        search_keys=("jq missing", "command not found"),
        solution="install it",
        environment="ubuntu",
        valid_until=until,
    )
    found = store.memories.get(stored.id)
    assert found is not None
    assert found.kind is Kind.EXPERIENCE
    assert found.files == ("src/a.py", "docs")
    assert (found.symbols, found.environment, found.valid_until) == (("Build.run",), "ubuntu", until)
    assert (found.version, found.status, found.source) == (1, Status.ACTIVE, "cursor")
    assert (found.created_at, found.updated_at) == (NOW, NOW)


def test_undecodable_path_bytes_become_text(store: Store) -> None:
    stored = remember(store, "odd name", files=("caf\udce9.txt",), symbols=("\ud800",))
    assert stored.files == ("caf\\xe9.txt",)
    assert [m.id for m in store.memories.newest(Filter(files=("caf\udce9.txt",)), before=None, limit=5)] == [stored.id]


def test_equal_content_is_found_in_its_tier_and_branch_only(store: Store) -> None:
    with store.write() as tx:
        anchor = store.anchors.ensure(tx, "topic", "c1", None)
    on_topic = remember(store, "same words", id="a", tier=Tier.BRANCH, branch="topic", anchor=anchor)
    everywhere = remember(store, "same words", id="b", branch="topic")
    find, key = store.memories.find_equal, key_of("same words")
    assert find(key, Tier.BRANCH, "topic") == on_topic
    assert find(key, Tier.BRANCH, "other") is None
    assert find(key, Tier.WORKSPACE, None) == everywhere
    assert find(key, Tier.USER, None) is None


def test_an_active_equal_goes_before_a_superseded_one(store: Store) -> None:
    first = remember(store, "twice", id="first")
    second = remember(store, "twice", id="second")
    with store.write() as tx:
        store.memories.set_status(tx, second.seq, Status.SUPERSEDED, NOW)
        inside = store.memories.find_equal(key_of("twice"), Tier.WORKSPACE, None, reader=tx)
    assert inside is not None
    assert inside.id == first.id


def test_only_active_memories_hold_a_subject(store: Store) -> None:
    old = remember(store, "port 80", id="old", subject="port", subject_key="port")
    new = remember(store, "port 81", id="new", subject="port", subject_key="port")
    with store.write() as tx:
        store.memories.set_status(tx, old.seq, Status.SUPERSEDED, NOW)
    assert [m.id for m in store.memories.find_subject("port", Tier.WORKSPACE, None)] == [new.id]
    assert store.memories.subjects(Filter(), 5) == ["port"]


def test_a_correction_is_a_new_version_and_the_old_one_stays(store: Store) -> None:
    first = remember(store, "port 80")
    later = NOW + timedelta(hours=1)
    with store.write() as tx:
        second = store.memories.new_version(tx, first, "port 81", key_of("port 81"), "codex", later)
    assert (second.version, second.text, second.updated_at, second.created_at) == (2, "port 81", later, NOW)
    assert (second.sources, second.source) == (("cursor", "codex"), "mixed")
    assert second.generation > first.generation
    versions = store.memories.versions(first.seq)
    assert [(v.version, v.text, v.source) for v in versions] == [(1, "port 80", "cursor"), (2, "port 81", "codex")]
    assert store.memories.find_equal(key_of("port 80"), Tier.WORKSPACE, None) is None


def test_judgements_are_counted_and_use_is_noted_without_a_generation(store: Store) -> None:
    memory = remember(store, "a fact")
    with store.write() as tx:
        store.memories.judge(tx, memory.seq, Feedback.USEFUL)
        store.memories.judge(tx, memory.seq, Feedback.USEFUL)
        store.memories.judge(tx, memory.seq, Feedback.WRONG)
    before = store.db.generation
    with store.write() as tx:
        store.memories.mark_used(tx, [memory.seq], NOW + timedelta(hours=2))
    found = store.memories.get(memory.id)
    assert found is not None
    assert (found.useful, found.wrong, found.outdated) == (2, 1, 0)
    assert (found.last_used_at, found.updated_at) == (NOW + timedelta(hours=2), NOW)
    assert store.db.generation == before


def test_paging_shows_each_memory_once_although_one_write_made_many(store: Store) -> None:
    with store.write() as tx:
        for number in range(7):
            store.memories.add(
                tx,
                Draft(text=f"text {number}"),
                id=f"m{number}",
                tier=Tier.WORKSPACE,
                branch=None,
                anchor=None,
                commit=None,
                source="cursor",
                session=None,
                origin_workspace=None,
                content_key=key_of(str(number)),
                subject_key=None,
                now=NOW,
                redaction=1,
            )
    remember(store, "last", id="m7")
    seen: list[str] = []
    before = None
    while page := store.memories.newest(Filter(), before=before, limit=3):
        seen += [memory.id for memory in page]
        before = page[-1].generation, page[-1].seq
    assert seen == ["m7", "m6", "m5", "m4", "m3", "m2", "m1", "m0"]
    assert store.db.generation == 2


def test_order_is_by_generation_when_the_clock_jumps_back(store: Store) -> None:
    remember(store, "first", id="first", now=NOW)
    remember(store, "second", id="second", now=NOW - timedelta(days=400))
    assert [m.id for m in store.memories.newest(Filter(), before=None, limit=5)] == ["second", "first"]


def test_links_are_seen_from_both_ends(store: Store) -> None:
    old, new, other = (remember(store, text, id=text) for text in ("old", "new", "other"))
    with store.write() as tx:
        store.memories.link(tx, new.seq, old.seq, "supersedes")
        store.memories.link(tx, new.seq, old.seq, "supersedes")
        store.memories.link(tx, other.seq, new.seq, "related")
    assert store.memories.links(old.seq) == [("supersedes", "in", "new")]
    assert sorted(store.memories.links(new.seq)) == [("related", "in", "other"), ("supersedes", "out", "old")]
    assert store.memories.neighbours([old.seq], 5) == [Link(new.seq, old.seq, "supersedes")]
    assert len(store.memories.neighbours([new.seq], 5)) == 2
    assert len(store.memories.neighbours([new.seq], 1)) == 1
    assert store.memories.neighbours([new.seq, old.seq, other.seq], 5) == []


def test_a_tombstone_knows_what_was_forgotten(store: Store) -> None:
    with store.write() as tx:
        store.memories.tombstone(tx, key_of("gone"))
        store.memories.tombstone(tx, key_of("gone"))
    assert store.memories.is_tombstoned(key_of("gone"))
    assert not store.memories.is_tombstoned(key_of("here"))


@pytest.mark.parametrize(
    ("column", "value"),
    [("kind", "rumour"), ("sources", "{"), ("files", '{"a": 1}'), ("search_keys", "[1]"), ("created_at", 2**62)],
)
def test_a_row_that_cannot_be_understood_breaks_no_reader(store: Store, column: str, value: object) -> None:
    bad = remember(store, "good until now", id="bad")
    remember(store, "good still", id="good")
    with store.write() as tx:
        tx.run(f"UPDATE memory SET {column} = ? WHERE id = 'bad'", (value,))
    assert [m.id for m in store.memories.newest(Filter(), before=None, limit=5)] == ["good"]
    assert store.memories.get("bad") is None
    assert store.memories.by_seqs([bad.seq]) == {}
    mixed = Filter(include_sources=frozenset({"mixed", "cursor"}), exclude_sources=frozenset({"codex"}))
    assert [m.id for m in store.memories.newest(mixed, before=None, limit=5)] == ["good"]
    assert len(store.words.search(["good"], mixed, 5)) >= 1
    assert sum(store.memories.counts_by_kind(Filter()).values()) >= 1
    [fault] = store.damaged_rows()
    assert "bad" in fault


def test_bytes_that_are_no_text_any_more_break_no_reader(store: Store) -> None:
    bad = remember(store, "good until now", id="bad")
    remember(store, "good still", id="good")
    with store.write() as tx:
        tx.run("UPDATE memory SET text = CAST(x'ff41' AS TEXT) WHERE id = 'bad'")
    assert [m.id for m in store.memories.newest(Filter(), before=None, limit=5)] == ["good"]
    assert [m.id for m in store.memories.visible([bad.seq, bad.seq + 1], Filter()).values()] == ["good"]
    assert store.memories.get("bad") is None
    [fault] = store.damaged_rows()
    assert "bad" in fault


def test_another_process_sees_what_was_written(home: Path, store: Store) -> None:
    memory = remember(store, "shared")
    with_other = open_store(home)
    assert with_other.memories.get(memory.id) == memory
    assert with_other.db.generation == 1
