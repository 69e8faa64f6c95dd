"""The real Claude Code with memhub installed; its model follows a script."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from desk import SCRIPT
from real_clients import needs_real_clients

pytestmark = needs_real_clients

INTEGRATION = Path(__file__).parent.parent.parent / "integrations" / "claude-code"
ALLOWED = "Read Edit Agent mcp__memhub__recall mcp__memhub__remember"
DIGEST, HINT = "SessionStart hook additional context", "UserPromptSubmit hook additional context"


@pytest.fixture
def installed(desk):
    desk.memhub("remember", "Uploads time out behind the proxy called zirconium")
    desk.memhub("init")
    desk.memhub("install", "claude-code", "--yes")
    return desk


def edit(desk, old, new):
    return "Edit", {"file_path": str(desk.project / "app.py"), "old_string": old, "new_string": new}


def read(desk):
    return "Read", {"file_path": str(desk.project / "app.py")}


def working(requests):
    """The requests of conversations; titles and summaries are made with fewer tools."""
    return [request for request in requests if len(request.get("tools") or []) > 2]


def transcript(desk):
    """The lines that Claude Code kept of its only session."""
    (file,) = (desk.person / ".claude" / "projects").glob("*/*.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_it_is_listed_as_connected(desk):
    desk.memhub("install", "claude-code", "--yes")
    desk.claude("mcp", "add", "by-hand", "--", str(SCRIPT), "--home", str(desk.home), "serve")
    listed = desk.claude("mcp", "list").splitlines()
    assert [line.partition(":")[0] for line in listed if "✔ Connected" in line] == ["memhub", "by-hand"]
    assert "✔ Connected" in desk.claude("mcp", "get", "memhub")


def test_a_conversation_knows_what_is_remembered_from_its_first_request(installed, model):
    scripted = model([("mcp__memhub__recall", {"query": "what is up"})])
    with installed.conversation("--allowedTools", ALLOWED, model=scripted.url) as conversation:
        conversation.say("hello there")
        first = working(scripted.requests)[0]
        assert "proxy called zirconium" in json.dumps(first["messages"])
        (recall,) = (tool for tool in first["tools"] if tool["name"] == "mcp__memhub__recall")
        assert "query" in recall["input_schema"]["properties"]
        assert HINT not in json.dumps(scripted.requests)
        for _ in range(6):  # a hook waits 80 ms, and a busy machine may take longer
            conversation.say("why do uploads time out behind the zirconium proxy")
            if HINT in json.dumps(scripted.requests[-1]["messages"]):
                break
        hint = next(text for text in texts(scripted.requests[-1]) if text.startswith(HINT))
        assert "Uploads time out behind the proxy called zirconium" in hint
        conversation.say("please tidy up the white space")
        assert len([text for text in texts(scripted.requests[-1]) if text.startswith(HINT)]) == 1
        conversation.say("/compact")
        conversation.say("go on")
        assert any(DIGEST in text and "zirconium" in text for text in texts(scripted.requests[-1]))
    (offered,) = [line["attachment"] for line in transcript(installed) if "pendingMcpServers" in json.dumps(line)][:1]
    assert offered["pendingMcpServers"] == []


def texts(request):
    for message in request["messages"]:
        content = message["content"]
        for block in [content] if isinstance(content, str) else content:
            yield block if isinstance(block, str) else str(block.get("text", ""))


def test_a_session_is_remembered_with_its_edits_those_of_sub_agents_too_and_not_those_that_failed(installed, model):
    ask = {"description": "raise it", "subagent_type": "general-purpose", "prompt": "raise the timeout to fifty"}
    scripted = model(
        [
            read(installed),
            edit(installed, "TIMEOUT = 7", "TIMEOUT = 70"),
            edit(installed, "TIMEOUT = 5", "TIMEOUT = 30"),
            ("Agent", ask),
        ],
        agents={ask["prompt"]: [read(installed), edit(installed, "TIMEOUT = 30", "TIMEOUT = 50")]},
    )
    installed.claude("-p", "fix the timeout", "--allowedTools", ALLOWED, model=scripted.url)
    assert (installed.project / "app.py").read_text() == "TIMEOUT = 50\n"
    shown = installed.memhub("history", "app.py")
    assert "TIMEOUT = 70" not in shown
    for said in ("claude-code", "“fix the timeout”", "+TIMEOUT = 30", "+TIMEOUT = 50"):
        assert said in shown
    installed.memhub("init")  # as every running server does, it takes in what ended
    hits = json.loads(installed.memhub("recall", "fix the timeout", "--json"))["hits"]
    (fact,) = [hit for hit in hits if hit["source"] == "claude-code"]
    assert (fact["kind"], "fix the timeout" in fact["preview"]) == ("summary", True)


def test_the_plugin_does_what_install_does(desk, model):
    script_found = os.pathsep.join([str(SCRIPT.parent), desk.environ()["PATH"]])
    desk = replace(desk, extra={"PATH": script_found, "MEMHUB_HOME": str(desk.home)})
    desk.memhub("remember", "Uploads time out behind the proxy called zirconium")
    desk.memhub("init")
    desk.claude("plugin", "marketplace", "add", str(INTEGRATION))
    desk.claude("plugin", "install", "memhub@memhub")
    recall = "mcp__plugin_memhub_memhub__recall"
    scripted = model([read(desk), edit(desk, "TIMEOUT = 5", "TIMEOUT = 30"), (recall, {"query": "uploads"})])
    desk.claude("-p", "fix the timeout", "--allowedTools", f"Read Edit {recall}", model=scripted.url)
    first, *_, last = working(scripted.requests)
    assert recall in {tool["name"] for tool in first["tools"]}
    assert "proxy called zirconium" in json.dumps(first["messages"])
    assert '\\"nothing_relevant\\":false' in json.dumps(last["messages"])
    assert "“fix the timeout”" in desk.memhub("history", "app.py")


def test_a_project_shares_its_server_and_hooks(desk, model):
    desk.memhub("init")
    desk.memhub("install", "claude-code", "--scope", "project", "--yes")
    (desk.project / ".claude" / "settings.local.json").write_text('{"enableAllProjectMcpServers": true}')
    scripted = model(
        [
            read(desk),
            edit(desk, "TIMEOUT = 5", "TIMEOUT = 30"),
            ("mcp__memhub__remember", {"memories": [{"text": "The upload timeout is 30 s"}]}),
        ]
    )
    desk.claude("-p", "fix the timeout", "--allowedTools", ALLOWED, model=scripted.url)
    stored = json.loads(desk.memhub("recall", "upload timeout", "--json"))["hits"]
    assert "claude-code" in {hit["source"] for hit in stored}
    assert "“fix the timeout”" in desk.memhub("history", "app.py")
    desk.memhub("uninstall", "claude-code", "--scope", "project", "--yes")
    assert not (desk.project / ".mcp.json").exists()
    assert not (desk.project / ".claude" / "settings.json").exists()


def test_uninstalling_leaves_what_it_wrote_itself(desk, model):
    settings, state = desk.person / ".claude" / "settings.json", desk.person / ".claude.json"
    desk.claude("-p", "hello", model=model([]).url)
    settings.write_text('{\n    "cleanupPeriodDays": 20, "hooks": {}\n}\n')
    before = settings.read_bytes(), state.read_bytes()
    desk.memhub("install", "claude-code", "--yes")
    desk.memhub("uninstall", "claude-code", "--yes")
    assert (settings.read_bytes(), state.read_bytes()) == before

    desk.memhub("install", "claude-code", "--yes")
    desk.claude("-p", "hello again", model=model([]).url)  # it writes its state anew, with what was installed in it
    written = state.read_text(encoding="utf-8")
    assert "memhub" in json.loads(written)["mcpServers"]
    desk.memhub("uninstall", "claude-code", "--yes")
    without = {key: value for key, value in json.loads(written).items() if key != "mcpServers"}
    assert state.read_text(encoding="utf-8") == json.dumps(without, indent=2, ensure_ascii=False)
    assert settings.read_bytes() == before[0]
