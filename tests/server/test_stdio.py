"""What a host notices of the server process: its output, its end, its manners."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conversation import INITIALIZED, STATELESS_META, initialize, request, tool
from serving import Site, as_lines, command

STRAY = """
import os, subprocess, sys
from memhub_mcp.server.wire import Wire
print("before")
wire = Wire.claim()
print("stray print")
os.write(1, b"stray write\\n")
subprocess.run([sys.executable, "-c", "import sys; print('child'); assert sys.stdin.read() == ''"], check=True)
for line in wire.lines():
    wire.send({"heard": line.decode()})
wire.start_writing(on_gone=lambda: None)
wire.flush(10)
"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site.create(tmp_path)


def talk(site: Site, *messages: Any, **more_env: str) -> list[Any]:
    """What a host hears that gives the server more of an environment."""
    return Site(site.root, site.repository, more_env).talk(*messages)


def remember(request_id: int, text: str) -> dict[str, Any]:
    return tool(request_id, "remember", {"memories": [{"text": text}]})


def test_calls_are_answered_although_the_host_has_left_already(site: Site):
    heard = talk(site, initialize(1), INITIALIZED, remember(2, "The port is 8080"), remember(3, "Äpfel & 世界"))
    assert sorted(answer["id"] for answer in heard) == [1, 2, 3]
    assert all(not answer["result"].get("isError") for answer in heard)


