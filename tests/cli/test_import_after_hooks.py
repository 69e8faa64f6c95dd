"""What an import of Gemini's sessions makes of what their transcripts leave out: the branch, and what hooks told."""

import json
from pathlib import Path
from subprocess import run
from typing import Any

import pytest
from git_repository import GitRepository
from tests.cli.conftest import SCRIPT, Memhub
from transcript_lines import write_lines

pytestmark = pytest.mark.usefixtures("words_alone")

PAYLOADS = Path(__file__).parent.parent / "hosts" / "payloads"
SESSION = "5f0c2f6e-8f0b-4b5e-9d57-0c1f4a2b7d11"
TIME = "2026-11-30T06:27:{:02}.000Z"


def call(number: int, before: str, after: str) -> dict[str, Any]:
    """A message with one call of `replace` on app.py."""
    given = {"file_path": "app.py", "instruction": "…", "old_string": before.strip(), "new_string": after.strip()}
    one = {"id": f"replace__{number}", "name": "replace", "args": given, "status": "success"}
    shown = {"fileName": "app.py", "originalContent": before, "newContent": after}
    time = TIME.format(number)
    return {
        "id": f"m{number}",
        "timestamp": time,
        "type": "gemini",
        "content": "",
        "toolCalls": [{**one, "timestamp": time, "resultDisplay": shown}],
    }


def session(person: Path, root: Path, *messages: dict[str, Any]) -> None:
    """A transcript where Gemini CLI keeps those of a project."""
    chats = person / ".gemini" / "tmp" / "project" / "chats"
    write_lines(
        chats / "session-1.jsonl",
        {"sessionId": SESSION, "projectHash": "ab" * 32, "startTime": TIME.format(0), "kind": "main"},
        {"id": "m1", "timestamp": TIME.format(1), "type": "user", "content": [{"text": "fix the timeout"}]},
        *messages,
    )
    (chats.parent / ".project_root").write_text(root.as_posix())


def test_an_edit_that_a_hook_reported_is_known_once(
    memhub: Memhub, environment: dict[str, str], tmp_path: Path
) -> None:
    repo = GitRepository.create(tmp_path / "project")
    repo.commit("start", {"app.py": "TIMEOUT = 5\n"})
    person = Path(environment["HOME"])
    memhub("init", cwd=repo.root)
    repo.write("app.py", "TIMEOUT = 30\n")
    for event, name in (("prompt", "prompt"), ("edit", "edit.replace")):
        text = (PAYLOADS / "gemini-cli" / f"{name}.json").read_text()
        payload = text.replace("{project}", repo.root.as_posix()).replace("{person}", str(person))
        hook = [SCRIPT, "hook", "gemini-cli", event, "--home", environment["MEMHUB_HOME"]]
        assert run(hook, env=environment, input=payload.encode(), capture_output=True, check=True).stderr == b""
    five, thirty = "TIMEOUT = 5\n", "TIMEOUT = 30\n"
    session(person, repo.root, call(2, five, thirty), call(3, thirty, five), call(4, five, thirty))
    first = json.loads(memhub("import", "gemini-cli", "--json", cwd=repo.root).stdout)
    assert (first["sessions"], first["edits"], first["known"]) == (1, 2, 1)
    again = json.loads(memhub("import", "gemini-cli", "--json", cwd=repo.root).stdout)
    assert (again["edits"], again["known"]) == (0, 3)
    assert memhub("history", "app.py", cwd=repo.root).stdout.count("“fix the timeout”") == 3


def test_an_edit_belongs_to_the_branch_that_was_checked_out(
    memhub: Memhub, environment: dict[str, str], tmp_path: Path
) -> None:
    repo = GitRepository.create(tmp_path / "project")
    repo.commit("start", {"app.py": "TIMEOUT = 5\n"})
    repo.git("switch", "-q", "-c", "topic", GIT_COMMITTER_DATE="2026-11-30T06:20:00Z")
    repo.git("switch", "-q", "main", GIT_COMMITTER_DATE="2026-11-30T06:40:00Z")
    session(Path(environment["HOME"]), repo.root, call(2, "TIMEOUT = 5\n", "TIMEOUT = 30\n"))
    assert json.loads(memhub("import", "gemini-cli", "--json", cwd=repo.root).stdout)["edits"] == 1
    assert "fix the timeout" not in memhub("history", "app.py", cwd=repo.root).stdout
    repo.git("switch", "-q", "topic")
    assert "fix the timeout" in memhub("history", "app.py", cwd=repo.root).stdout
