"""After an erasure no file of the store holds a byte of what was erased."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from store_steps import SPACE, key_of, open_store, remember, unit

from memhub_mcp.domain.memory import Filter
from memhub_mcp.domain.revision import EditEvent
from memhub_mcp.domain.session import Turn
from memhub_mcp.store.file import Store

NOW = datetime(2026, 11, 30, tzinfo=UTC)
MARKER = "zirconium-marker-7f3a"


def files_holding(home: Path, text: str) -> list[str]:
    forms = [text.encode(form) for form in ("utf-8", "utf-16-le")]
    found = [path for path in home.rglob("*") if path.is_file()]
    assert found
    return [path.name for path in found if any(form in path.read_bytes() for form in forms)]


def fill(store: Store) -> list[int]:
    """Memories with the marker in every column, between many without it."""
    marked = []
    with store.write() as tx:
        space = store.vectors.space_id(tx, SPACE)
        session = store.sessions.ensure(tx, "cursor", "abc", NOW, None, None)
    for number in range(200):
        held = f"{MARKER} {number}" if number % 40 == 7 else f"plain {number}"
        memory = remember(
            store,
            held + " text" * (number % 90),
            subject=held,
            files=(f"{held}.py",),
            symbols=(held,),
            search_keys=(held,),
            solution=held,
            environment=held,
            session=session.id,
        )
        if MARKER in held:
            marked.append(memory.seq)
    with store.write() as tx:
        for position, seq in enumerate(marked):
            memory = store.memories.by_seqs([seq], reader=tx)[seq]
            store.memories.new_version(tx, memory, f"{MARKER} again", key_of(f"{MARKER} {seq}"), "codex", NOW)
            store.vectors.put(tx, seq, 0, space, unit(1, seq))
            turn = Turn(memory=seq, session=session.id, position=position, speaker=MARKER, caption=MARKER, time=NOW)
            store.sessions.add_turn(tx, turn)
            store.memories.link(tx, seq, 1, "related")
    return marked


@pytest.mark.parametrize("reader_elsewhere", [False, True])
def test_no_byte_of_an_erased_memory_stays(home: Path, store: Store, reader_elsewhere: bool) -> None:
    marked = fill(store)
    others = store.memories.count(Filter()) - len(marked)
    assert files_holding(home, MARKER)
    other = open_store(home) if reader_elsewhere else None
    if other is not None:
        assert other.words.search([MARKER], Filter(), 5)
    with store.write() as tx:
        store.memories.erase(tx, marked)
    assert store.compact()
    assert files_holding(home, MARKER) == []
    assert store.words.search([MARKER], Filter(), 5) == []
    assert store.words.frequencies([MARKER]) == {MARKER: 0}
    assert store.memories.count(Filter()) == others
    assert store.db.read("PRAGMA integrity_check") == [("ok",)]
    assert store.db.read("SELECT (SELECT count(*) FROM vector), (SELECT count(*) FROM turn)") == [(0, 0)]
    if other is not None:
        assert other.words.search([MARKER], Filter(), 5) == []


def test_no_byte_of_an_erased_edit_or_commit_stays(home: Path, store: Store) -> None:
    event = EditEvent(
        tool="Edit", path=f"{MARKER}.py", source="cursor", session=None, tool_call=None, time=NOW, said=MARKER
    )
    with store.write() as tx:
        store.edits.add(tx, event, id="e1", identity=b"1", branch=MARKER, head=None, session=None)
    assert files_holding(home, MARKER)
    with store.write() as tx:
        store.edits.erase(tx, ["e1"])
    assert store.compact()
    assert files_holding(home, MARKER) == []
