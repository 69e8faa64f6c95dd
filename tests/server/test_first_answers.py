"""What a host hears first from a server that was just started: soon, offline, and nothing but messages."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest
from conversation import INITIALIZED, STATELESS_META, initialize, request, tool
from serving import ERAS, Site, as_lines, command, reply_of

HEAVY = {"mcp", "mcp_types", "pydantic", "anyio", "asyncio", "apsw", "pygit2", "numpy", "onnxruntime", "tokenizers"}

CLOSED = """
for round in 1 2 3; do
    "$1" hook claude-code session-start < "$2/session-start.json" > /dev/null
    "$1" hook claude-code prompt < "$2/prompt.json" > /dev/null
    "$1" hook claude-code edit < "$2/edit.json" > /dev/null
    "$1" serve < "$2/said" > "$2/heard-$round"
    "$1" hook claude-code session-end < "$2/session-end.json" > /dev/null
done
cat /proc/net/snmp /proc/net/snmp6
"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site.create(tmp_path)


def test_the_opening_is_answered_without_a_heavy_import(site: Site):
    """However slow the disk and however busy the machine: there is nothing to wait for but Python itself."""
    said = [
        initialize(0),
        INITIALIZED,
        *(request(number, method) for number, method in enumerate(("ping", "prompts/list", "resources/list"), 1)),
    ]
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", *command()],
        env=site.env(),
        cwd=site.repository.root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    heard, imported = process.communicate(as_lines(*said), timeout=60)
    assert [json.loads(line)["id"] for line in heard.splitlines()] == [0, 1, 2, 3]
    names = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in imported.decode().splitlines()}
    assert "memhub_mcp" in names
    assert not HEAVY & names


@pytest.mark.parametrize("era", ERAS)
async def test_the_very_first_call_is_answered_and_says_how_it_searched(site: Site, era: str):
    async with site.assistant(era) as assistant:
        reply = reply_of(await assistant.call_tool("recall", {"query": "which port does the queue use"}))
    assert reply["hits"] == []
    assert reply["nothing_relevant"]
    assert reply["mode"]["dense"] in ("on", "loading")
    assert reply["scope"]["workspace"] == "orbit"


@pytest.mark.parametrize("era", ERAS)
async def test_many_first_calls_at_once_are_all_answered_each_with_its_scope(site: Site, era: str):
    site.without_model()
    asked: list[tuple[str, dict[str, Any]]] = [
        ("recall", {"query": "queue"}),
        ("remember", {"text": "The queue is drained at midnight"}),
        ("code_history", {"path": "README.md"}),
        ("memory_status", {}),
    ] * 5
    replies: list[dict[str, Any]] = []
    async with site.assistant(era) as assistant:

        async def ask(name: str, arguments: dict[str, Any]) -> None:
            replies.append(reply_of(await assistant.call_tool(name, arguments)))

        async with anyio.create_task_group() as calls:
            for call in asked:
                calls.start_soon(ask, *call)
    assert len(replies) == len(asked)
    assert {reply["scope"]["branch"] for reply in replies} == {"main"}


@pytest.mark.parametrize("era", ERAS)
async def test_a_host_that_changes_its_mind_loses_nothing_else(site: Site, era: str):
    site.without_model()
    async with site.assistant(era) as assistant:
        async with anyio.create_task_group() as calls:
            for number in range(10):
                calls.start_soon(assistant.call_tool, "remember", {"text": f"taken back {number}"})
            await anyio.sleep(0)  # all are on their way
            calls.cancel_scope.cancel()
        reply_of(await assistant.call_tool("remember", {"text": "The queue is drained at midnight"}))
        [hit] = reply_of(await assistant.call_tool("recall", {"query": "queue drained midnight"}))["hits"]
    assert "midnight" in hit["preview"]


