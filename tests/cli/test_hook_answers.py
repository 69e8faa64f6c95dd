"""A hook asks a running server about what the person just said."""

import contextlib
import json
import os
import socket
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


def question(project, prompt, **more):
    """A request; each is a conversation of its own unless a session is named."""
    return {"source": "claude-code", "cwd": str(project), "prompt": prompt, "session": os.urandom(8).hex(), **more}


def test_a_request_brings_up_what_surely_bears_on_it_and_nothing_else(memhub, home, project):
    told = ask(str(home), question(project, "raise the retry limit of uploads"), PATIENCE_S)
    assert told.startswith("- fact m_")
    assert told.endswith(LIMIT)
    assert "\n" not in told
    for request in ("make the button blue", "raise it", "continue", "<system-reminder>retry limit of uploads", " "):
        assert ask(str(home), question(project, request), PATIENCE_S) is None


def test_the_same_is_told_once_a_session(memhub, home, project):
    def told(prompt, **more):
        return ask(str(home), question(project, prompt, **{"session": "s-1", **more}), PATIENCE_S)

    def begin(**more):
        return ask(str(home), {"source": "claude-code", "cwd": str(project), "session": "s-1", **more}, PATIENCE_S)

    assert LIMIT in begin()
    assert LIMIT in told("raise the retry limit of uploads")
    assert told("raise the retry limit of uploads") is None
    assert told("lower the retry limit of uploads") is None
    assert LIMIT in told("raise the retry limit of uploads", source="codex")
    assert LIMIT in told("raise the retry limit of uploads", session="s-2")
    memhub("remember", "Uploads have no retry limit on the proxy of staging", "--home", str(home), cwd=project)
    news = told("what is the retry limit of uploads on the staging proxy")
    assert "no retry limit on the proxy of staging" in news
    assert LIMIT not in news
    assert LIMIT in begin()  # after a compaction nothing of it is in the context any more
    assert LIMIT in told("raise the retry limit of uploads")


def test_what_a_hook_did_not_wait_for_is_told_the_next_time(home, project):
    asked = question(project, "raise the retry limit of uploads")
    for _ in range(3):
        assert ask(str(home), asked, 0.0) is None
    assert LIMIT in ask(str(home), asked, PATIENCE_S)


def test_what_follows_the_person_is_hinted_at_where_it_was_written(memhub, home, project, tmp_path):
    text = "Retry limits of uploads belong into the configuration"
    known = memhub("remember", "--tier", "user", text, "--home", str(home), "--json", cwd=project)
    memory = json.loads(known.stdout)["results"][0]["id"]
    other = GitRepository.create(tmp_path / "other")
    other.commit("begin", {"a.py": "1\n"})
    memhub("remember", "Another project", "--home", str(home), cwd=other.root)
    prompt = "change the configuration of retry limits"
    assert text in ask(str(home), question(project, prompt), PATIENCE_S)
    assert ask(str(home), question(other.root, prompt), PATIENCE_S) is None
    memhub("confirm", memory, "--yes", "--home", str(home))
    assert text in ask(str(home), question(other.root, prompt), PATIENCE_S)
    memhub("forget", memory, "--yes", "--home", str(home), cwd=project)
    assert text not in (ask(str(home), question(project, prompt), PATIENCE_S) or "")


def test_what_belongs_to_another_branch_is_not_hinted_at(memhub, home, project):
    repository = GitRepository(project)
    repository.git("switch", "-q", "-c", "topic")
    text = "Quokka deliveries are batched by ninety seconds"
    memhub("remember", text, "--home", str(home), cwd=project)
    prompt = "batch the quokka deliveries by ten seconds"
    assert text in ask(str(home), question(project, prompt), PATIENCE_S)
    repository.git("switch", "-q", "main")
    assert ask(str(home), question(project, prompt), PATIENCE_S) is None


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


@pytest.mark.skipif(os.name != "posix", reason="the server listens at a socket in the file system only there")
@pytest.mark.parametrize(
    "said", [b'{"key": "\xc3\xbc"}\n', b'{"key": {}}\n', b"[" * 60_000 + b"\n", b"x" * 100_000, b""]
)
def test_what_is_no_question_does_not_take_the_server_away(home, project, said):
    """Whoever reaches the socket needs no key to say something."""
    (pointer,) = (home / "run").glob("ask-*.json")
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(json.loads(pointer.read_text())["address"])
        with contextlib.suppress(BrokenPipeError):  # it need not hear all of it
            stranger.sendall(said)
        stranger.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            assert stranger.recv(1 << 16) in (b"", b'{"context": null}\n')
    assert ask(str(home), question(project, "raise the retry limit of uploads"), PATIENCE_S)


def test_servers_that_are_gone_stop_nobody(home, project):
    gone = [home / "run" / "ask-1.json", home / "run" / "ask-2.json"]
    gone[0].write_text('{"address": "/nowhere", "key": "x"}')
    gone[1].write_text("{")
    assert ask(str(home), question(project, "raise the retry limit of uploads"), PATIENCE_S)
    for pointer in gone:
        pointer.unlink()
