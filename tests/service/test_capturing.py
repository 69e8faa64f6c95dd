"""What happened while nothing was to be recorded stays out, whichever way it would come in."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from git_repository import GitRepository
from hubs import Desk, desk_in
from transcript_lines import Claude, write_lines

from memhub_mcp.capture import spool
from memhub_mcp.capture.changes import change_between
from memhub_mcp.capture.records import Circumstances, edit_record
from memhub_mcp.domain.capture import Level
from memhub_mcp.domain.memory import Filter, Kind
from memhub_mcp.errors import ScopeError

BEFORE = "retries = 5\n"


class Watch:
    """A clock that stands where a test sets it, on the morning on which all transcripts here were written."""

    def __init__(self) -> None:
        self.now = at(0)

    def __call__(self) -> datetime:
        return self.now


def at(second: int) -> datetime:
    return datetime(2026, 3, 4, 5, 6, tzinfo=UTC) + timedelta(seconds=second)


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    repo = GitRepository.create(tmp_path / "shop")
    repo.commit("start", {"app.py": BEFORE})
    return repo


@pytest.fixture
def desk(repo: GitRepository, watch: Watch) -> Iterator[Desk]:
    with desk_in(repo.root, embedder="off", session="s1", clock=watch) as desk:
        yield desk


@pytest.fixture
def silence(desk: Desk, watch: Watch, request: pytest.FixtureRequest) -> None:
    """From second 10 to second 20 nothing is to be recorded."""
    scope = desk.hub.scopes.resolve(desk.caller)
    watch.now = at(10)
    if request.param == "pause":
        desk.hub.capturing.pause(scope, None)
    elif request.param == "pause for 10 seconds":
        desk.hub.capturing.pause(scope, timedelta(seconds=10))
    else:
        desk.hub.capturing.set_level(scope, Level.OFF)
    watch.now = at(20)
    if request.param == "pause":
        desk.hub.capturing.resume(scope)
    elif request.param == "off":
        desk.hub.capturing.set_level(scope, None)
    watch.now = at(60)


def timed(lines: list[dict[str, Any]], second: int) -> list[dict[str, Any]]:
    """`lines`, all of one second."""
    return [{**line, "timestamp": at(second).isoformat()} for line in lines]


def talk(folder: str) -> list[dict[str, Any]]:
    """A session before, during and after the silence."""
    claude = Claude("s1", cwd=folder)
    return [
        *timed([claude.person("retry six times")], 1),
        *timed(claude.edit("c1", f"{folder}/app.py", BEFORE, "5", "6"), 2),
        *timed([claude.says("It retries six times.", "m1")], 3),
        *timed([claude.person("write the secret plan")], 11),
        *timed(claude.edit("c2", f"{folder}/plan.md", "plan\n", "plan", "secret plan"), 12),
        *timed([claude.says("The secret is written.", "m2")], 13),
        *timed([claude.person("continue")], 21),
        *timed(claude.edit("c3", f"{folder}/notes.md", "x\n", "x", "y"), 22),
        *timed([claude.person("and log it")], 23),
        *timed(claude.edit("c4", f"{folder}/log.py", "x\n", "x", "y"), 24),
    ]


def ended(folder: Path, transcript: Path | None = None, event: str = "session-end", **more: str) -> dict[str, Any]:
    told = {"event": event, "source": "claude-code", "session": "s1", "folder": str(folder), **more}
    return {**told, "transcript": str(transcript)} if transcript else told


def edited(repo: GitRepository, second: int, call: str) -> dict[str, Any]:
    change = change_between(str(repo.root / "app.py"), BEFORE, f"retries = {second}\n")
    circumstances = Circumstances(
        tool="Edit",
        source="claude-code",
        time=at(second).isoformat(),
        session="s1",
        tool_call=call,
        cwd=str(repo.root),
        said=f"asked at {second}",
    )
    return edit_record(change, circumstances)


def report(desk: Desk, *events: dict[str, Any]) -> None:
    for event in events:
        spool.write(desk.hub.settings.home, event)
    desk.hub.maintenance.drain()


def facts(desk: Desk) -> list[dict[str, Any]]:
    store = desk.hub.scopes.resolve(desk.caller).store
    assert store is not None
    found = store.memories.newest(Filter(kinds=frozenset({Kind.SUMMARY})), before=None, limit=10)
    ids = [memory.id for memory in found]
    return [dict(memory) for memory in desk.hub.memories.get(desk.caller, ids)["memories"]] if ids else []


def edits(desk: Desk) -> dict[str | None, str | None]:
    """The tool calls of the edits that are kept, each with the request behind it."""
    store = desk.hub.scopes.resolve(desk.caller).store
    assert store is not None
    return {edit.event.tool_call: edit.event.said for edit in store.edits.walk()}


@pytest.mark.parametrize("silence", ["pause", "pause for 10 seconds", "off"], indirect=True)
@pytest.mark.usefixtures("silence")
def test_a_session_that_ends_tells_nothing_of_the_silence(desk: Desk, repo: GitRepository, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", *talk(repo.root.as_posix()))
    report(desk, edited(repo, 2, "c1"), edited(repo, 12, "c2"), edited(repo, 22, "c3"), ended(repo.root, file))
    assert set(edits(desk)) == {"c1", "c3"}
    (fact,) = facts(desk)
    assert "secret" not in fact["text"]
    assert "plan" not in fact["text"]
    assert fact["text"].splitlines()[:2] == [
        "Task: retry six times",
        "Approach: 3 edits in 3 files: app.py, notes.md, log.py; then asked for: “and log it”",
    ]
    assert fact["files"] == ["app.py", "notes.md", "log.py"]


@pytest.mark.parametrize(("silence", "kept"), [("pause", False), ("off", True)], indirect=["silence"])
@pytest.mark.usefixtures("silence")
def test_an_import_leaves_out_a_pause_but_not_what_was_switched_off(
    desk: Desk, repo: GitRepository, tmp_path: Path, kept: bool
) -> None:
    file = write_lines(tmp_path / "s1.jsonl", *talk(repo.root.as_posix()))
    for counted in (4 if kept else 3, 0):
        reply = desk.hub.importing.import_file(desk.caller, file)
        assert (reply["edits"], reply.get("silent", 0)) == (counted, 0 if kept else 1)
    said = {"c1": "retry six times", "c2": "write the secret plan", "c3": "write the secret plan", "c4": "and log it"}
    assert edits(desk) == (said if kept else {"c1": said["c1"], "c3": None, "c4": said["c4"]})
    assert ("secret" in facts(desk)[0]["text"]) is kept


@pytest.mark.parametrize("silence", ["pause"], indirect=True)
@pytest.mark.usefixtures("silence")
def test_a_commit_made_in_a_pause_is_not_told(desk: Desk, repo: GitRepository, tmp_path: Path) -> None:
    log = repo.root / ".git" / "logs" / "refs" / "heads" / "main"
    head = repo.head()
    moved = f"{head} {'a' * 40} A <a@b> {int(at(12).timestamp())} +0000\tcommit: Keep it secret\n"
    moved += f"{'a' * 40} {head} A <a@b> {int(at(22).timestamp())} +0000\tcommit: Log it\n"
    log.write_text(log.read_text() + moved)
    file = write_lines(tmp_path / "s1.jsonl", *talk(repo.root.as_posix()))
    report(desk, ended(repo.root, file))
    (fact,) = facts(desk)
    assert "“Log it”" in fact["text"]
    assert "secret" not in fact["text"]


@pytest.mark.parametrize("silence", ["pause"], indirect=True)
@pytest.mark.usefixtures("silence")
def test_a_transcript_without_times_is_not_trusted_across_a_pause(
    desk: Desk, repo: GitRepository, tmp_path: Path
) -> None:
    write = {"path": str(repo.root / "plan.md"), "contents": "secret"}
    lines = [
        {"role": "user", "message": {"content": [{"type": "text", "text": "write the secret plan"}]}},
        {"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "Write", "input": write}]}},
    ]
    file = write_lines(tmp_path / "s1.jsonl", *lines)
    event = {**edited(repo, 2, "c1"), "source": "cursor"}
    report(desk, event, ended(repo.root, file, source="cursor"))
    (fact,) = facts(desk)
    assert fact["text"].startswith("Task: asked at 2\n")  # told from the edits that hooks reported


def test_all_that_was_said_is_kept_only_where_it_was_asked_for(desk: Desk, repo: GitRepository, tmp_path: Path) -> None:
    other = GitRepository.create(tmp_path / "other")
    other.commit("another start", {"app.py": BEFORE})
    desk.hub.capturing.set_level(desk.hub.scopes.resolve(desk.caller), Level.ALL)
    for root in (repo.root, other.root):
        file = write_lines(tmp_path / f"{root.name}.jsonl", *talk(root.as_posix()))
        report(desk, ended(root, file))
        scope = desk.hub.scopes.of_file(root / "app.py")
        assert scope is not None
        assert scope.store is not None
        counts = scope.store.memories.counts_by_kind(Filter())
        assert counts.get(Kind.TURN, 0) == (6 if root == repo.root else 0)


def test_a_session_that_ends_elsewhere_is_remembered_where_it_began(
    desk: Desk, repo: GitRepository, tmp_path: Path
) -> None:
    other = GitRepository.create(tmp_path / "other")
    other.commit("another start", {"app.py": BEFORE})
    for root in (repo.root, other.root):
        scope = desk.hub.scopes.of_file(root / "app.py")
        assert scope is not None
        desk.hub.capturing.set_level(scope, Level.ALL)
    file = write_lines(tmp_path / "s1.jsonl", *talk(repo.root.as_posix()))
    report(desk, edited(other, 30, "c9"), ended(other.root, file))
    assert "4 edits in 4 files" in facts(desk)[0]["text"]
    there = desk.hub.scopes.of_file(other.root / "app.py")
    assert there is not None
    assert there.store is not None
    assert there.store.memories.counts_by_kind(Filter()) == {Kind.SUMMARY: 1}
    (fact,) = there.store.memories.newest(Filter(), before=None, limit=10)
    assert "asked at 30" in fact.text


def test_a_compaction_settles_the_session_so_far(desk: Desk, repo: GitRepository, tmp_path: Path) -> None:
    lines = talk(repo.root.as_posix())
    file = write_lines(tmp_path / "s1.jsonl", *lines[:4])
    for _ in range(2):
        report(desk, ended(repo.root, file, event="compact"))
    (fact,) = facts(desk)
    assert "Approach: 1 edit in 1 file: app.py\n" in fact["text"]
    write_lines(file, *lines)
    report(
        desk, ended(repo.root, file, event="compact"), ended(repo.root, file), ended(repo.root, file, event="compact")
    )
    (later,) = facts(desk)
    assert (later["id"], later["version"]) == (fact["id"], 2)
    assert "4 edits in 4 files" in later["text"]
    assert spool.pending(desk.hub.settings.home) == []


def test_a_compaction_without_a_transcript_is_told_from_the_edits(desk: Desk, repo: GitRepository) -> None:
    report(desk, edited(repo, 1, "c1"), ended(repo.root, event="compact"))
    report(desk, edited(repo, 2, "c2"), ended(repo.root))
    (fact,) = facts(desk)
    assert "2 edits in 1 file" in fact["text"]
    assert fact["version"] == 2


def test_a_reader_leaves_long_transcripts_to_idle_time(desk: Desk, repo: GitRepository, tmp_path: Path) -> None:
    lines = talk(repo.root.as_posix())
    long = Claude("s1", cwd=repo.root.as_posix()).says("so it goes on and on. " * 30_000, "m8")
    file = write_lines(tmp_path / "s1.jsonl", *lines, *timed([long], 30))
    report(desk, ended(repo.root, file))
    assert facts(desk) == []
    assert desk.hub.maintenance.sessions_wait()
    desk.hub.maintenance.run_once(desk.caller)
    assert len(facts(desk)) == 1
    assert not desk.hub.maintenance.sessions_wait()


def test_an_event_of_a_store_that_cannot_be_written_waits(desk: Desk, repo: GitRepository, tmp_path: Path) -> None:
    other = GitRepository.create(tmp_path / "other")
    other.commit("another start", {"app.py": BEFORE})
    scope = desk.hub.scopes.of_file(other.root / "app.py")
    assert scope is not None
    assert scope.workspace is not None
    report(desk, edited(other, 1, "c0"))
    file = scope.workspace.directory / "memory.db"
    kept = file.read_bytes()
    desk.hub.close()
    with desk_in(repo.root, embedder="off") as again:
        for beside in file.parent.glob("memory.db-*"):
            beside.unlink()
        file.write_bytes(b"no database" * 1_000)
        report(again, edited(other, 2, "c1"), edited(other, 3, "c2"), edited(repo, 4, "c3"))
        report(again, {**edited(other, 5, "c4"), "cwd": str(repo.root)}, edited(repo, 6, "c5"))
        assert len(spool.pending(again.hub.settings.home)) == 3
        assert spool.broken(again.hub.settings.home) == []
        assert set(edits(again)) == {"c3", "c5"}
        file.write_bytes(kept)
        again.hub.maintenance.drain()
        assert spool.pending(again.hub.settings.home) == []


def test_rules_follow_a_workspace_that_joins_another(
    desk: Desk, repo: GitRepository, tmp_path: Path, watch: Watch
) -> None:
    other = GitRepository.create(tmp_path / "other")
    other.commit("another start", {"app.py": BEFORE})
    scope = desk.hub.scopes.of_file(other.root / "app.py")
    assert scope is not None
    watch.now = at(10)
    desk.hub.capturing.pause(scope, None)
    watch.now = at(20)
    own = desk.hub.scopes.resolve(desk.caller)
    assert own.workspace is not None
    desk.hub.workspaces.merge("shop", "other", confirm=True)
    assert desk.hub.capturing.of(own.workspace).state == "edits"
    silences = desk.hub.capturing.silences(own.workspace)
    assert [silences.hold(at(second)) for second in (9, 12, 21)] == [False, True, False]


def test_a_running_process_follows_config_toml(desk: Desk, repo: GitRepository) -> None:
    def shown() -> str | None:
        return desk.hub.memories.status(desk.caller).get("capture")

    config = desk.hub.settings.home / "config.toml"
    assert shown() == "edits"
    config.write_text('capture = "off"\n')
    assert shown() == "off"
    config.write_text("capture = off  # not TOML\n")
    assert shown() == "off"
    config.unlink()
    assert shown() == "edits"


def test_without_a_repository_there_are_no_rules(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with desk_in(tmp_path / "plain", embedder="off") as desk:
        scope = desk.hub.scopes.resolve(desk.caller)
        with pytest.raises(ScopeError):
            desk.hub.capturing.pause(scope, None)
        assert "capture" not in desk.hub.memories.status(desk.caller)