def test_on_a_fresh_machine_the_first_call_may_already_be_the_end_of_a_session(site: Site):
    session = {"task": "Move the queue to port 7070", "outcome": "verified: the tests pass"}
    first = {"text": "The queue listens on port 7070", "session": session}
    heard = site.talk(initialize(0), INITIALIZED, tool(1, "remember", first))
    assert [answer["id"] for answer in heard] == [0, 1]
    meta = {"_meta": STATELESS_META}
    again = {"name": "recall", "arguments": {"query": ""}, **meta}
    [reply] = site.talk(request(1, "tools/call", again))
    kinds = [hit["kind"] for hit in reply["result"]["structuredContent"]["hits"]]
    assert sorted(kinds) == ["fact", "summary"]


@pytest.mark.skipif(sys.platform != "linux", reason="network namespaces are Linux's")
def test_in_a_closed_network_whole_sessions_pass_without_one_attempt_to_reach_out(site: Site):
    """No update check, no telemetry, no language model: a network that only counts what is tried stays at nothing."""
    calls = [
        call
        for number in range(0, 40, 4)
        for call in (
            tool(number + 1, "remember", {"text": f"The port of service {number} is {7000 + number}"}),
            tool(number + 2, "recall", {"query": f"which port has service {number}"}),
            tool(number + 3, "code_history", {"path": "README.md"}),
            tool(number + 4, "memory_status", {}),
        )
    ]
    (site.root / "said").write_bytes(as_lines(initialize(0), INITIALIZED, request("tools", "tools/list"), *calls))
    for event in ("session-start", "prompt", "edit", "session-end"):
        (site.root / f"{event}.json").write_text(json.dumps(hook_payload(site, event)))
    namespace = ["unshare", "--net", "--user", "--map-root-user"]
    where: dict[str, Any] = {"env": site.env(), "cwd": site.repository.root, "capture_output": True, "text": True}
    done = subprocess.run([*namespace, "sh", "-c", CLOSED, "sh", command()[0], site.root], **where, check=False)
    if "unshare failed" in done.stderr:
        pytest.skip(f"no network namespace here: {done.stderr.strip()}")
    assert (done.returncode, done.stderr) == (0, "")
    for heard in site.root.glob("heard-*"):
        answers = [json.loads(line) for line in heard.read_text().splitlines()]
        assert len(answers) == 2 + len(calls)
        assert not [answer for answer in answers if "error" in answer or answer["result"].get("isError")]
    assert attempts(done.stdout) == 0
    reaching = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect_ex(('192.0.2.1', 53))"
    control = [*namespace, "sh", "-c", '"$1" -c "$2"; cat /proc/net/snmp', "sh", sys.executable, reaching]
    assert attempts(subprocess.run(control, **where, check=True).stdout) > 0


def hook_payload(site: Site, event: str) -> dict[str, Any]:
    root = str(site.repository.root)
    edit = {"file_path": f"{root}/README.md", "old_string": "orbit", "new_string": "Orbit"}
    more: dict[str, dict[str, Any]] = {
        "session-start": {"hook_event_name": "SessionStart", "source": "startup"},
        "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "which port has service 4"},
        "edit": {"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_use_id": "t1", "tool_input": edit},
        "session-end": {"hook_event_name": "SessionEnd", "reason": "other"},
    }
    return {"session_id": "s-1", "cwd": root, "transcript_path": f"{root}/none.jsonl", **more[event]}


def attempts(counters: str) -> int:
    """Datagrams and connections that were tried, from /proc/net/snmp: sent, or without a way out."""
    lines = [line.split() for line in counters.splitlines()]
    tried = 0
    for names, values in pairwise(lines):
        if names[:1] == values[:1]:
            counted = dict(zip(names, values, strict=True))
            wanted = ("OutRequests", "OutNoRoutes", "ActiveOpens", "OutDatagrams")
            tried += sum(int(counted.get(name, 0)) for name in wanted)
    return tried + sum(int(line[1]) for line in lines if line[:1] in (["Ip6OutRequests"], ["Ip6OutNoRoutes"]))
