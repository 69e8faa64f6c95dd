"""The real Claude Code and the real Codex with memhub installed: one works, the other goes on where it stopped."""

import json
import os
import subprocess

import pytest
from tests.cli.conftest import SCRIPT
from tests.support.git_repository import GitRepository
from tests.support.real_clients import CLAUDE, CODEX, needs_real_clients
from tests.support.scripted_models import ScriptedModel

PATIENCE_S = 120

pytestmark = needs_real_clients

CODEX_CONFIG = """\
model = "gpt-5.5"  # a model to which Codex offers apply_patch
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
"""

PATCH = "*** Begin Patch\n*** Update File: app.py\n@@\n-TIMEOUT = 30\n+TIMEOUT = 45\n*** End Patch\n"


@pytest.fixture
def person(tmp_path):
    (tmp_path / "person" / ".codex").mkdir(parents=True)
    return tmp_path / "person"


@pytest.fixture
def project(tmp_path):
    repository = GitRepository.create(tmp_path / "project")
    repository.commit("Begin with a timeout of five", {"app.py": "TIMEOUT = 5\n"})
    return repository.root


@pytest.fixture
def run(person, project, tmp_path):
    def start(*words, folder=None, **more):
        path = os.pathsep.join([*([str(folder)] if folder else []), "/usr/bin", "/bin"])
        environment = {"HOME": str(person), "PATH": path, "TERM": "xterm", "LANG": "C.UTF-8", **more}
        done = subprocess.run(
            [str(word) for word in words],
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    return start


@pytest.fixture
def memhub(run, tmp_path):
    return lambda *words: run(SCRIPT, "--home", tmp_path / "memhub", *words)


@pytest.fixture
def claude(run):
    def start(*words, url="http://127.0.0.1:9"):
        quiet = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        account = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none-at-all"}
        return run(CLAUDE / "claude", *words, folder=CLAUDE, **quiet, **account)

    return start


@pytest.fixture
def model():
    models = []

    def follow(steps):
        models.append(ScriptedModel(steps))
        return models[-1]

    yield follow
    for scripted in models:
        scripted.close()


def test_claude_code_lists_the_server_as_connected(memhub, claude, run):
    memhub("install", "claude-code", "--yes")
    assert "✔ Connected" in claude("mcp", "list")
    assert "memhub" in claude("mcp", "get", "memhub")


def test_codex_lists_the_server(memhub, run, person):
    memhub("install", "codex", "--yes")
    (server,) = json.loads(run(CODEX / "codex", "mcp", "list", "--json", folder=CODEX))
    assert (server["name"], server["enabled"]) == ("memhub", True)


def test_what_one_assistant_did_the_other_goes_on_with(memhub, claude, run, model, person, project):
    memhub("remember", "Uploads time out behind the proxy called zirconium")
    memhub("init")
    memhub("install", "claude-code", "--yes")
    (person / ".codex" / "config.toml").write_text("")
    memhub("install", "codex", "--yes")
    app = str(project / "app.py")
    first = model(
        [
            ("mcp__memhub__recall", {"query": "uploads time out"}),
            ("Read", {"file_path": app}),
            ("Edit", {"file_path": app, "old_string": "TIMEOUT = 5", "new_string": "TIMEOUT = 30"}),
            ("mcp__memhub__remember", {"memories": [{"text": "The upload timeout is 30 s: quetzal pyramid"}]}),
        ]
    )
    allowed = "Read Edit mcp__memhub__recall mcp__memhub__remember"
    claude("-p", "fix the timeout", "--allowedTools", allowed, url=first.url)
    working = [request for request in first.requests if len(request.get("tools") or []) > 2]
    assert "mcp__memhub__recall" in {tool["name"] for tool in working[0]["tools"]}
    assert "proxy called zirconium" in json.dumps(working[0]["messages"])  # the digest, before any call

    second = model(
        [
            ("tool_search", "recall from memory"),
            ("mcp__memhub.recall", {"query": "quetzal pyramid"}),
            (
                "apply_patch",
                "*** Begin Patch\n*** Update File: app.py\n@@\n-TIMEOUT = 30\n+TIMEOUT = 45\n*** End Patch\n",
            ),
            ("mcp__memhub.remember", {"memories": [{"text": "Raised once more, to 45"}]}),
        ]
    )
    config = person / ".codex" / "config.toml"
    config.write_text(CODEX_CONFIG.format(url=second.url) + config.read_text())
    run(CODEX / "codex", "exec", "--dangerously-bypass-hook-trust", "raise it again", folder=CODEX)
    assert "proxy called zirconium" in json.dumps(second.requests[0]["input"])
    assert "The upload timeout is 30 s" in json.dumps(second.requests[-1]["input"])

    stored = {hit["source"] for hit in json.loads(memhub("list", "--json"))["hits"]}
    assert stored == {"cli", "claude-code", "codex"}
    shown = memhub("history", "app.py")
    for said in ("claude-code", "“fix the timeout”", "+TIMEOUT = 30", "codex", "“raise it again”", "+TIMEOUT = 45"):
        assert said in shown
    memhub("uninstall", "--all", "--yes")
    assert "memhub" not in config.read_text()
