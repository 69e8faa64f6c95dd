"""The real Gemini CLI, Qwen Code and OpenCode with memhub installed: what they find, send, record and leave behind."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import SCRIPT
from tests.support.git_repository import GitRepository
from tests.support.real_clients import GEMINI, NODE, OPENCODE, PATIENCE_S, QWEN, needs
from tests.support.scripted_models import ScriptedModel, Step

NOTHING = "http://127.0.0.1:9"

GEMINI_SETTINGS = """\
{
  // an account that is none
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "model": {"name": "gemini-2.5-pro"},
  "privacy": {"usageStatisticsEnabled": false}
}
"""
QWEN_SETTINGS = """\
{
  // nothing leaves this machine
  "privacy": {"usageStatisticsEnabled": false},
  "$version": 4
}
"""
OPENCODE_SETTINGS = """\
{
  "$schema": "https://opencode.ai/config.json",
  // a model on this machine
  "model": "scripted/any",
  "small_model": "scripted/any",
  "autoupdate": false,
  "provider": {
    "scripted": {
      "npm": "@ai-sdk/openai-compatible",
      "options": {"baseURL": "{env:SCRIPTED_URL}/v1", "apiKey": "none-at-all"},
      "models": {"any": {"tool_call": true, "limit": {"context": 100000, "output": 8000}}}
    }
  }
}
"""


@dataclass(frozen=True, kw_only=True)
class RealHost:
    """How one program is driven. `tool` is how it names a tool of ours, `edit` and `write` the steps that do so."""

    name: str
    program: tuple[Path, ...]
    settings: str
    content: str
    ask: tuple[str, ...]
    tool: str
    edit: str
    write: str
    path: str = "file_path"
    strings: tuple[str, str] = ("old_string", "new_string")
    account: Callable[[str], dict[str, str]]
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def edits(self, file: Path, old: str, new: str) -> Step:
        """A step that replaces text in a file."""
        more = {"instruction": "as asked"} if self.name == "gemini-cli" else {}
        return self.edit, {self.path: str(file), self.strings[0]: old, self.strings[1]: new, **more}


HOSTS = [
    RealHost(
        name="gemini-cli",
        program=(NODE, GEMINI),
        settings=".gemini/settings.json",
        content=GEMINI_SETTINGS,
        ask=("--approval-mode", "yolo", "-p"),
        tool="mcp_memhub_{}",
        edit="replace",
        write="write_file",
        account=lambda url: {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none-at-all"},
        environment={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
    ),
    RealHost(
        name="qwen-code",
        program=(NODE, QWEN),
        settings=".qwen/settings.json",
        content=QWEN_SETTINGS,
        ask=("--approval-mode", "yolo", "-p"),
        tool="mcp__memhub__{}",
        edit="edit",
        write="write_file",
        account=lambda url: {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none-at-all", "OPENAI_MODEL": "any"},
    ),
    RealHost(
        name="opencode",
        program=(OPENCODE,),
        settings=".config/opencode/opencode.json",
        content=OPENCODE_SETTINGS,
        ask=("run", "--auto"),
        tool="memhub_{}",
        edit="edit",
        write="write",
        path="filePath",
        strings=("oldString", "newString"),
        account=lambda url: {"SCRIPTED_URL": url},
        environment={"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
    ),
]


class Desk:
    """A person with a repository and one of the programs."""

    def __init__(self, host: RealHost, folder: Path) -> None:
        self.host = host
        self.person = folder / "person"
        self.settings = self.person / host.settings
        self.settings.parent.mkdir(parents=True)
        self.settings.write_text(host.content)
        repository = GitRepository.create(folder / "project")
        repository.commit("Begin with a timeout of five", {"app.py": "TIMEOUT = 5\n", "notes.md": "retry 3\n"})
        repository.git("switch", "-q", "-c", "topic")
        self.project = repository.root
        self.home = folder / "memhub"

    def memhub(self, *words: str) -> str:
        """One of our commands."""
        return self._run(SCRIPT, "--home", self.home, *words)

    def start(self, *words: str, url: str = NOTHING) -> str:
        """The program, with a model at `url`."""
        return self._run(*self.host.program, *words, **self.host.account(url), **self.host.environment)

    def _run(self, *words: str | Path, **more: str) -> str:
        path = os.pathsep.join([str(NODE.parent), "/usr/bin", "/bin"])
        done = subprocess.run(
            [str(word) for word in words],
            cwd=self.project,
            env={"HOME": str(self.person), "PATH": path, "TERM": "xterm", "LANG": "C.UTF-8", **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(params=[pytest.param(host, id=host.name, marks=needs(*host.program)) for host in HOSTS])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    return Desk(request.param, tmp_path)


@pytest.fixture
def model() -> Iterator[Callable[[list[Step]], ScriptedModel]]:
    models: list[ScriptedModel] = []

    def follow(steps: list[Step]) -> ScriptedModel:
        models.append(ScriptedModel(steps))
        return models[-1]

    yield follow
    for scripted in models:
        scripted.close()


def first_turn(model: ScriptedModel) -> str:
    """What the model was given before it called anything: its text, without side requests."""
    working = [request for request in model.requests if request.get("tools")]
    return json.dumps(working[0].get("contents") or working[0]["messages"])


@pytest.mark.parametrize("scope", ["user", "project"])
def test_it_lists_the_server_as_connected(desk: Desk, scope: str) -> None:
    desk.memhub("install", desk.host.name, "--scope", scope, "--yes")
    if (desk.host.name, scope) == ("qwen-code", "project"):
        assert "pending approval" in desk.start("mcp", "list").lower()
        desk.start("mcp", "approve", "memhub")
    listed = desk.start("mcp", "list").lower()
    assert "memhub" in listed
    assert "connected" in listed
    assert "disconnected" not in listed
    desk.memhub("uninstall", desk.host.name, "--scope", scope, "--yes")
    assert desk.settings.read_text() == desk.host.content


def test_a_session_with_it_is_remembered(desk: Desk, model: Callable[[list[Step]], ScriptedModel]) -> None:
    host, app = desk.host, desk.project / "app.py"
    desk.memhub("remember", "Uploads time out behind the proxy called zirconium")
    desk.memhub("init")
    desk.memhub("install", host.name, "--yes")
    read: dict[str, Any] = {host.path: str(app)}
    scripted = model(
        [
            (host.tool.format("recall"), {"query": "uploads time out"}),
            ("read" if host.name == "opencode" else "read_file", read),
            host.edits(app, "TIMEOUT = 5", "TIMEOUT = 30"),
            (host.write, {host.path: str(desk.project / "new.py"), "content": "A = 1\n"}),
            host.edits(app, "NOT THERE", "X"),
            (host.tool.format("remember"), {"memories": [{"text": "The upload timeout is 30 s: quetzal pyramid"}]}),
        ]
    )
    desk.start(*host.ask, "fix the timeout", url=scripted.url)
    assert app.read_text() == "TIMEOUT = 30\n"
    known = first_turn(scripted)
    if host.name == "opencode":
        assert "one long-term memory for all assistants" in known  # the rules
    else:
        assert "proxy called zirconium" in known  # the digest
        assert "“fix the timeout”" in desk.memhub("history", "app.py")  # the hook
    assert "proxy called zirconium" in json.dumps(scripted.requests[-1])

    hooks = host.name != "opencode"
    taken = json.loads(desk.memhub("import", host.name, "--json"))
    counts = (taken["sessions"], taken["edits"], taken.get("known", 0), taken["failed"])
    assert counts == (1, 0 if hooks else 2, 2 if hooks else 0, 1)
    for file, line in (("app.py", "+TIMEOUT = 30"), ("new.py", "+A = 1")):
        shown = desk.memhub("history", file)
        assert (shown.count("“fix the timeout”"), shown.count(line), shown.count(host.name)) == (1, 1, 1), shown
    hits = json.loads(desk.memhub("list", "--json"))["hits"]
    assert {hit["source"] for hit in hits} == {"cli", host.name}
    (fact,) = [hit for hit in hits if hit["source"] == host.name and hit["kind"] == "fact"]
    assert fact["branch"] == "topic"
    assert any(hit["preview"].startswith("<memhub-evidence>\nTask: fix the timeout\n") for hit in hits), hits
    desk.memhub("uninstall", host.name, "--yes")
    assert desk.settings.read_text() == host.content
