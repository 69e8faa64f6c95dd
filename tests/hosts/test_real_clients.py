"""Two real assistants, one memory: what the real Claude Code did, the real Codex goes on with."""

import json

from desk import use_model
from real_clients import needs_real_clients
from scripted_models import patch

pytestmark = needs_real_clients


def test_what_one_assistant_did_the_other_goes_on_with(desk, model):
    desk.memhub("remember", "Uploads time out behind the proxy called zirconium")
    desk.memhub("init")
    desk.memhub("install", "claude-code", "--yes")
    config = desk.person / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text("# mine\n")
    desk.memhub("install", "codex", "--yes")
    app = str(desk.project / "app.py")
    first = model(
        [
            ("mcp__memhub__recall", {"query": "uploads time out"}),
            ("Read", {"file_path": app}),
            ("Edit", {"file_path": app, "old_string": "TIMEOUT = 5", "new_string": "TIMEOUT = 30"}),
            ("mcp__memhub__remember", {"memories": [{"text": "The upload timeout is 30 s: quetzal pyramid"}]}),
        ]
    )
    allowed = "Read Edit mcp__memhub__recall mcp__memhub__remember"
    desk.claude("-p", "fix the timeout", "--allowedTools", allowed, model=first.url)

    second = model(
        [
            ("tool_search", "recall from memory"),
            ("mcp__memhub.recall", {"query": "quetzal pyramid"}),
            patch("TIMEOUT = 30", "TIMEOUT = 45"),
            ("mcp__memhub.remember", {"memories": [{"text": "Raised once more, to 45"}]}),
        ]
    )
    use_model(config, second.url)
    desk.codex("exec", "--dangerously-bypass-hook-trust", "raise it again")
    assert "proxy called zirconium" in json.dumps(second.requests[0]["input"])
    assert "The upload timeout is 30 s" in json.dumps(second.requests[-1]["input"])

    stored = {hit["source"] for hit in json.loads(desk.memhub("list", "--json"))["hits"]}
    assert stored == {"cli", "claude-code", "codex"}
    shown = desk.memhub("history", "app.py")
    for said in ("claude-code", "“fix the timeout”", "+TIMEOUT = 30", "codex", "“raise it again”", "+TIMEOUT = 45"):
        assert said in shown
    desk.memhub("uninstall", "--all", "--yes")
    assert "memhub" not in config.read_text()
    assert config.read_text().endswith("# mine\n")
