"""Sessions on disk become versions of the code they edited."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from git_repository import GitRepository
from transcript_lines import Claude, write_lines

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import InvalidInput, NotFound
from memhub_mcp.service.hub import Hub
from memhub_mcp.settings import load_settings

ONE = "def send():\n    return 1\n"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    repo = GitRepository.create(tmp_path / "repository")
    repo.commit("start", {"readme.md": "hello\n"})
    return repo


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    hub = open_hub(load_settings(home=tmp_path / "home", environ={}, cwd=tmp_path))
    yield hub
    hub.close()


def caller(repo: GitRepository) -> Caller:
    return Caller(source="cli", cwd=repo.root, roots=(repo.root,))


def session(folder: str) -> list[dict[str, object]]:
    claude = Claude(cwd=folder)
    return [
        claude.person("please answer two"),
        *claude.edit("c1", f"{folder}/src/app.py", ONE, "return 1", "return 2"),
        claude.person("continue"),
        claude.calls("Edit", "c2", file_path=f"{folder}/src/app.py", old_string="x", new_string="y"),
        claude.result("c2", "Error: not found", failed=True),
        claude.person("no, three"),
        *claude.edit("c3", f"{folder}/src/app.py", ONE.replace("1", "2"), "return 2", "return 3"),
        *claude.edit("c4", "/elsewhere/app.py", ONE, "return 1", "return 9"),
        *claude.edit("c5", f"{folder}/../secret.py", ONE, "return 1", "return 9"),
        *claude.edit("c6", f"{folder}/.git/config", ONE, "return 1", "return 9"),
    ]


def test_every_successful_edit_is_one_version_with_its_request(repo: GitRepository, hub: Hub, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", *session("/home/someone/project"))
    reply = hub.importing.import_file(caller(repo), file)
    assert (reply["source"], reply["edits"], reply.get("outside"), reply.get("failed")) == ("claude-code", 2, 3, 1)
    again = hub.importing.import_file(caller(repo), file)
    assert (again["edits"], again.get("known")) == (0, 2)
    (chain,) = hub.history.code_history(caller(repo), path="src/app.py", symbol="send")["chains"]
    assert [version["said"] for version in chain["versions"]] == ["please answer two", "no, three"]
    assert all(version["uncommitted"] and "current" not in version for version in chain["versions"])
    assert "edits alone" in chain.get("notes", [""])[-1]


def test_a_session_of_this_repository_keeps_its_paths(repo: GitRepository, hub: Hub, tmp_path: Path) -> None:
    folder = (repo.root / "packages").as_posix()
    file = write_lines(tmp_path / "s1.jsonl", *session(folder))
    hub.importing.import_file(caller(repo), file)
    assert hub.history.code_history(caller(repo), path="packages/src/app.py")["chains"]


def test_windows_sessions_are_understood(repo: GitRepository, hub: Hub, tmp_path: Path) -> None:
    claude = Claude(cwd="C:\\work\\project")
    lines = [claude.person("two"), *claude.edit("c1", "c:\\work\\project\\src\\app.py", ONE, "return 1", "return 2")]
    assert hub.importing.import_file(caller(repo), write_lines(tmp_path / "s.jsonl", *lines))["edits"] == 1
    assert hub.history.code_history(caller(repo), path="src/app.py")["chains"]


def test_what_is_no_session_is_refused(repo: GitRepository, hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello\n")
    for name, error in (("notes.txt", InvalidInput), ("missing.jsonl", NotFound)):
        with pytest.raises(error):
            hub.importing.import_file(caller(repo), tmp_path / name)
    file = write_lines(tmp_path / "s1.jsonl", *session("/w"))
    with pytest.raises(NotFound):
        hub.importing.import_file(Caller(source="cli", cwd=tmp_path), file)


def test_damaged_lines_are_counted_and_passed_over(repo: GitRepository, hub: Hub, tmp_path: Path) -> None:
    lines = session("/w")
    file = write_lines(tmp_path / "s1.jsonl", lines[0], "{broken", *lines[1:3])
    reply = hub.importing.import_file(caller(repo), file)
    assert reply["edits"] == 1
    assert "could not be understood" in reply.get("notes", [""])[0]
