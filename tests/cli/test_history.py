"""`memhub-mcp history` as a person uses it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from git_repository import GitRepository

Memhub = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def repo(tmp_path: Path, words_alone: None) -> GitRepository:
    repo = GitRepository.create(tmp_path / "a repository")
    repo.commit("Add the client", {"src/client.py": "def send():\n    return 1\n\n\ndef stop():\n    pass\n"})
    repo.commit("Raise the retry limit", {"src/client.py": "def send():\n    return 2\n\n\ndef stop():\n    pass\n"})
    return repo


def test_a_place_is_named_from_where_one_stands(memhub: Memhub, repo: GitRepository) -> None:
    for place, folder in (("src/client.py:send", ""), ("client.py:send", "src"), ("client.py:2", "src")):
        shown = memhub("history", place, cwd=repo.root / folder)
        assert shown.returncode == 0, shown.stderr
        assert shown.stdout.index("Add the client") < shown.stdout.index("Raise the retry limit")
        assert "\n      -    return 1\n      +    return 2\n" in shown.stdout
        assert "\x1b" not in shown.stdout


def test_words_and_json(memhub: Memhub, repo: GitRepository) -> None:
    assert memhub("init", cwd=repo.root).returncode == 0
    shown = memhub("history", "--words", "retry limit", "--json", cwd=repo.root)
    reply = json.loads(shown.stdout)
    assert [version["subject"] for version in reply["chains"][0]["versions"]] == ["Raise the retry limit"]


def test_words_removed_code_and_near_misses_are_known_without_init(memhub: Memhub, repo: GitRepository) -> None:
    repo.commit("Add a helper", {"old.py": "def helper():\n    return 7\n"})
    repo.commit("Drop the helper", {"old.py": None})
    assert "Drop the helper" in memhub("history", "old.py:helper", cwd=repo.root).stdout
    home = repo.root.parent
    for number, (question, says) in enumerate(
        [(("--words", "retry limit"), "Raise the retry limit"), (("src/clent.py",), "did you mean src/client.py")]
    ):
        assert says in memhub("history", *question, "--home", str(home / f"new {number}"), cwd=repo.root).stdout


def test_a_file_that_went_in_the_second_it_came_is_told(memhub: Memhub, repo: GitRepository) -> None:
    clock = {"GIT_AUTHOR_DATE": "1700009999 +0000", "GIT_COMMITTER_DATE": "1700009999 +0000"}
    repo.write("brief.py", "x = 1\n")
    for message in ("Add it", "Drop it"):
        repo.git("add", "-A")
        repo.git("commit", "-q", "-m", message, **clock)
        (repo.root / "brief.py").unlink(missing_ok=True)
    for index in ((), ("init",)):
        if index:
            assert memhub(*index, cwd=repo.root).returncode == 0
        shown = memhub("history", "brief.py", cwd=repo.root).stdout
        assert "Drop it" in shown
        assert shown.index("Add it") < shown.index("Drop it")


def test_a_file_that_is_not_committed_is_named_as_such(memhub: Memhub, repo: GitRepository) -> None:
    repo.write("new.py", "x = 1\n")
    assert "'new.py' is not committed yet" in memhub("history", "new.py", cwd=repo.root).stdout


def test_a_recalled_chain_is_shown_to_a_person(memhub: Memhub, repo: GitRepository) -> None:
    told = memhub(
        "remember", "send keeps a retry limit", "--files", "src/client.py", "--symbols", "send", cwd=repo.root
    )
    assert told.returncode == 0, told.stderr
    shown = memhub("recall", "retry limit of send", cwd=repo.root).stdout
    assert "      -    return 1\n      +    return 2\n" in shown
    assert "Raise the retry limit · current" in shown
    assert "memhub-evidence" not in shown


def test_nothing_known_is_no_failure_and_no_question_is_one(
    memhub: Memhub, repo: GitRepository, tmp_path: Path
) -> None:
    shown = memhub("history", "nowhere.py", cwd=repo.root)
    assert (shown.returncode, "nothing is known" in shown.stdout) == (0, True)
    assert memhub("history", cwd=repo.root).returncode == 2
    assert memhub("history", "../x", cwd=repo.root).returncode == 1
    outside = memhub("history", "a.py", cwd=tmp_path)
    assert outside.returncode == 1
    assert "no git repository" in outside.stderr


@pytest.mark.skipif(os.name != "posix" or sys.platform == "darwin", reason="names are Unicode there")
def test_a_file_whose_name_is_no_unicode_has_a_history(memhub: Memhub, repo: GitRepository) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    repo.commit("Keep the menu", {name: "x = 1\n"})
    shown = memhub("history", name, cwd=repo.root)
    assert "Keep the menu" in shown.stdout, shown.stderr


def test_an_edit_that_a_hook_has_just_reported_is_a_version(
    memhub: Memhub, repo: GitRepository, tmp_path: Path
) -> None:
    repo.commit("Begin", {"app.py": "LIMIT = 5\n"})
    (repo.root / "app.py").write_text("LIMIT = 6\n")
    reported = {
        "session_id": "s",
        "cwd": str(repo.root),
        "hook_event_name": "PostToolUse",
        "tool_name": "Edit",
        "tool_use_id": "t",
        "tool_input": {"file_path": str(repo.root / "app.py"), "old_string": "LIMIT = 5", "new_string": "LIMIT = 6"},
    }
    memhub("hook", "claude-code", "edit", "--home", str(tmp_path / "memhub"), stdin=json.dumps(reported))
    assert "claude-code" in memhub("history", "app.py", cwd=repo.root).stdout
