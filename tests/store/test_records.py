"""Sessions, receipts, anchors, branch facts and edits."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from store_steps import key_of, open_store, remember

from memhub_mcp.domain.branch import Anchor, BranchFacts
from memhub_mcp.domain.memory import Filter
from memhub_mcp.domain.revision import ChangeKind, EditEvent, Hunk
from memhub_mcp.domain.scope import Tier
from memhub_mcp.domain.session import Turn
from memhub_mcp.store.file import Store

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_a_host_session_is_one_session(store: Store) -> None:
    with store.write() as tx:
        first = store.sessions.ensure(tx, "cursor", "abc", NOW, "main", "c1")
        again = store.sessions.ensure(tx, "cursor", "abc", NOW, "topic", "c2")
        other = store.sessions.ensure(tx, "codex", "abc", NOW, None, None)
        unnamed = [store.sessions.ensure(tx, "codex", None, NOW, None, None).id for _ in range(2)]
    assert first == again == store.sessions.get(first.id)
    assert len({first.id, other.id, *unnamed}) == 4
    assert store.sessions.get("s_nothing") is None


def test_a_session_has_one_fact_and_loses_it_when_it_is_forgotten(store: Store) -> None:
    memory = remember(store, "what happened")
    with store.write() as tx:
        session = store.sessions.ensure(tx, "cursor", "abc", NOW, None, None)
        assert store.sessions.fact(tx, session.id) is None
        store.sessions.set_fact(tx, session.id, memory.seq)
    assert store.sessions.fact(store.db, session.id) == memory.seq
    with store.write() as tx:
        store.memories.erase(tx, [memory.seq])
    assert store.sessions.fact(store.db, session.id) is None


def test_turns_keep_their_order_and_a_replay_changes_nothing(store: Store) -> None:
    spoken = [remember(store, text) for text in ("hello", "good day", "again")]
    with store.write() as tx:
        session = store.sessions.ensure(tx, "import", "abc", NOW, None, None)
        turns = [
            Turn(memory=memory.seq, session=session.id, position=position, speaker="ada", caption=caption, time=NOW)
            for position, (memory, caption) in enumerate(zip(spoken[:2], (None, "a photo"), strict=True))
        ]
        assert store.sessions.add_turn(tx, turns[1])
        assert store.sessions.add_turn(tx, turns[0])
        assert not store.sessions.add_turn(tx, replace(turns[0], memory=spoken[2].seq))
    assert store.sessions.turns(session.id) == turns
    assert store.sessions.turns_of([spoken[1].seq, spoken[2].seq]) == {spoken[1].seq: turns[1]}


def test_a_receipt_is_kept_until_its_memories_are_forgotten(store: Store) -> None:
    operations = store.operations
    with store.write() as tx:
        assert operations.find(tx, "op") is None
        operations.keep(tx, "op", key_of("input"), '{"id": "m_1"}', NOW)
        operations.keep(tx, "other", key_of("input"), '{"id": "m_2"}', NOW)
        assert operations.find(tx, "op") == (key_of("input"), '{"id": "m_1"}')
    with store.write() as tx:
        operations.blank(tx, ["m_1", "m_9"])
    assert operations.find(store.db, "op") == (key_of("input"), None)
    assert operations.find(store.db, "other") == (key_of("input"), '{"id": "m_2"}')


def test_a_pending_anchor_takes_its_commit_with_its_memories(store: Store) -> None:
    with store.write() as tx:
        pending = store.anchors.ensure(tx, "topic", None, "tip1")
        assert store.anchors.ensure(tx, "topic", None, "tip2") == pending
        elsewhere = store.anchors.ensure(tx, "other", None, "tip1")
    memory = remember(store, "on topic", tier=Tier.BRANCH, branch="topic", anchor=pending)
    with store.write() as tx:
        store.anchors.settle(tx, "topic", "c1")
        store.anchors.settle(tx, "nowhere", "c1")
    assert store.anchors.all() == [
        Anchor(id=pending, branch="topic", commit="c1"),
        Anchor(id=elsewhere, branch="other", commit=None, pending_at="tip1"),
    ]
    with store.write() as tx:
        again = store.anchors.ensure(tx, "topic", None, "c1")
    late = remember(store, "later on topic", tier=Tier.BRANCH, branch="topic", anchor=again)
    with store.write() as tx:
        store.anchors.settle(tx, "topic", "c1")
    assert [anchor.id for anchor in store.anchors.all()] == [pending, elsewhere]
    seen = store.memories.newest(Filter(anchors=frozenset({pending})), before=None, limit=5)
    assert [m.id for m in seen] == [late.id, memory.id]


def test_branch_facts_replace_what_was_known(home: Path, store: Store) -> None:
    facts = BranchFacts(
        branch="topic",
        tip="c3",
        merge_base="c1",
        commits=(("c3", "p3"), ("c2", None)),
        patch_id="p",
        paths={"a.py": "b1", "gone.py": None, "caf\udce9": "b2"},
        seen_at=NOW,
    )
    with store.write() as tx:
        store.branches.put(tx, facts)
    stored = replace(facts, paths={"a.py": "b1", "gone.py": None, "caf\\xe9": "b2"})
    assert open_store(home).branches.get("topic") == stored
    later = BranchFacts(branch="topic", tip="c4", seen_at=NOW, deleted_at=NOW)
    with store.write() as tx:
        store.branches.put(tx, later)
        store.branches.put(tx, replace(facts, branch="another"))
    assert store.branches.get("topic") == later
    assert [found.branch for found in store.branches.all()] == ["another", "topic"]
    assert store.branches.get("nothing") is None


def edit(**changes: object) -> EditEvent:
    event = EditEvent(
        tool="Edit",
        path="src/a.py",
        source="claude-code",
        session="host-session",
        tool_call="call-1",
        time=NOW,
        kind=ChangeKind.RENAME,
        hunks=(Hunk(1, 2, 3, 4),),
        ordinal=2,
        turn="turn-1",
        cwd="/home/ada/project",
        old_text="before",
        new_text="after\nwith ünïcode",
        content_after="after",
        hash_after="ff" * 20,
        old_path="src/b.py",
        said="please rename it",
    )
    return replace(event, **changes)


def test_an_edit_comes_back_whole_and_a_replay_changes_nothing(store: Store) -> None:
    with store.write() as tx:
        session = store.sessions.ensure(tx, "claude-code", "host-session", NOW, None, None)
        known = {"branch": "topic", "head": "c1", "session": session.id}
        assert store.edits.add(tx, edit(), id="e1", identity=b"1", **known)
        assert not store.edits.add(tx, edit(said="again"), id="e2", identity=b"1", **known)
        assert store.edits.add(tx, edit(old_text=None, hunks=()), id="e3", identity=b"3", **known)
    latest, first = store.edits.by_path("src/a.py", 10)
    assert (first.id, first.event, first.branch, first.head, first.session) == ("e1", edit(), "topic", "c1", session.id)
    assert latest.event == edit(old_text=None, hunks=())
    assert [found.id for found in store.edits.by_path("src/a.py", 1)] == ["e3"]
    assert store.edits.by_path("a.py", 5) == []


def test_an_erased_edit_is_gone_and_a_replay_does_not_bring_it_back(store: Store) -> None:
    with store.write() as tx:
        nowhere = {"branch": None, "head": None, "session": None}
        store.edits.add(tx, edit(new_text="the secret"), id="e1", identity=b"1", **nowhere)
        store.edits.add(tx, edit(), id="e2", identity=b"2", **nowhere)
    with store.write() as tx:
        store.edits.erase(tx, ["e1"])
    assert store.edits.get("e1") is None
    assert store.edits.is_known(b"1")
    with store.write() as tx:
        assert not store.edits.add(tx, edit(new_text="the secret"), id="e3", identity=b"1", **nowhere)
    assert [found.id for found in store.edits.by_path("src/a.py", 5)] == ["e2"]
