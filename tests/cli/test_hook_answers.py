"""A hook asks a running server about what the person just said."""

import json
import os
import subprocess

import pytest
from tests.cli.conftest import SCRIPT
from tests.support.git_repository import GitRepository

from memhub_mcp.hosts.asking import ask

pytestmark = pytest.mark.usefixtures("words_alone")

PATIENCE_S = 30.0
LIMIT = "The retry limit of uploads is 5 because the proxy cuts off the sixth"


@pytest.fixture
def project(tmp_path):
    repository = GitRepository.create(tmp_path / "project")
    repository.commit("Begin with an upload", {"upload.py": "LIMIT = 5\n"})
    return repository.root


@pytest.fixture
def server(environment, tmp_path):
    """A server that works in no repository, listening."""
    process = subprocess.Popen(
        [SCRIPT, "serve"], cwd=tmp_path, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    number = 0

    def call(method, params):
        nonlocal number
        number += 1
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    call("initialize", client)
    while not list((tmp_path / "memhub" / "run").glob("ask-*.json")):
        call("tools/call", {"name": "memory_status", "arguments": {}})
    yield process
    process.stdin.close()
    process.wait(PATIENCE_S)


def question(project, prompt):
    return {"source": "claude-code", "cwd": str(project), "prompt": prompt}


def test_a_request_brings_up_what_surely_bears_on_it_and_nothing_else(memhub, project, server, tmp_path):
    memhub("remember", LIMIT, cwd=project)
    memhub("remember", "--tier", "user", "Retry limits of uploads are my favourite", cwd=project)
    home = str(tmp_path / "memhub")
    told = ask(home, question(project, "raise the retry limit of uploads"), PATIENCE_S)
    assert told.startswith("- fact m_")
    assert told.endswith(LIMIT)
    assert ask(home, question(project, "make the button blue"), PATIENCE_S) is None


def test_the_answer_is_about_the_repository_of_the_hook(memhub, project, server, tmp_path):
    memhub("remember", LIMIT, cwd=project)
    other = GitRepository.create(tmp_path / "other").root
    home = str(tmp_path / "memhub")
    assert ask(home, question(other, "raise the retry limit of uploads"), PATIENCE_S) is None
    assert ask(home, question(tmp_path, "raise the retry limit of uploads"), PATIENCE_S) is None


def test_who_has_no_key_is_told_nothing(memhub, project, server, tmp_path):
    memhub("remember", LIMIT, cwd=project)
    (pointer,) = (tmp_path / "memhub" / "run").glob("ask-*.json")
    facts = json.loads(pointer.read_text())
    if os.name == "posix":
        assert pointer.stat().st_mode & 0o077 == 0
    pointer.write_text(json.dumps({**facts, "key": "0" * 32}))
    asked = question(project, "raise the retry limit of uploads")
    assert ask(str(tmp_path / "memhub"), asked, PATIENCE_S) is None
    pointer.write_text(json.dumps(facts))
    assert ask(str(tmp_path / "memhub"), asked, PATIENCE_S)


def test_a_server_that_is_gone_leaves_no_trace_and_stops_nobody(memhub, project, server, tmp_path):
    run = tmp_path / "memhub" / "run"
    (run / "ask-1.json").write_text('{"address": "/nowhere", "key": "x"}')
    (run / "ask-2.json").write_text("{")
    memhub("remember", LIMIT, cwd=project)
    asked = question(project, "raise the retry limit of uploads")
    assert ask(str(tmp_path / "memhub"), asked, PATIENCE_S)
    server.stdin.close()
    server.wait(PATIENCE_S)
    assert [path.name for path in run.glob("ask-*") if path.name not in ("ask-1.json", "ask-2.json")] == []
    assert ask(str(tmp_path / "memhub"), asked, PATIENCE_S) is None
