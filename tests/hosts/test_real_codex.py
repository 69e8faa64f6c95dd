"""The real Codex with memhub installed; its model follows a script."""

import json

import pytest
from desk import use_model
from real_clients import needs_real_clients
from scripted_models import patch

pytestmark = needs_real_clients

UNTRUSTED = "Codex: you have not trusted the hooks yet, and until then Codex leaves them out without a word"
CHANGED = "Codex: hooks changed since you trusted them, and Codex leaves those out without a word"
TRUSTED = "Codex: it trusts the hooks"


@pytest.fixture
def installed(desk):
    desk.memhub("remember", "Uploads time out behind the proxy called zirconium")
    desk.memhub("init")
    desk.memhub("install", "codex", "--yes")
    return desk


def test_it_starts_the_server_and_finds_every_tool(desk):
    desk.memhub("install", "codex", "--yes")
    (listed,) = json.loads(desk.codex("mcp", "list", "--json"))
    assert (listed["name"], listed["enabled"]) == ("memhub", True)
    with desk.codex_server() as codex:
        (server,) = codex.ask("mcpServerStatus/list", {})["data"]
        assert server["serverInfo"]["name"] == "memhub"
        assert len(server["tools"]) == 7


def test_hooks_work_once_they_are_trusted_and_doctor_says_so_until_then(installed, model):
    project, config = installed.project, installed.person / ".codex" / "config.toml"
    first = model([patch("TIMEOUT = 5", "TIMEOUT = 30")])
    use_model(config, first.url)
    installed.codex("exec", "raise the timeout")
    assert "zirconium" not in json.dumps(first.requests[0]["input"])
    assert "raise the timeout" not in installed.memhub("history", "app.py")
    assert UNTRUSTED in doctor_on_codex(installed)

    with installed.codex_server() as codex:
        assert codex.trust_in_hooks(project) == {"untrusted"}
        codex.trust_hooks(project)
        assert codex.trust_in_hooks(project) == {"trusted"}
    assert TRUSTED in doctor_on_codex(installed)
    second = model([patch("TIMEOUT = 30", "TIMEOUT = 45"), patch("TIMEOUT = 7", "TIMEOUT = 70")])
    use_model(config, second.url)
    installed.codex("exec", "raise it again")
    assert "zirconium" in json.dumps(second.requests[0]["input"])
    shown = installed.memhub("history", "app.py")
    assert "“raise it again”" in shown
    assert "+TIMEOUT = 45" in shown
    assert "TIMEOUT = 70" not in shown

    hooks_file = installed.person / ".codex" / "hooks.json"
    hooks_file.write_text(hooks_file.read_text().replace("hook codex edit", "hook codex edit --workspace x"))
    with installed.codex_server() as codex:
        assert codex.trust_in_hooks(project) == {"trusted", "modified"}
    assert CHANGED in doctor_on_codex(installed)


def doctor_on_codex(desk):
    checks = json.loads(desk.memhub("doctor", "--json", check=False))["checks"]
    return [check["finding"] for check in checks if check["name"] == "codex"]


def test_a_hint_reaches_the_model_when_a_server_runs(installed, model):
    config = installed.person / ".codex" / "config.toml"
    with installed.memhub_server():
        for _ in range(6):  # a hook waits 80 ms, and a busy machine may take longer
            scripted = model([])
            use_model(config, scripted.url)
            prompt = "why do uploads time out behind the zirconium proxy"
            installed.codex("exec", "--dangerously-bypass-hook-trust", prompt)
            digest, *hints = [text for text in texts(scripted.requests[0]) if "<memhub-evidence>" in text]
            if hints:
                break
    assert "project on main" in digest
    assert "Uploads time out behind the proxy called zirconium" in hints[0]


def texts(request):
    for item in request["input"]:
        for part in item.get("content") or []:
            yield part.get("text", "")
