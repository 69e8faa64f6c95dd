"""What the real Claude Code and the real Codex say about an installation in each scope, and about our packages."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.cli.conftest import SCRIPT
from tests.support.git_repository import GitRepository
from tests.support.real_clients import CLAUDE, CODEX, needs_real_clients

from memhub_mcp.hosts.codex_trust import our_hooks

PACKAGES = Path(__file__).parent.parent.parent / "integrations"
PATIENCE_S = 120

pytestmark = needs_real_clients


@pytest.fixture
def person(tmp_path):
    (tmp_path / "person").mkdir()
    return tmp_path / "person"


@pytest.fixture
def project(tmp_path):
    repository = GitRepository.create(tmp_path / "project")
    repository.commit("Begin")
    return repository


@pytest.fixture
def run(person, project):
    def start(*words, cwd=project.root, folders=(), said="", **more):
        environment = {
            "HOME": str(person),
            "PATH": os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"]),
            "LANG": "C.UTF-8",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
            "ANTHROPIC_API_KEY": "none-at-all",
            **more,
        }
        done = subprocess.run(
            [str(word) for word in words],
            cwd=cwd,
            env=environment,
            input=said,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return start


@pytest.fixture
def memhub(run, tmp_path):
    return lambda *words, **more: run(SCRIPT, "--home", tmp_path / "memhub", *words, **more)


@pytest.fixture
def claude(run):
    return lambda *words, folders=(), **more: run(CLAUDE / "claude", *words, folders=[CLAUDE, *folders], **more)


@pytest.mark.parametrize(
    ("scope", "shown", "state"),
    [
        ("user", "User config", "✔ Connected"),
        ("local", "Local config", "✔ Connected"),
        ("project", "Project config", "Pending approval"),
    ],
)
def test_claude_code_finds_the_server_in_each_scope(memhub, claude, scope, shown, state):
    memhub("install", "claude-code", "--scope", scope, "--yes")
    got = claude("mcp", "get", "memhub")
    assert shown in got
    assert state in got
    memhub("uninstall", "claude-code", "--scope", scope, "--yes")
    assert "memhub" not in claude("mcp", "list")


def test_every_working_tree_has_the_server_of_the_local_scope(memhub, claude, project):
    tree = project.root.parent / "tree"
    project.git("worktree", "add", "-q", str(tree), "-b", "tree")
    memhub("install", "claude-code", "--scope", "local", "--yes", cwd=tree)
    assert "✔ Connected" in claude("mcp", "list", cwd=project.root)
    assert "✔ Connected" in claude("mcp", "list", cwd=tree)


def test_claude_code_with_a_folder_of_its_own_finds_the_server(memhub, claude, tmp_path, person):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    memhub("install", "claude-code", "--yes", CLAUDE_CONFIG_DIR=str(folder))
    assert "✔ Connected" in claude("mcp", "list", CLAUDE_CONFIG_DIR=str(folder))
    assert not (person / ".claude.json").exists()


def test_what_codex_adds_meanwhile_stays(memhub, run, person):
    config = person / ".codex" / "config.toml"
    config.parent.mkdir()
    theirs = '# mine\nmodel = "x"\n\n[profiles.a]\nmodel = "y"\n'
    config.write_text(theirs)
    memhub("install", "codex", "--yes")
    run(CODEX / "codex", "mcp", "add", "other", "--", "/bin/true", folders=[CODEX])
    memhub("uninstall", "codex", "--yes")
    (server,) = json.loads(run(CODEX / "codex", "mcp", "list", "--json", folders=[CODEX]))
    assert server["name"] == "other"
    run(CODEX / "codex", "mcp", "remove", "other", folders=[CODEX])
    assert config.read_text() == theirs


@pytest.mark.parametrize("scope", ["user", "project"])
def test_codex_reckons_the_digests_of_our_hooks_as_doctor_does(memhub, run, person, project, scope):
    config = person / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(f'[projects."{project.root}"]\ntrust_level = "trusted"\n')
    memhub("install", "codex", "--scope", scope, "--yes")
    hooks = (person if scope == "user" else project.root) / ".codex" / "hooks.json"
    asked = [
        {"method": "initialize", "id": 0, "params": {"clientInfo": {"name": "memhub", "version": "1"}}},
        {"method": "initialized"},
        {"method": "hooks/list", "id": 1, "params": {"cwds": [str(project.root)]}},
    ]

    def listed():
        server = subprocess.Popen(
            [CODEX / "codex", "app-server"],
            env={"HOME": str(person), "PATH": os.pathsep.join([str(CODEX), "/usr/bin", "/bin"])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=project.root,
            text=True,
        )
        with server:
            for request in asked:
                server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            answer = next(reply for reply in map(json.loads, server.stdout) if reply.get("id") == 1)
            server.kill()
        return answer["result"]["data"][0]["hooks"]

    ours = dict(our_hooks(hooks))
    assert {hook["key"]: hook["currentHash"] for hook in listed()} == {f"{hooks}:{at}": ours[at] for at in ours}
    with config.open("a") as file:
        for place, digest in ours.items():
            file.write(f'[hooks.state."{hooks}:{place}"]\ntrusted_hash = "{digest}"\n')
    assert {hook["trustStatus"] for hook in listed()} == {"trusted"}
    assert "Codex: it trusts the hooks" in memhub("doctor", "--json")
    memhub("uninstall", "codex", "--scope", scope, "--yes")
    assert config.read_text().strip() == f'[projects."{project.root}"]\ntrust_level = "trusted"'
    assert listed() == []


def test_claude_code_takes_the_plugin_from_its_marketplace(claude, tmp_path):
    packages = tmp_path / "packages"
    shutil.copytree(PACKAGES / "claude-code", packages)
    assert "Validation passed" in claude("plugin", "validate", packages, "--strict")
    assert "Validation passed" in claude("plugin", "validate", packages / "memhub", "--profile", "directory")
    claude("plugin", "marketplace", "add", packages)
    claude("plugin", "install", "memhub@memhub")
    assert "✔ enabled" in claude("plugin", "list")
    assert "✔ Connected" in claude("mcp", "list", folders=[SCRIPT.parent], MEMHUB_HOME=str(tmp_path / "memhub"))
