"""Walking through a whole store, and taking over another one's rows."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from store_steps import key_of, open_store, remember

from memhub_mcp.domain.branch import BranchFacts
from memhub_mcp.domain.memory import Filter, Status
from memhub_mcp.domain.revision import ChangeKind, Commit, EditEvent, FileChange
from memhub_mcp.domain.scope import Tier
from memhub_mcp.domain.session import Turn
from memhub_mcp.store.connection import Transaction
from memhub_mcp.store.file import Store
from memhub_mcp.store.joining import Joined, join

NOW = datetime(2026, 11, 30, tzinfo=UTC)
EVERYTHING = Filter(anchors=None, statuses=frozenset())


def edit(path: str, store: Store, tx: Transaction, id: str, session: str | None = None) -> None:
    event = EditEvent(tool="Edit", path=path, source="cursor", session=None, tool_call=None, time=NOW)
    store.edits.add(tx, event, id=id, identity=id.encode(), branch=None, head=None, session=session)


def test_walking_visits_everything_once_in_order(store: Store) -> None:
    for number in range(1_203):
        if number % 400 == 0:
            remember(store, f"text {number}", id=f"m{number}")
    with store.write() as tx:
        tx.run(
            """WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
            INSERT INTO memory (id, kind, tier, text, content_key, sources, source, created_at, updated_at,
                generation, redaction)
            SELECT 'x' || i, kind, tier, text, content_key, sources, source, created_at, updated_at, i, 1
            FROM n CROSS JOIN memory WHERE id = 'm0'"""
        )
        for number in range(120):
            edit("a.py", store, tx, f"e{number}")
        tx.run("UPDATE edit SET body = x'00' WHERE id = 'e7'")
        change = FileChange(path="a.py", old_path=None, kind=ChangeKind.ADD, blob_before=None, blob_after="aa" * 20)
        commits = [
            Commit(
                sha=f"{number:040x}",
                parents=(),
                author="ada",
                authored_at=NOW,
                committed_at=NOW,
                message="m",
                patch_id=None,
                changes=(change,),
                patch="",
            )
            for number in range(450)
        ]
        store.commits.add(tx, [(commit, {}) for commit in commits], redaction=1)
    seqs = [memory.seq for memory in store.memories.walk(EVERYTHING)]
    assert seqs == sorted(seqs)
    assert len(seqs) == 1_204
    assert [edit.id for edit in store.edits.walk()] == [f"e{number}" for number in range(120) if number != 7]
    assert [commit for _, commit in store.commits.walk()] == commits
    assert len(store.damaged_rows()) == 1


def take_over(other: Store, store: Store) -> Joined:
    with store.write() as tx:
        return join(tx, other.db)


@pytest.fixture
def other(home: Path, store: Store) -> Store:
    """A second store that shares a session, a subject and a memory with the first."""
    other = open_store(home, name="other")
    for number, held in enumerate((store, other)):
        with held.write() as tx:
            held.anchors.ensure(tx, f"only here {number}", f"c{number}", None)
            anchor = held.anchors.ensure(tx, "topic", "c7", None)
            session = held.sessions.ensure(tx, "cursor", "same", NOW, None, None)
        remember(held, "known to both", id=f"both-{number}", source=("cursor", "codex")[number])
        remember(held, f"only {number}", id=f"only-{number}", session=session.id, files=(f"f{number}.py",))
        remember(held, f"topic {number}", id=f"topic-{number}", tier=Tier.BRANCH, branch="topic", anchor=anchor)
    return other


def test_merged_stores_hold_what_both_held(store: Store, other: Store) -> None:
    only = other.memories.get("only-1")
    old = remember(other, "older wording", id="old")
    assert only is not None
    with other.write() as tx:
        only = other.memories.new_version(tx, only, "only 1, corrected", key_of("only 1, corrected"), "codex", NOW)
        other.memories.set_status(tx, old.seq, Status.SUPERSEDED, NOW)
        other.memories.link(tx, only.seq, old.seq, "supersedes")
        session = other.sessions.ensure(tx, "codex", "theirs", NOW, "topic", None)
        turn = Turn(memory=old.seq, session=session.id, position=3, speaker="ada", caption=None, time=NOW)
        other.sessions.add_turn(tx, turn)
        other.sessions.set_fact(tx, session.id, only.seq)
        other.memories.tombstone(tx, key_of("forgotten there"))
        other.branches.put(tx, BranchFacts(branch="topic", tip="c7", seen_at=NOW, paths={"a.py": "b"}))
        edit("a.py", other, tx, "e1", session.id)
        tx.run("INSERT INTO memory SELECT 99, 'bad', 1, 'rumour', tier, status, text, x'99', subject, subject_key,"
               " anchor, branch, commit_sha, '{', source, session, origin_workspace, files, symbols,"
               " search_keys, solution, environment, created_at, updated_at, valid_until, last_used_at, generation,"
               " redaction, terms, 0, 0, 0, origin_id FROM memory WHERE seq = 1")  # fmt: skip
    joined = take_over(other, store)
    assert len(joined.added) == 4  # the row that nobody can read comes along as it is
    merged = store.memories.get("only-1")
    assert merged is not None
    assert [version.text for version in store.memories.versions(merged.seq)] == ["only 1", "only 1, corrected"]
    assert store.memories.links(merged.seq) == [("supersedes", "out", "old")]
    assert (merged.session, merged.files) == (store.sessions.all()[0].id, ("f1.py",))
    both = store.memories.get("both-0")
    assert both is not None
    assert joined.known == ((both.seq, '["codex"]'),)
    topic = {anchor.id: anchor for anchor in store.anchors.all()}
    on_topic = store.memories.get_many(["topic-0", "topic-1"])
    assert {topic[memory.anchor or 0].commit for memory in on_topic.values()} == {"c7"}
    assert [s.host_session for s in store.sessions.all()] == ["same", "theirs"]
    theirs = store.sessions.all()[1].id
    assert [turn.position for turn in store.sessions.turns(theirs)] == [3]
    assert store.sessions.fact(store.db, theirs) == merged.seq
    assert store.memories.is_tombstoned(key_of("forgotten there"))
    assert store.branches.get("topic") == other.branches.get("topic")
    assert [(e.id, e.session) for e in store.edits.walk()] == [("e1", theirs)]
    assert store.db.read("PRAGMA foreign_key_check") == []


def test_merging_twice_adds_nothing(store: Store, other: Store) -> None:
    assert len(take_over(other, store).added) == 2
    tables = ("memory", "memory_version", "session", "anchor", "link", "turn", "edit", "tombstone")
    counts = [store.db.read(f"SELECT count(*) FROM {table}") for table in tables]
    assert take_over(other, store).added == ()
    assert [store.db.read(f"SELECT count(*) FROM {table}") for table in tables] == counts


def test_what_was_forgotten_does_not_come_back_by_merging(store: Store, other: Store) -> None:
    with store.write() as tx:
        store.memories.tombstone(tx, key_of("only 1"))
    joined = take_over(other, store)
    assert (len(joined.added), joined.forgotten) == (1, 1)
    assert store.memories.get("only-1") is None
