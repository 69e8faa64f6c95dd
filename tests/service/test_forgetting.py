"""Gone means gone."""

import secrets
from pathlib import Path

import pytest
from git_steps import Git
from hubs import Desk, desk_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhub_mcp.domain.clock import system_clock
from memhub_mcp.errors import NotFound
from memhub_mcp.store.file import Store

FILLER = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=200)


def test_the_first_call_only_shows_what_would_go(desk: Desk) -> None:
    [memory_id] = desk.remember("to be looked at first")
    reply = desk.hub.memories.forget(desk.caller, [memory_id])
    assert reply["erased"] is False
    assert reply["memories"][0]["preview"] == "to be looked at first"
    assert desk.text(memory_id) == "to be looked at first"


def test_the_receipt_names_what_cannot_be_reached_and_keeps_no_text(desk: Desk) -> None:
    [memory_id] = desk.remember("to be erased")
    reply = desk.hub.memories.forget(desk.caller, [memory_id], confirm=True)
    assert reply["erased"] is True
    assert "to be erased" not in str(reply)
    assert any("git" in place for place in reply["unreachable"])


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(before=FILLER, after=FILLER)
def test_no_file_holds_a_forgotten_text(desk: Desk, tmp_path: Path, before: str, after: str) -> None:
    marker = "unique" + secrets.token_hex(8)
    [memory_id] = desk.remember(f"{before} {marker} {after}", search_keys=[f"key {marker}"], subject=f"s {marker}")
    desk.hub.memories.update(desk.caller, memory_id, text=f"another wording of {marker}")
    desk.recall(marker)
    desk.hub.memories.forget(desk.caller, [memory_id], confirm=True)
    assert [file for file in _files(tmp_path / "memhub-home") if marker.encode() in file.read_bytes()] == []
    assert desk.recall(marker) == []


def test_when_a_reader_keeps_the_log_from_being_emptied_the_receipt_says_so(desk: Desk) -> None:
    [memory_id] = desk.remember("to be erased")
    store = desk.hub.scopes.resolve(desk.caller).store
    assert store is not None
    other = Store.open(store.workspace.directory, store.workspace, system_clock)
    reading = other.db.reader()
    reading.execute("BEGIN").fetchall()
    reading.execute("SELECT count(*) FROM memory").fetchall()
    reply = desk.hub.memories.forget(desk.caller, [memory_id], confirm=True)
    assert any("another process was reading" in note for note in reply.get("notes", []))
    assert desk.recall("erased") == []
    other.close()
    log = store.workspace.directory / "memory.db-wal"
    assert b"to be erased" in log.read_bytes()
    desk.hub.maintenance.run_once(desk.caller)
    assert b"to be erased" not in log.read_bytes()


def test_the_one_that_is_left_is_found_after_its_copies_went(desk: Desk) -> None:
    ids = desk.remember(*(f"the backup runs at night, note {number}" for number in range(10)))
    desk.hub.memories.forget(desk.caller, ids[:9], confirm=True)
    assert desk.recall("when does the backup run", limit=3) == [ids[9]]


def test_what_a_forgotten_key_stored_is_not_stored_again(repository: Git) -> None:
    with desk_in(repository.root) as desk:
        reply = desk.hub.memories.remember(desk.caller, [{"text": "once"}], operation_key="k")
        desk.hub.memories.forget(desk.caller, [reply["results"][0]["id"]], confirm=True)
        assert desk.recall("once") == []


def test_a_commit_that_cannot_be_understood_is_no_reason_to_fall(desk: Desk, repository: Git) -> None:
    head = repository.commit("start", app__py="retries = 5\n")
    scope = desk.hub.scopes.resolve(desk.caller)
    desk.hub.indexing.index(scope)
    assert scope.store is not None
    with scope.store.write() as tx:
        tx.run("UPDATE git_commit SET patch = x'00'")
    with pytest.raises(NotFound, match=head[:12]):
        desk.hub.memories.forget(desk.caller, [head[:12]])


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]
