"""A hook asks a running server about what the person just said."""

import json
import os
import subprocess
import threading

import pytest
from tests.cli.conftest import SCRIPT
from tests.support.git_repository import GitRepository

from memhub_mcp.hosts.asking import ask

PATIENCE_S = 30.0
CLIENT = {"name": "a", "version": "1"}
LIMIT = "The retry limit of uploads is 5 because the proxy cuts off the sixth"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("memhub")
    home.chmod(0o700)
    (home / "config.toml").write_text('embedder = "off"\n')
    return home


@pytest.fixture(scope="module")
def server(home, tmp_path_factory):
    """A server that works in no repository, listening; it leaves nothing behind."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    environment = {"HOME": str(elsewhere), "USERPROFILE": str(elsewhere), "PATH": os.defpath}
    process = subprocess.Popen(
        [SCRIPT, "serve", "--home", home], cwd=elsewhere, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    watchdog = threading.Timer(PATIENCE_S, process.kill)  # a server that says nothing fails, and is not waited for
    watchdog.start()
    number = 0

    def send(message):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()

    def call(method, params):
        nonlocal number
        number += 1
        send({"id": number, "method": method, "params": params})
        return json.loads(process.stdout.readline())["result"]

    call("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT})
    send({"method": "notifications/initialized"})
    while not list((home / "run").glob("ask-*.json")):
        call("tools/call", {"name": "memory_status", "arguments": {}})
    watchdog.cancel()
    yield process
    process.stdin.close()
    process.wait(PATIENCE_S)
    assert list((home / "run").glob(f"ask-{process.pid}.*")) == []


@pytest.fixture
def project(memhub, home, server, tmp_path):
    """A repository with one memory."""
    repository = GitRepository.create(tmp_path / "project")
    repository.commit("Begin with an upload", {"upload.py": "LIMIT = 5\n"})
    memhub("remember", LIMIT, "--home", str(home), cwd=repository.root)
    return repository.root


def question(project, prompt):
    return {"source": "claude-code", "cwd": str(project), "prompt": prompt}


def test_a_request_brings_up_what_surely_bears_on_it_and_nothing_else(memhub, home, project):
    memhub("remember", "--tier", "user", "Retry limits of uploads are my favourite", "--home", str(home), cwd=project)
    told = ask(str(home), question(project, "raise the retry limit of uploads"), PATIENCE_S)
    assert told.startswith("- fact m_")
    assert told.endswith(LIMIT)
    assert ask(str(home), question(project, "make the button blue"), PATIENCE_S) is None


def test_the_answer_is_about_the_repository_of_the_hook(home, project, tmp_path):
    other = GitRepository.create(tmp_path / "other").root
    assert ask(str(home), question(other, "raise the retry limit of uploads"), PATIENCE_S) is None
    assert ask(str(home), question(tmp_path, "raise the retry limit of uploads"), PATIENCE_S) is None


def test_who_has_no_key_is_told_nothing(home, project):
    (pointer,) = (home / "run").glob("ask-*.json")
    facts = json.loads(pointer.read_text())
    if os.name == "posix":
        assert pointer.stat().st_mode & 0o077 == 0
    asked = question(project, "raise the retry limit of uploads")
    pointer.write_text(json.dumps({**facts, "key": "0" * 32}))
    assert ask(str(home), asked, PATIENCE_S) is None
    pointer.write_text(json.dumps(facts))
    assert ask(str(home), asked, PATIENCE_S)


def test_servers_that_are_gone_stop_nobody(home, project):
    gone = [home / "run" / "ask-1.json", home / "run" / "ask-2.json"]
    gone[0].write_text('{"address": "/nowhere", "key": "x"}')
    gone[1].write_text("{")
    assert ask(str(home), question(project, "raise the retry limit of uploads"), PATIENCE_S)
    for pointer in gone:
        pointer.unlink()
