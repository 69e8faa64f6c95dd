"""Taking earlier sessions into the memory at the terminal."""

import json
import os
from pathlib import Path

import pytest
from git_repository import GitRepository
from tests.cli.conftest import Memhub
from transcript_lines import Claude, write_lines

pytestmark = pytest.mark.usefixtures("words_alone")


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    repo = GitRepository.create(tmp_path / "shop")
    repo.commit("start", {"app.py": "retries = 5\n"})
    return repo


def lines(folder: str, session: str = "s1", call: str = "c1") -> list[dict[str, object]]:
    claude = Claude(session, cwd=folder)
    return [
        claude.person("retry six times, the gateway drops the fifth"),
        *claude.edit(call, f"{folder}/app.py", "retries = 5\n", "5", "6"),
        claude.says("It retries six times now.", "m9"),
    ]


def test_a_session_file_is_imported_once(memhub: Memhub, repo: GitRepository, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "old.jsonl", *lines("/somewhere/else"))
    planned = memhub("import", str(file), "--dry-run", cwd=repo.root)
    assert (planned.returncode, planned.stdout) == (0, "would import 1 edit of 1 session (claude-code)\n")
    done = memhub("import", str(file), "--json", cwd=repo.root)
    reply = json.loads(done.stdout)
    assert (reply["edits"], reply["facts"], done.stderr) == (1, 1, "")
    again = memhub("import", str(file), cwd=repo.root)
    assert again.stdout.splitlines() == ["1 session read (claude-code): 0 new edits", "1 edit known already"]
    assert "retry six times" in memhub("history", "app.py", cwd=repo.root).stdout
    recalled = memhub("recall", "how many retries", "--json", cwd=repo.root)
    assert any(hit["kind"] == "summary" for hit in json.loads(recalled.stdout)["hits"])


def test_an_assistant_is_asked_for_its_sessions_here_alone(
    memhub: Memhub, environment: dict[str, str], repo: GitRepository
) -> None:
    projects = Path(environment["HOME"]) / ".claude" / "projects"
    write_lines(projects / "-shop" / "s1.jsonl", *lines(repo.root.as_posix(), "s1", "c1"))
    write_lines(projects / "-other" / "s2.jsonl", *lines("/srv/other", "s2", "c2"))
    write_lines(projects / "-broken" / "s3.jsonl", "{")
    reply = json.loads(memhub("import", "claude", "--json", cwd=repo.root).stdout)
    assert (reply["files"], reply["sessions"], reply["edits"]) == (3, 1, 1)
    recent = json.loads(memhub("import", "claude-code", "--since", "1h", "--json", cwd=repo.root).stdout)
    assert (recent["edits"], recent.get("known")) == (0, None)


def test_a_session_of_another_worktree_counts(
    memhub: Memhub, environment: dict[str, str], repo: GitRepository, tmp_path: Path
) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "side"))
    projects = Path(environment["HOME"]) / ".claude" / "projects"
    write_lines(projects / "side" / "s1.jsonl", *lines((tmp_path / "side").as_posix()))
    assert json.loads(memhub("import", "claude", "--json", cwd=repo.root).stdout)["edits"] == 1
    assert "retry six times" in memhub("history", "app.py", "--branch", "*", cwd=repo.root).stdout


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("missing.jsonl", "does not exist"),
        ("empty.jsonl", "is no transcript"),
        ("binary.jsonl", "is no transcript"),
        ("half.json", "is no transcript"),
        ("broken.vscdb", "cannot be read"),
        ("nothing", "no transcript"),
        ("zed", "cannot be read"),
        ("codex", "no sessions on this machine"),
    ],
)
def test_what_cannot_be_imported_is_refused_in_a_sentence(
    memhub: Memhub, repo: GitRepository, what: str, says: str
) -> None:
    folder = repo.root
    (folder / "empty.jsonl").touch()
    (folder / "binary.jsonl").write_bytes(os.urandom(5_000))
    (folder / "half.json").write_text('{"sessionId": "g", "messages": [{')
    (folder / "broken.vscdb").write_bytes(b"\1" * 3_000)
    (folder / "nothing").mkdir()
    done = memhub("import", what, cwd=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_folder_is_read_past_what_is_broken(memhub: Memhub, repo: GitRepository, tmp_path: Path) -> None:
    write_lines(tmp_path / "old" / "b.jsonl", *lines("/w"))
    (tmp_path / "old" / "state.vscdb").write_bytes(b"\1" * 3_000)
    (tmp_path / "old" / "notes.txt").write_text("hello\n")
    (tmp_path / "old" / "shop.db").write_bytes(b"\1" * 3_000)
    done = memhub("import", str(tmp_path / "old"), cwd=repo.root)
    assert done.returncode == 0
    assert done.stdout.startswith("1 session read (claude-code): 1 new edit")
    assert done.stdout.count("left out") == 1


def test_a_session_that_is_being_written_is_taken_up_later(memhub: Memhub, repo: GitRepository, tmp_path: Path) -> None:
    written = lines("/w")
    whole = json.dumps(written[2])
    file = write_lines(tmp_path / "s1.jsonl", *written[:2], whole[:40])
    assert "0 new edits" in memhub("import", str(file), cwd=repo.root).stdout
    write_lines(file, *written)
    assert "1 new edit" in memhub("import", str(file), cwd=repo.root).stdout
