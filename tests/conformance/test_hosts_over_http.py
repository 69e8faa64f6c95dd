"""One listening server for the real Claude Code and the real Codex, registered as the server itself says."""

import json
import subprocess
from collections.abc import Iterator

import pytest
from desk import CODEX_CONFIG, Desk
from real_clients import needs_real_clients
from scripted_models import ScriptedModel
from serving import Site, WebServer, web_server

pytestmark = needs_real_clients


@pytest.fixture
def site(tmp_path) -> Site:
    site = Site.create(tmp_path)
    site.without_model()
    return site


@pytest.fixture
def desk(site: Site) -> Desk:
    return Desk(person=site.root / "person", project=site.repository.root, home=site.home)


@pytest.fixture(params=["http", "sse"])
def server(request: pytest.FixtureRequest, site: Site) -> Iterator[WebServer]:
    with web_server(site, request.param) as running:
        yield running


def register(desk: Desk, server: WebServer) -> None:
    """Types what the server has printed."""
    assert server.process.stderr
    line = server.process.stderr.readline().decode().partition("in a repository: ")[2]
    subprocess.run(["sh", "-c", line], cwd=desk.project, env=desk.environ(), check=True, timeout=60)


def test_claude_code_connects_with_the_line_the_server_prints(desk: Desk, server: WebServer):
    register(desk, server)
    assert "✔ Connected" in desk.claude("mcp", "list")
    desk.claude("mcp", "remove", "memhub")
    transport = server.url.rpartition("/")[2].replace("mcp", "http")
    desk.claude("mcp", "add", "-t", transport, "memhub", server.url, "--header", "Authorization: Bearer wrong")
    assert "Failed to connect" in desk.claude("mcp", "list")


def test_what_claude_code_remembers_codex_recalls(desk: Desk, site: Site):
    with web_server(site, "http") as server:
        register(desk, server)
        first = ScriptedModel([("mcp__memhub__remember", {"text": "The gateway is called quetzal"})])
        desk.claude("-p", "note it", "--allowedTools", "mcp__memhub__remember", model=first.url)
        second = ScriptedModel([("tool_search", "recall"), ("mcp__memhub.recall", {"query": "gateway"})])
        config = desk.person / ".codex" / "config.toml"
        config.parent.mkdir()
        where = f'url = "{server.url}{desk.project}"\nhttp_headers = {{ Authorization = "Bearer {server.token}" }}'
        config.write_text(f"{CODEX_CONFIG.format(url=second.url)}\n[mcp_servers.memhub]\n{where}\n")
        desk.codex("exec", "what is it called?")
        said = json.dumps(second.requests[-1]["input"])
        assert "The gateway is called quetzal" in said
        assert "claude-code" in said
        first.close()
        second.close()
