"""What is remembered, and what a second telling does."""

import threading
from pathlib import Path

import pytest
from git_steps import Git
from hubs import Desk, desk_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhub_mcp.capture.redact import redact
from memhub_mcp.errors import Conflict, InvalidInput, MemhubError, NotFound, ScopeError

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=400).filter(
    lambda text: text.strip() and redact(text) == text
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(text=TEXT)
def test_any_text_comes_back_unchanged(desk: Desk, text: str) -> None:
    [memory_id] = desk.remember(text)
    assert " ".join(desk.text(memory_id).split()) == " ".join(text.split()) or desk.text(memory_id) == text


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(text=TEXT)
def test_saying_it_again_changes_nothing(desk: Desk, text: str) -> None:
    desk.remember(text)
    before = desk.hub.memories.status(desk.caller)["counts"]
    reply = desk.hub.memories.remember(desk.caller, [{"text": f" {text}\n"}])
    assert reply["results"][0]["status"] == "duplicate_of"
    assert desk.hub.memories.status(desk.caller)["counts"] == before


def test_a_duplicate_from_another_host_is_one_memory_of_both(repository: Git, tmp_path: Path) -> None:
    with desk_in(repository.root) as first, desk_in(repository.root, source="codex") as second:
        [memory_id] = first.remember("The queue is drained at night")
        assert second.remember("The queue is drained at night ") == [memory_id]
        assert second.hub.memories.get(second.caller, [memory_id])["memories"][0]["source"] == "mixed"


def test_near_copies_are_kept_and_named(desk: Desk) -> None:
    [first] = desk.remember("The cache of the search page expires after 300 seconds")
    reply = desk.hub.memories.remember(
        desk.caller, [{"text": "The cache of the search page expires after 600 seconds"}]
    )
    assert reply["results"][0]["status"] == "added"
    assert reply["results"][0]["similar_to"] == [first]


def test_a_newer_fact_on_the_subject_supersedes_the_older_across_hosts(repository: Git) -> None:
    with desk_in(repository.root) as first, desk_in(repository.root, source="cursor") as second:
        [old] = first.remember("The database is MySQL", subject="Database")
        reply = second.hub.memories.remember(
            second.caller, [{"text": "We moved the database to Postgres", "subject": "database!"}]
        )
        result = reply["results"][0]
        assert (result["status"], result["other"]) == ("superseded", old)
        assert second.recall("which database do we use") == [result["id"]]
        [shown] = second.hub.memories.get(second.caller, [old])["memories"]
        assert shown["status"] == "superseded"
        assert shown["links"] == [{"relation": "supersedes (from)", "id": result["id"]}]


def test_undo_brings_the_older_fact_back_and_retires_the_newer(desk: Desk) -> None:
    [old] = desk.remember("The port is 8080", subject="port")
    [new] = desk.remember("The port is 9090", subject="port")
    desk.hub.memories.update(desk.caller, old, status="active")
    assert desk.recall("which port") == [old]
    assert desk.hub.memories.get(desk.caller, [new])["memories"][0]["status"] == "superseded"


def test_the_same_key_and_input_gives_the_same_receipt(desk: Desk) -> None:
    memories = [{"text": "one"}, {"text": "two", "tier": "user"}]
    first = desk.hub.memories.remember(desk.caller, memories, operation_key="k1")
    again = desk.hub.memories.remember(desk.caller, memories, operation_key="k1")
    assert again["results"] == first["results"]


def test_the_same_key_with_other_input_is_refused(desk: Desk) -> None:
    desk.hub.memories.remember(desk.caller, [{"text": "one"}], operation_key="k1")
    with pytest.raises(Conflict, match="other content"):
        desk.hub.memories.remember(desk.caller, [{"text": "another"}], operation_key="k1")
    assert desk.recall("another") == []


def test_a_retry_that_overtakes_its_first_try_stores_once(desk: Desk) -> None:
    replies: list[str] = []

    def send() -> None:
        reply = desk.hub.memories.remember(desk.caller, [{"text": "only once"}], operation_key="k")
        replies.append(reply["results"][0]["id"])

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(replies) == 6
    assert len(set(replies)) == 1


def test_secrets_are_gone_before_anything_is_kept(desk: Desk, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    [memory_id] = desk.remember(f"the token is {secret}\nsecond line", solution=f"use {secret}", subject=secret)
    assert secret not in str(desk.hub.memories.get(desk.caller, [memory_id]))
    assert not _files_holding(tmp_path / "memhub-home", secret)


def test_a_session_has_one_fact_that_gets_better(repository: Git) -> None:
    with desk_in(repository.root, session="conversation-1") as desk:
        session = {"task": "fix the timeout", "outcome": "tests pass"}
        first = desk.hub.memories.remember(desk.caller, [{"text": "the pool was exhausted"}], session=session)
        second = desk.hub.memories.remember(desk.caller, [], session={**session, "approach": "raised the pool size"})
        fact_id = first["notes"][0].split()[-1]
        assert second["notes"] == first["notes"]
        [fact] = desk.hub.memories.get(desk.caller, [fact_id])["memories"]
        assert fact["version"] == 2
        assert "raised the pool size" in fact["text"]
        assert {"relation": "session (from)", "id": first["results"][0]["id"]} in fact["links"]


@pytest.mark.parametrize(
    ("memories", "said"),
    [
        ([], "nothing to remember"),
        ([{"text": ""}], "empty"),
        ([{"text": "  \n"}], "empty"),
        ([{"text": "x" * (2 << 20)}], "the limit is 1,048,576"),
        ([{"text": "a\0b"}], "NUL"),
        ([{"text": "a\ud83d"}], "surrogate"),
        ([{"text": 7}], "int"),
        ([{"text": "x", "kind": "summary"}], "cannot be stored"),
        ([{"text": "x", "kind": "nonsense"}], "use one of"),
        ([{"text": "x", "tier": "galaxy"}], "tier 'galaxy'"),
        ([{"text": "x", "search_keys": ["k"] * 3 + ["a", "b", "c", "d", "e"]}], "the limit is 5"),
        ([{"text": "x", "valid_until": "soon"}], "ISO date"),
        ([{"text": "x", "valid_until": "0001-01-01T00:00:00+14:00"}], "ISO date"),
        ([{"text": "x"}] * 21, "the limit is 20"),
        ([{"text": "good"}, {"text": ""}], "memory 2"),
    ],
)
def test_what_cannot_be_stored_is_refused_in_one_sentence(
    desk: Desk, memories: list[dict[str, object]], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said) as refused:
        desk.hub.memories.remember(desk.caller, memories)
    assert "\n" not in str(refused.value)
    assert desk.hub.memories.list(desk.caller)["hits"] == []


def test_a_text_at_the_limit_is_stored_whole_and_found_by_its_end(desk: Desk) -> None:
    end = " the last word is quetzalcoatl"
    text = "lorem ipsum dolor " * 58_000
    [memory_id] = desk.remember(text[: (1 << 20) - len(end)] + end)
    assert desk.text(memory_id).endswith(end)
    assert desk.recall("quetzalcoatl") == [memory_id]


def test_without_a_repository_only_the_persons_tier_exists(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    with desk_in(folder) as desk:
        reply = desk.hub.memories.remember(desk.caller, [{"text": "I like short answers"}])
        assert "follows you everywhere" in reply["notes"][0]
        memory_id = reply["results"][0]["id"]
        assert desk.hub.memories.get(desk.caller, [memory_id])["memories"][0]["tier"] == "user"
        with pytest.raises(ScopeError, match="no repository here"):
            desk.remember("for the workspace", tier="workspace")


def test_a_new_version_is_found_by_its_own_words_only(desk: Desk) -> None:
    [memory_id] = desk.remember("the worker uses gevent")
    reply = desk.hub.memories.update(desk.caller, memory_id, text="the worker uses threads", if_version=1)
    assert reply["version"] == 2
    assert desk.recall("threads") == [memory_id]
    assert desk.recall("gevent") == []
    versions = desk.hub.memories.get(desk.caller, [memory_id])["memories"][0]["versions"]
    assert [version["text"] for version in versions] == ["the worker uses gevent"]


def test_a_version_that_moved_on_is_not_overwritten(desk: Desk) -> None:
    [memory_id] = desk.remember("a")
    desk.hub.memories.update(desk.caller, memory_id, text="b")
    with pytest.raises(Conflict, match="version 2, not 1"):
        desk.hub.memories.update(desk.caller, memory_id, text="c", if_version=1)
    assert desk.text(memory_id) == "b"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({}, InvalidInput),
        ({"status": "superseded"}, InvalidInput),
        ({"feedback": "meh"}, InvalidInput),
        ({"text": ""}, InvalidInput),
    ],
)
def test_an_update_that_makes_no_sense_changes_nothing(
    desk: Desk, change: dict[str, str], error: type[MemhubError]
) -> None:
    [memory_id] = desk.remember("a")
    with pytest.raises(error):
        desk.hub.memories.update(desk.caller, memory_id, **change)
    assert desk.hub.memories.get(desk.caller, [memory_id])["memories"][0]["version"] == 1


def test_an_unknown_id_is_said_to_be_unknown(desk: Desk) -> None:
    with pytest.raises(NotFound, match="no memory 'm_none'"):
        desk.hub.memories.update(desk.caller, "m_none", text="x")
    with pytest.raises(NotFound):
        desk.hub.memories.forget(desk.caller, ["m_none"], confirm=True)
    assert desk.hub.memories.get(desk.caller, ["m_none"])["missing"] == ["m_none"]


def _files_holding(folder: Path, text: str) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]
