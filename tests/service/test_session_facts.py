"""Sessions are remembered by themselves, and what an assistant says of one stays."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from git_repository import GitRepository
from hubs import Desk, desk_in
from transcript_lines import Claude, write_lines

from memhub_mcp.capture import spool
from memhub_mcp.capture.changes import change_between
from memhub_mcp.capture.records import Circumstances, edit_record
from memhub_mcp.domain.memory import Filter, Kind


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    repo = GitRepository.create(tmp_path / "shop")
    repo.commit("start", {"app.py": "retries = 5\n", ".gitignore": "*.log\n", ".memhubignore": "private/\n"})
    return repo


@pytest.fixture
def desk(repo: GitRepository) -> Iterator[Desk]:
    with desk_in(repo.root, embedder="off", session="s1") as desk:
        yield desk


def talk(folder: str, *more: dict[str, Any], claude: Claude | None = None) -> list[dict[str, Any]]:
    claude = claude or Claude("s1", cwd=folder)
    return [
        claude.person("<system-reminder>be brief</system-reminder>yes"),
        claude.person("retry six times, the gateway drops the fifth; token ghp_" + "a1B2" * 9),
        *claude.edit("c1", f"{folder}/app.py", "retries = 5\n", "5", "6"),
        claude.person("and log each of them"),
        *claude.edit("c2", f"{folder}/app.py", "retries = 6\n", "6", "7"),
        claude.says("It retries and logs now.", "m9"),
        *more,
    ]


def facts(desk: Desk) -> list[dict[str, Any]]:
    """The facts about sessions, in full."""
    store = desk.hub.scopes.resolve(desk.caller).store
    assert store is not None
    found = store.memories.newest(Filter(kinds=frozenset({Kind.SUMMARY})), before=None, limit=10)
    ids = [memory.id for memory in found]
    return [dict(memory) for memory in desk.hub.memories.get(desk.caller, ids)["memories"]] if ids else []


def test_an_imported_session_is_one_fact_with_what_can_be_told(desk: Desk, repo: GitRepository, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", *talk("/srv/shop"))
    assert desk.hub.importing.import_file(desk.caller, file)["facts"] == 1
    (fact,) = facts(desk)
    task, approach, outcome = (line for line in fact["text"].splitlines() if ": " in line)
    assert task.startswith("Task: retry six times, the gateway drops the fifth")
    assert "ghp_" not in fact["text"]
    assert approach == "Approach: 2 edits in 1 file: app.py (2 edits); then asked for: “and log each of them”"
    assert outcome == "Outcome: not checked; the assistant said last: “It retries and logs now.”"
    assert (fact["files"], fact["source"], fact["version"]) == (["app.py"], "claude-code", 1)
    assert desk.hub.importing.import_file(desk.caller, file)["facts"] == 0
    assert facts(desk) == [fact]


def test_a_session_that_went_on_is_a_new_version_of_its_fact(desk: Desk, tmp_path: Path) -> None:
    claude = Claude("s1", cwd="/srv/shop")
    begun = talk("/srv/shop", claude=claude)
    desk.hub.importing.import_file(desk.caller, write_lines(tmp_path / "s1.jsonl", *begun))
    more = [*begun, claude.person("undo the log"), claude.says("The log is gone.", "m10")]
    assert desk.hub.importing.import_file(desk.caller, write_lines(tmp_path / "s1.jsonl", *more))["facts"] == 1
    (fact,) = facts(desk)
    assert fact["version"] == 2
    assert "The log is gone." in fact["text"]


def test_what_an_assistant_tells_of_its_session_stays(desk: Desk, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", *talk("/srv/shop"))
    desk.hub.importing.import_file(desk.caller, file)
    told = {"task": "raise the retry limit", "approach": "changed the constant", "outcome": "six, tests pass"}
    desk.hub.memories.remember(desk.caller, [], session=told)
    more = write_lines(tmp_path / "s1.jsonl", *talk("/srv/shop"), Claude("s1", cwd="/srv/shop").says("More.", "m11"))
    assert desk.hub.importing.import_file(desk.caller, more)["facts"] == 0
    (fact,) = facts(desk)
    assert fact["text"].startswith("Task: raise the retry limit")
    assert fact["version"] == 2


def test_a_forgotten_fact_does_not_come_back(desk: Desk, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", *talk("/srv/shop"))
    desk.hub.importing.import_file(desk.caller, file)
    desk.hub.memories.forget(desk.caller, [facts(desk)[0]["id"]], confirm=True)
    assert desk.hub.importing.import_file(desk.caller, file)["facts"] == 0
    assert facts(desk) == []


def test_commits_made_meanwhile_are_told(desk: Desk, repo: GitRepository, tmp_path: Path) -> None:
    sha = repo.commit("Retry six times", {"app.py": "retries = 6\n"})  # at 1,700,000,120
    claude = Claude("s1", cwd=repo.root.as_posix())
    lines = [claude.person("retry six times"), claude.says("Committed.", "m1")]
    for line, second in zip(lines, ("22:15:00", "22:15:30"), strict=True):
        line["timestamp"] = f"2023-11-14T{second}Z"
    desk.hub.importing.import_file(desk.caller, write_lines(tmp_path / "s1.jsonl", *lines))
    (fact,) = facts(desk)
    assert f"Commits made on the branch meanwhile: {sha[:10]} “Retry six times”" in fact["text"]
    assert sha.startswith(fact["commit"])


def report(desk: Desk, home: Path, event: dict[str, Any]) -> None:
    spool.write(home, event)
    desk.hub.maintenance.drain()


def edited(repo: GitRepository, path: str = "app.py", call: str = "h1") -> dict[str, Any]:
    change = change_between(str(repo.root / path), "retries = 5\n", "retries = 6\n")
    circumstances = Circumstances(
        tool="Edit",
        source="claude-code",
        time="2026-03-04T05:06:07+00:00",
        session="s1",
        tool_call=call,
        cwd=str(repo.root),
        said="retry six times",
    )
    return edit_record(change, circumstances)


def ended(repo: GitRepository, **more: str) -> dict[str, Any]:
    return {"event": "session-end", "source": "claude-code", "session": "s1", "folder": str(repo.root), **more}


def test_a_session_that_hooks_followed_is_told_from_its_edits(desk: Desk, repo: GitRepository, tmp_path: Path) -> None:
    home = tmp_path / "memhub-home"
    report(desk, home, edited(repo))
    report(desk, home, ended(repo, transcript="/nowhere/s1.jsonl"))
    assert spool.pending(home) == []
    (fact,) = facts(desk)
    assert fact["text"] == (
        "Task: retry six times\nApproach: 1 edit in 1 file: app.py\nOutcome: not known, only the edits were seen"
    )


def test_the_transcript_of_a_session_that_ended_tells_more(desk: Desk, repo: GitRepository, tmp_path: Path) -> None:
    home = tmp_path / "memhub-home"
    file = write_lines(tmp_path / "s1.jsonl", *talk(repo.root.as_posix()))
    for _ in range(2):
        report(desk, home, edited(repo))
        report(desk, home, ended(repo, transcript=str(file)))
        desk.hub.maintenance.run_once(desk.caller)
    (fact,) = facts(desk)
    assert "It retries and logs now." in fact["text"]
    assert fact["version"] == 1
    store = desk.hub.scopes.resolve(desk.caller).store
    assert store is not None
    assert [edit.event.tool_call for edit in store.edits.walk()] == ["h1"]  # hooks reported them already


def test_no_text_of_an_ignored_file_is_kept(desk: Desk, repo: GitRepository, tmp_path: Path) -> None:
    folder = "/srv/shop"
    claude = Claude("s1", cwd=folder)
    lines = [claude.person("write it down")]
    paths = ("trace.log", "private/plan.md", ".env", "notes.md")
    for number, path in enumerate(paths):
        lines += claude.edit(f"c{number}", f"{folder}/{path}", "a hidden word\n", "word", "sentence")
    reply = desk.hub.importing.import_file(desk.caller, write_lines(tmp_path / "s1.jsonl", *lines))
    assert (reply["edits"], reply.get("withheld")) == (4, 3)
    report(desk, tmp_path / "memhub-home", edited(repo, "hook.log"))
    store = desk.hub.scopes.resolve(desk.caller).store
    assert store is not None
    kept = {edit.event.path: edit.event for edit in store.edits.walk()}
    assert kept["notes.md"].content_after == "a hidden sentence\n"
    for path in ("trace.log", "private/plan.md", ".env", "hook.log"):
        event = kept[path]
        assert (event.old_text, event.new_text, event.content_after, event.hash_after) == (None,) * 4, path
        assert event.hunks


@pytest.mark.parametrize(("capture", "turns"), [("edits", 0), ("all", 4)])
def test_what_was_said_is_kept_when_everything_is_captured(
    repo: GitRepository, tmp_path: Path, capture: str, turns: int
) -> None:
    file = write_lines(tmp_path / "s1.jsonl", *talk("/srv/shop"))
    with desk_in(repo.root, embedder="off", capture=capture) as desk:
        assert desk.hub.importing.import_file(desk.caller, file).get("turns", 0) == turns
        assert desk.hub.importing.import_file(desk.caller, file).get("turns", 0) == 0
        counts = json.dumps(desk.hub.memories.status(desk.caller)["counts"])
        assert ("turn" in counts) is bool(turns)


def test_a_file_behind_a_link_lies_elsewhere(desk: Desk, repo: GitRepository, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repo.root / "link").symlink_to(tmp_path / "elsewhere")
    claude = Claude("s1", cwd=repo.root.as_posix())
    lines = [claude.person("go"), *claude.edit("c1", f"{repo.root}/link/a.py", "a\n", "a", "b")]
    reply = desk.hub.importing.import_file(desk.caller, write_lines(tmp_path / "s1.jsonl", *lines))
    assert (reply["edits"], reply.get("outside")) == (0, 1)


def test_a_forgotten_session_takes_its_requests_along(desk: Desk, repo: GitRepository, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", *talk(str(repo.root)))
    desk.hub.importing.import_file(desk.caller, file)
    (fact,) = facts(desk)
    desk.hub.memories.forget(desk.caller, [fact["id"]], confirm=True)
    desk.hub.importing.import_file(desk.caller, file)
    assert facts(desk) == []
    (chain,) = desk.hub.history.code_history(desk.caller, path="app.py")["chains"]
    assert len([version for version in chain["versions"] if version.get("edits")]) == 2
    home = tmp_path / "memhub-home"
    assert not [file for file in home.rglob("*") if file.is_file() and b"the gateway drops" in file.read_bytes()]
