"""Versions that never reached a commit, and the words behind those that did."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from git_repository import GitRepository

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.capture.changes import change_between
from memhub_mcp.capture.events import edit_from_json
from memhub_mcp.capture.records import Circumstances, edit_record
from memhub_mcp.domain.scope import Caller
from memhub_mcp.service.edits import record_edit
from memhub_mcp.service.hub import Hub
from memhub_mcp.settings import load_settings


class Session:
    """An assistant that edits files of a repository and reports each edit."""

    def __init__(self, hub: Hub, repo: GitRepository) -> None:
        self.hub = hub
        self.repo = repo
        self.caller = Caller(source="test", cwd=repo.root, roots=(repo.root,))
        self.calls = 0
        self.clock = datetime.fromtimestamp(1_700_000_030, UTC)  # half a minute after a commit

    def edit(
        self, path: str, after: str, said: str, *, minute: float, call: str | None = None, whole: bool = True
    ) -> bool:
        file = self.repo.root / path
        before = file.read_text() if file.exists() else ""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(after)
        self.calls += 1
        change = change_between(str(file), before, after)
        change.kind = "modify" if before else "add"
        circumstances = Circumstances(
            tool="Edit",
            source="claude-code",
            time=(self.clock + timedelta(minutes=minute)).isoformat(),
            session="s1",
            tool_call=call or f"call-{self.calls}",
            cwd=str(self.repo.root),
            said=said,
        )
        if not whole:
            change.after = change.before = None
        return record_edit(self.hub.scopes, self.hub.capturing, edit_from_json(edit_record(change, circumstances)))

    def versions(self, **question: Any) -> list[dict[str, Any]]:
        self.hub.indexing.index(self.hub.scopes.resolve(self.caller))
        chains = self.hub.history.code_history(self.caller, **question)["chains"]
        assert len(chains) == 1
        return chains[0]["versions"]


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    return GitRepository.create(tmp_path / "repository")


@pytest.fixture
def session(tmp_path: Path, repo: GitRepository) -> Iterator[Session]:
    hub = open_hub(load_settings(home=tmp_path / "home", environ={}, cwd=tmp_path))
    yield Session(hub, repo)
    hub.close()


def module(**bodies: str) -> str:
    return "".join(f"def {name}():\n    {body}\n\n\n" for name, body in bodies.items())


def told(versions: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(v["kind"], v.get("commit"), v.get("said"), v.get("uncommitted", False)) for v in versions]


def test_an_edit_that_was_committed_says_who_asked_for_it(repo: GitRepository, session: Session) -> None:
    first = repo.commit("Start", {"app.py": module(start="pass", send="return 1")})  # minute 1
    session.edit("app.py", module(start="pass", send="return retry(3)"), "please retry three times", minute=1)
    second = repo.commit("Retry")  # minute 2
    session.edit("app.py", module(start="go()", send="return retry(3)"), "start it", minute=3)
    assert told(session.versions(path="app.py", symbol="send")) == [
        ("add", first[:12], None, False),
        ("modify", second[:12], "please retry three times", False),
    ]
    assert session.versions(path="app.py", symbol="send")[1]["source"] == "claude-code"


def test_an_edit_committed_within_its_second_belongs_to_that_commit(repo: GitRepository, session: Session) -> None:
    repo.commit("Start", {"app.py": module(send="return 1")})
    session.edit("app.py", module(send="return 2"), "make it two", minute=1.507)  # git says 120 s, the edit 120.42 s
    second = repo.commit("Two")
    third = repo.commit("Three", {"app.py": module(send="return 3")})
    assert told(session.versions(path="app.py", symbol="send"))[1:] == [
        ("modify", second[:12], "make it two", False),
        ("modify", third[:12], None, False),
    ]


def test_an_edit_told_without_its_file_gives_its_request_to_the_commit_that_holds_it(
    repo: GitRepository, session: Session
) -> None:
    start = module(start="pass", send="return 1", stop="pass")
    retried = module(start="pass", send="return retry(3)", stop="pass")
    repo.commit("Start", {"app.py": start})
    session.edit("app.py", retried, "please retry three times", minute=1, whole=False)
    second = repo.commit("Retry")
    repo.commit("Stop", {"app.py": retried.replace("stop():\n    pass", "stop():\n    halt()")})
    assert [v.get("said") for v in session.versions(path="app.py", symbol="stop")] == [None, None]
    assert told(session.versions(path="app.py", symbol="send"))[1:] == [
        ("modify", second[:12], "please retry three times", False)
    ]
    session.edit("app.py", retried.replace("retry(3)", "retry(4)"), "once more", minute=9, whole=False)
    versions = session.versions(path="app.py", symbol="send")
    assert told(versions)[2:] == [("modify", None, "once more", True)]


def test_an_edit_told_without_its_file_is_known_by_what_it_replaced(repo: GitRepository, session: Session) -> None:
    repo.commit("Start", {"app.py": module(send="return 1", stop="return None")})
    session.edit("app.py", module(send="return None", stop="return None"), "none", minute=1, whole=False)
    repo.commit("None")
    assert [v.get("said") for v in session.versions(path="app.py", symbol="send")] == [None, "none"]
    assert [v.get("said") for v in session.versions(path="app.py", symbol="stop")] == [None]


def test_an_edit_overwritten_before_any_commit_stays_a_version(repo: GitRepository, session: Session) -> None:
    first = repo.commit("Start", {"app.py": module(start="pass", send="return 1")})
    session.edit("app.py", module(start="pass", send="return backoff(2.0)"), "use backoff", minute=1)
    session.edit("app.py", module(start="pass", send="return wait(30)"), "no, just wait", minute=1)
    second = repo.commit("Wait")
    versions = session.versions(path="app.py", symbol="send")
    assert told(versions) == [
        ("add", first[:12], None, False),
        ("modify", None, "use backoff", True),
        ("modify", second[:12], "no, just wait", False),
    ]
    assert "+    return backoff(2.0)" in versions[1]["code"]
    assert versions[2]["current"]


def test_what_no_commit_has_is_the_last_edit(repo: GitRepository, session: Session) -> None:
    repo.commit("Start", {"app.py": module(start="pass", send="return 1")})
    session.edit("app.py", module(start="pass", send="return 2"), "make it two", minute=5)
    session.edit("app.py", module(start="pass", send="return 1"), "take it back", minute=6)
    session.edit("app.py", module(start="pass", send="return 3"), "make it three", minute=7)
    versions = session.versions(path="app.py", symbol="send")
    assert [v.get("said") for v in versions] == [None, "make it two", "take it back", "make it three"]
    assert [v.get("same_as") for v in versions] == [None, None, 1, None]
    assert [v.get("reverted_by") for v in versions] == [None, 3, None, None]
    assert [v.get("current", False) for v in versions] == [False, False, False, True]


def test_two_requests_in_one_commit_are_both_told(repo: GitRepository, session: Session) -> None:
    repo.commit("Start", {"app.py": module(send="return 1")})
    session.edit("app.py", "def send():\n    log()\n    return 1\n\n\n", "log it", minute=1)
    session.edit("app.py", "def send():\n    log()\n    check()\n    return 1\n\n\n", "and check it", minute=1)
    repo.commit("Log and check")
    versions = session.versions(path="app.py", symbol="send")
    assert [v.get("said") for v in versions] == [None, "log it / and check it"]


def test_a_new_file_has_a_history_before_its_first_commit(repo: GitRepository, session: Session) -> None:
    repo.commit("Start", {"a.txt": "a\n"})
    session.edit("new.py", module(send="return 1"), "write it", minute=1)
    session.edit("new.py", module(send="return 2"), "better", minute=1)
    versions = session.versions(path="new.py", symbol="send")
    assert told(versions) == [("add", None, "write it", True), ("modify", None, "better", True)]
    repo.commit("Add it")
    versions = session.versions(path="new.py", symbol="send")
    assert told(versions) == [
        ("add", None, "write it", True),
        ("add", repo.head()[:12], "better", False),
    ]


def test_edits_elsewhere_in_the_file_are_not_told(repo: GitRepository, session: Session) -> None:
    repo.commit("Start", {"app.py": module(start="pass", send="return 1", stop="pass")})
    session.edit("app.py", "# a note\n" * 40 + module(start="pass", send="return 1", stop="pass"), "notes", minute=5)
    session.edit("app.py", "# a note\n" * 40 + module(start="go()", send="return 1", stop="halt()"), "go", minute=6)
    assert len(session.versions(path="app.py", symbol="send")) == 1


def test_a_replayed_hook_changes_nothing(repo: GitRepository, session: Session) -> None:
    repo.commit("Start", {"app.py": module(send="return 1")})
    assert session.edit("app.py", module(send="return 2"), "two", minute=5, call="c1")
    assert not session.edit("app.py", module(send="return 2"), "two", minute=5, call="c1")
    assert len(session.versions(path="app.py", symbol="send")) == 2


def test_an_edit_that_was_forgotten_is_gone_from_the_chain_and_every_file(
    repo: GitRepository, session: Session, tmp_path: Path
) -> None:
    repo.commit("start", {"app.py": module(send="return 1")})
    session.edit("app.py", module(send="return 'zirconium'"), "use zirconium for a moment", minute=1)
    session.edit("app.py", module(send="return 2"), "no, two", minute=2)
    _, tried, replaced = [line.get("edits") for line in session.versions(path="app.py", symbol="send")]
    reply = session.hub.memories.forget(session.caller, tried)
    [line] = reply["memories"]
    assert (line["kind"], line["path"], line["preview"]) == ("edit", "app.py", "use zirconium for a moment")
    assert any(replaced[0] in note for note in reply.get("notes", []))  # it holds what it replaced
    session.hub.memories.forget(session.caller, [*tried, *replaced], confirm=True)
    assert [line.get("said") for line in session.versions(path="app.py", symbol="send")] == [None, None]
    assert not [file for file in (tmp_path / "home").rglob("*") if file.is_file() and b"zirconium" in file.read_bytes()]
    assert not session.edit("app.py", module(send="return 'zirconium'"), "again", minute=1, call="call-1")


def test_an_uncommitted_edit_is_seen_from_its_own_branch(repo: GitRepository, session: Session) -> None:
    repo.commit("Start", {"app.py": module(send="return 1")})
    repo.git("checkout", "-q", "-b", "side")
    session.edit("app.py", module(send="return 2"), "try two", minute=5)
    repo.git("checkout", "-q", "--", "app.py")
    assert len(session.versions(path="app.py", symbol="send")) == 2
    repo.git("checkout", "-q", "main")
    assert len(session.versions(path="app.py", symbol="send")) == 1
    assert [v.get("branch") for v in session.versions(path="app.py", symbol="send", branch="*")] == [None, "side"]


def test_a_commit_that_was_rebased_keeps_its_request(repo: GitRepository, session: Session) -> None:
    repo.commit("Start", {"app.py": module(send="return 1"), "b.txt": "b\n"})
    repo.git("checkout", "-q", "-b", "work")
    session.edit("app.py", module(send="return 2"), "make it two", minute=1)
    repo.commit("Two")
    repo.git("checkout", "-q", "main")
    repo.commit("Meanwhile", {"b.txt": "c\n"})
    repo.git("checkout", "-q", "work")
    repo.git("rebase", "-q", "main")
    assert [v.get("said") for v in session.versions(path="app.py", symbol="send")] == [None, "make it two"]
