"""People and folders of any name: what an installation writes passes the host's shell and reaches the same memory."""

import json
import os
import subprocess

import pytest
from tests.cli.conftest import SCRIPT
from tests.support.conversation import INITIALIZED, initialize, tool
from tests.support.git_repository import GitRepository
from tests.support.serving import as_lines

LONG = "x" * 120

pytestmark = pytest.mark.skipif(os.name == "nt", reason="its file names allow no quotes and fewer characters")


def test_names_with_spaces_quotes_percents_and_hundreds_of_characters_work_everywhere(environment, tmp_path):
    person = tmp_path / "a b" / "ü你"
    person.mkdir(parents=True)
    data = person / f'it\'s "data" 100%25 %PATH% $HOME/{LONG}/{LONG}'
    project = GitRepository.create(tmp_path / f're\'po "q" 50% ; $(x) & ü/{LONG}/{LONG}/sub')
    project.commit("first", {"app.py": "TIMEOUT = 5\n"})
    assert min(len(str(data)), len(str(project.root))) > 250
    where = {"env": {**environment, "HOME": str(person)}, "cwd": project.root, "capture_output": True}

    def memhub(*words):
        done = subprocess.run([SCRIPT, *words, "--home", data], check=False, text=True, **where)
        assert done.returncode == 0, done.stderr
        return done.stdout

    memhub("init")
    memhub("install", "claude-code", "--yes")
    settings = json.loads((person / ".claude" / "settings.json").read_text())["hooks"]
    project.write("app.py", "TIMEOUT = 30\n")
    edit = {"file_path": str(project.root / "app.py"), "old_string": "TIMEOUT = 5", "new_string": "TIMEOUT = 30"}
    told = {
        "SessionStart": {"source": "startup"},
        "UserPromptSubmit": {"prompt": "wait longer"},
        "PostToolUse": {"tool_name": "Edit", "tool_use_id": "t1", "tool_input": edit, "tool_response": {}},
        "SessionEnd": {"reason": "other"},
    }
    for event, fields in told.items():
        for command in commands_of(settings[event]):
            common = {"session_id": "s-1", "cwd": str(project.root), "hook_event_name": event, "transcript_path": ""}
            done = subprocess.run(["/bin/sh", "-c", command], input=json.dumps({**common, **fields}).encode(), **where)
            assert (done.returncode, done.stderr) == (0, b"")
    assert not (data / "logs" / "hook.log").exists()

    entry = json.loads((person / ".claude.json").read_text())["mcpServers"]["memhub"]
    calls = [tool(1, "remember", {"text": "The queue drains at midnight"}), tool(2, "code_history", {"path": "app.py"})]
    said = as_lines(initialize(0), INITIALIZED, *calls)
    served = subprocess.run([entry["command"], *entry["args"]], input=said, check=True, **where)
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, served.stdout.splitlines())}
    assert answers[1]["structuredContent"]["scope"]["workspace"] == "sub"
    assert "TIMEOUT = 30" in answers[2]["content"][0]["text"]
    assert "midnight" in memhub("recall", "queue midnight")
    assert "its command answers" in memhub("doctor", "--json")
    assert "app.py" in memhub("history", "app.py")
    memhub("uninstall", "claude-code", "--yes")


def commands_of(groups):
    return [hook["command"] for group in groups for hook in group["hooks"]]