def test_the_next_session_begins_with_what_a_short_one_remembered(site: Site):
    talk(site, initialize(1), INITIALIZED, remember(2, "The port is 8080"))
    script, root = command()[0], site.repository.root
    told = subprocess.run(
        [script, "hook", "codex", "session-start", "--home", site.home],
        env=site.env(),
        input=json.dumps({"cwd": str(root), "session_id": "s2", "hook_event_name": "SessionStart"}).encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert "The port is 8080" in told.stdout.decode()


def test_a_host_that_says_nothing_leaves_a_clean_end(site: Site):
    assert talk(site) == []
    assert not site.home.exists()


def test_text_is_utf_8_whatever_the_environment_says(site: Site):
    text = "Grüße, 世界 🚀 — naïve"
    latin = {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0", "LC_ALL": "C", "LANG": "C"}
    read = request(3, "tools/call", {"name": "recall", "arguments": {"query": ""}})
    talk(site, initialize(1), INITIALIZED, remember(2, text), **latin)
    heard = talk(site, initialize(1), INITIALIZED, read, **latin)
    assert text in heard[1]["result"]["structuredContent"]["hits"][0]["preview"]


def test_only_messages_reach_stdout():
    done = subprocess.run([sys.executable, "-c", STRAY], input=b"one\ntwo", capture_output=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-2:] == [b'{"heard":"one"}', b'{"heard":"two"}']
    for stray in (b"stray print", b"stray write", b"child"):
        assert stray not in done.stdout
        assert stray in done.stderr


def test_a_server_without_stderr_keeps_its_stdout_clean(site: Site):
    process = subprocess.Popen(
        ["sh", "-c", 'exec "$0" "$@" 2>&-', *command()],
        env=site.env(),
        cwd=site.repository.root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    said = [initialize(1), INITIALIZED, remember(2, "Quiet")]
    heard, _ = process.communicate("".join(json.dumps(message) + "\n" for message in said).encode(), timeout=60)
    assert [json.loads(line)["id"] for line in heard.splitlines()] == [1, 2]


def test_nonsense_between_the_messages_costs_nothing(site: Site):
    heard = talk(
        site,
        b"",
        b"nonsense",
        initialize(1),
        b"\xff\xfe",
        b"[]",
        INITIALIZED,
        [request(2, "ping"), remember(3, "In a batch"), 5],
        request(4, "tools/call", {"name": 5}),
        request(5, "no/such/method"),
        remember(6, "Afterwards"),
    )
    single = [answer for answer in heard if isinstance(answer, dict)]
    [batch] = [answer for answer in heard if isinstance(answer, list)]
    assert sorted(str(answer["id"]) for answer in batch) == ["2", "3", "None"]
    assert [answer["error"]["code"] for answer in single if answer["id"] is None] == [-32700, -32700, -32600]
    answers = {answer["id"]: answer for answer in single}
    assert answers[4]["error"]["code"] == -32602
    assert answers[5]["error"]["code"] == -32601
    assert answers[6]["result"]["structuredContent"]["results"][0]["status"] == "added"


def test_a_host_without_a_handshake_may_be_gone_too(site: Site):
    call = {"name": "remember", "arguments": {"text": "Stateless"}, "_meta": STATELESS_META}
    heard = talk(site, request(1, "server/discover", {"_meta": STATELESS_META}), request(2, "tools/call", call))
    assert heard[0]["result"]["supportedVersions"] == ["2026-07-28"]
    assert heard[1]["result"]["structuredContent"]["results"][0]["status"] == "added"


def test_without_an_sdk_the_host_hears_why(site: Site, tmp_path: Path):
    (tmp_path / "broken" / "mcp").mkdir(parents=True)
    (tmp_path / "broken" / "mcp" / "__init__.py").write_text("raise ImportError('half an installation')")
    heard = talk(
        site, initialize(1), INITIALIZED, remember(2, "x"), request(3, "ping"), PYTHONPATH=str(tmp_path / "broken")
    )
    answers = {answer["id"]: answer for answer in heard}
    assert answers[1]["result"]["serverInfo"]["name"] == "memhub"
    assert answers[2]["error"]["code"] == -32603
    assert "half an installation" in answers[2]["error"]["message"]


@pytest.mark.skipif(os.name != "posix", reason="pipes break in another way there")
def test_without_an_sdk_a_host_that_has_closed_stderr_hears_why_too(site: Site, tmp_path: Path):
    (tmp_path / "broken" / "mcp").mkdir(parents=True)
    (tmp_path / "broken" / "mcp" / "__init__.py").write_text("raise ImportError('half an installation')")
    nobody_reads, errors = os.pipe()
    os.close(nobody_reads)
    broken = Site(site.root, site.repository, {"PYTHONPATH": str(tmp_path / "broken")})
    heard = broken.talk(initialize(1), INITIALIZED, remember(2, "x"), request(3, "ping"), stderr=errors)
    os.close(errors)
    assert sorted(answer["id"] for answer in heard) == [1, 2, 3]
    assert "half an installation" in {answer["id"]: answer for answer in heard}[2]["error"]["message"]


@pytest.mark.skipif(os.name != "posix", reason="a shell closes them here")
@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_without_stdin_or_stdout_it_says_so_in_a_sentence(site: Site, closed: str):
    words = ["sh", "-c", f'exec "$0" "$@" {closed}', *command()]
    done = subprocess.run(words, env=site.env(), cwd=site.repository.root, stderr=subprocess.PIPE, check=False)
    said = "memhub-mcp: serve speaks over stdin and stdout, and one of them is closed\n"
    assert (done.returncode, done.stderr.decode()) == (1, said)


def test_a_conversation_may_be_a_file(site: Site):
    said = site.root / "said"
    said.write_bytes(as_lines(initialize(1), INITIALIZED, remember(2, "From a file")).removesuffix(b"\n"))
    with said.open("rb") as file:
        heard = subprocess.run(
            command(), env=site.env(), cwd=site.repository.root, stdin=file, capture_output=True, check=True
        ).stdout
    assert [json.loads(line)["id"] for line in heard.splitlines()] == [1, 2]


@pytest.mark.skipif(os.name != "posix", reason="a folder somebody stands in cannot be removed there")
def test_in_a_folder_that_was_removed_there_is_still_what_follows_the_person(site: Site):
    words = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"', *command()]
    said = [initialize(1), INITIALIZED, remember(2, "The person likes tabs"), tool(3, "recall", {"query": "tabs"})]
    done = subprocess.run(
        words, input=as_lines(*said), env=site.env(), cwd=site.root, capture_output=True, check=True, timeout=120
    )
    assert done.stderr == b""
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    assert answers[2]["structuredContent"]["results"][0]["status"] == "added"
    assert answers[2]["structuredContent"]["scope"]["workspace"] is None


@pytest.mark.skipif(os.name != "posix", reason="terminals are others there")
def test_at_a_terminal_a_person_is_told_what_it_waits_for(site: Site):
    person, terminal = os.openpty()
    process = site.start(stdin=terminal)
    os.close(terminal)
    assert process.stdout and process.stderr
    assert b"waiting for an assistant's messages on stdin" in process.stderr.readline()
    os.write(person, as_lines(request(1, "ping")))
    assert json.loads(process.stdout.readline()) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    os.write(person, b"\x04")
    assert process.wait(60) == 0
    process.communicate()
    os.close(person)


@pytest.mark.parametrize(
    ("kept", "answered", "broken"), [(1, [], 1), (150, [], 1), (250, [1], 1), (-2, [1, 2], 1), (-1, [1, 2, 3], 0)]
)
def test_what_is_complete_is_answered_when_the_host_breaks_off(site: Site, kept: int, answered: list[int], broken: int):
    said = as_lines(initialize(1), INITIALIZED, request(2, "ping"), request(3, "prompts/list"))
    heard, _ = site.start().communicate(said[:kept], timeout=60)
    answers = [json.loads(line) for line in heard.splitlines()]
    assert [answer["id"] for answer in answers if "result" in answer] == answered
    assert [answer["error"]["code"] for answer in answers if "error" in answer] == [-32700] * broken


def test_settings_and_homes_that_cannot_be_used_are_told_in_a_sentence(site: Site):
    site.home.mkdir()
    (site.home / "config.toml").write_text("threads = 'many'")
    result = talk(site, initialize(1), INITIALIZED, remember(2, "x"))[1]["result"]
    assert result["isError"]
    assert "threads has the wrong type" in result["content"][0]["text"]
    (site.home / "config.toml").unlink()
    site.home.rmdir()
    site.home.write_text("a file")
    result = talk(site, initialize(1), INITIALIZED, remember(2, "x"))[1]["result"]
    assert result["isError"]
    assert "choose another" in result["content"][0]["text"]


def test_nothing_heavy_is_loaded_before_the_first_answer():
    """Each of these would be felt by a host that waits for its first turn."""
    heavy = {"mcp", "mcp_types", "anyio", "asyncio", "pydantic", "logging", "pathlib", "dataclasses", "tomllib"}
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, memhub_mcp.cli.main, memhub_mcp.cli.serve; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "memhub_mcp.server.prelude" in loaded.stdout.split()
    assert not heavy & set(loaded.stdout.split())


@pytest.mark.skipif(os.name != "posix", reason="access lists rule there")
def test_what_it_writes_is_the_persons_alone_from_the_start(site: Site):
    heard = talk(site, initialize(1), INITIALIZED, request(2, "tools/call", {"name": "memory_status"}))
    assert heard[1]["result"]["structuredContent"]["health"] == []
    made = [site.home, *site.home.rglob("*")]
    assert [path for path in made if path.stat().st_mode & 0o077] == []
