"""What `doctor` and `workspaces` say about an installation."""

import json
import os
import shutil

import pytest
from tests.cli.conftest import SCRIPT
from tests.support.git_repository import GitRepository

from memhub_mcp.hosts.codex_trust import our_hooks


@pytest.fixture
def repository(tmp_path):
    repository = GitRepository.create(tmp_path / "project")
    repository.commit("Begin with a readme", {"README.md": "# x\n"})
    return repository.root


def findings(reply, name):
    return [check for check in json.loads(reply.stdout)["checks"] if check["name"] == name]


def test_a_healthy_installation_passes(memhub, repository, tmp_path):
    assert not (tmp_path / "memhub").exists()
    empty = memhub("doctor", "--json", cwd=repository)
    assert empty.returncode == 0, empty.stdout
    assert not (tmp_path / "memhub" / "workspaces.db").exists()
    assert os.name != "posix" or (tmp_path / "memhub").stat().st_mode & 0o077 == 0
    memhub("remember", "something", cwd=repository)
    checked = memhub("doctor", "--json", cwd=repository)
    assert json.loads(checked.stdout)["ok"] is True
    assert {check["state"] for check in json.loads(checked.stdout)["checks"]} == {"ok"}
    assert "project: 1 memory" in findings(checked, "store")[-1]["finding"]


@pytest.mark.usefixtures("words_alone")
def test_a_damaged_store_is_named_and_the_others_are_fine(memhub, repository, tmp_path):
    other = GitRepository.create(tmp_path / "other")
    other.commit("Begin")
    memhub("remember", "in the damaged one", cwd=repository)
    memhub("remember", "in the other one", cwd=other.root)
    (file,) = (tmp_path / "memhub" / "workspaces").glob("project-*/memory.db")
    for companion in file.parent.glob("memory.db-*"):
        companion.unlink()
    file.write_bytes(b"not a database, but long enough to look like one" * 100)
    checked = memhub("doctor", cwd=tmp_path)
    assert checked.returncode == 1
    assert "fail  store: project:" in checked.stdout
    assert "ok    store: other: 1 memory" in checked.stdout
    shown = memhub("workspaces", "list", cwd=tmp_path)
    assert shown.returncode == 0
    assert "is damaged" in " ".join(shown.stdout.split())


@pytest.mark.usefixtures("words_alone")
def test_what_the_spool_could_not_read_is_counted(memhub, tmp_path):
    spool = tmp_path / "memhub" / "spool"
    spool.mkdir(parents=True)
    (spool / "0000000000000000001-1-aa.json").write_text("{")
    memhub("list", cwd=tmp_path)
    checked = memhub("doctor", "--json", cwd=tmp_path)
    assert findings(checked, "spool")[0]["state"] == "warn"
    assert "1 captured event could not be read" in findings(checked, "spool")[0]["finding"]


@pytest.mark.skipif(os.name == "nt", reason="modes mean nothing there")
def test_a_home_open_to_others_is_said(memhub, tmp_path):
    (tmp_path / "memhub").mkdir()
    (tmp_path / "memhub").chmod(0o755)
    checked = memhub("doctor", "--json", cwd=tmp_path)
    assert findings(checked, "home")[0]["state"] == "warn"
    assert "chmod 700" in findings(checked, "home")[0]["todo"]


@pytest.mark.usefixtures("words_alone")
def test_the_command_written_for_an_assistant_is_started(memhub, tmp_path):
    memhub("install", "codex", "--yes", cwd=tmp_path)
    config = tmp_path / "person" / ".codex" / "config.toml"
    good = memhub("doctor", "--json", cwd=tmp_path)
    server, hooks, trust = findings(good, "codex")
    assert server["finding"] == f"Codex: registered in {config} (user), its command answers"
    assert hooks["finding"] == f"Codex: its hooks are in {config.with_name('hooks.json')}"
    assert "/hooks" in trust["todo"]
    for file in (config, config.with_name("hooks.json")):
        file.write_text(file.read_text().replace("memhub-mcp", "gone/memhub-mcp"))
    broken = memhub("doctor", "--json", cwd=tmp_path)
    assert broken.returncode == 1
    server, hooks, _ = findings(broken, "codex")
    assert "gone/memhub-mcp serve --home" in server["finding"]
    assert "does not answer: No such file" in server["finding"]
    assert server["todo"] == "memhub-mcp install codex"
    assert "gone/memhub-mcp, which is not there" in hooks["finding"]


@pytest.mark.usefixtures("words_alone")
def test_an_installation_someone_else_removed_is_said(memhub, tmp_path):
    memhub("install", "cursor", "--yes", cwd=tmp_path)
    memhub("install", "zed", "--yes", cwd=tmp_path)
    (tmp_path / "person" / ".cursor" / "mcp.json").write_text("{}\n")
    hooks = tmp_path / "person" / ".cursor" / "hooks.json"
    hooks.write_text(hooks.read_text().replace("beforeSubmitPrompt", "other"))
    checked = memhub("doctor", "--json", cwd=tmp_path)
    server, hook = findings(checked, "cursor")
    assert "memhub is no longer in" in server["finding"]
    assert hook["finding"].endswith("no hook of memhub for beforeSubmitPrompt")
    assert findings(checked, "zed")[0]["state"] == "ok"


@pytest.mark.usefixtures("words_alone")
def test_assistants_without_memhub_and_entries_by_hand_are_named(memhub, tmp_path):
    person = tmp_path / "person"
    for folder in (".codex", ".cursor", ".qwen"):
        (person / folder).mkdir()
    (person / ".cursor" / "mcp.json").write_text('{"mcpServers": {"memhub": {"command": "docker", "args": ["run"]}}}')
    entry = {"command": str(SCRIPT), "args": ["serve"], "env": {"MEMHUB_HOME": str(tmp_path / "theirs")}}
    (person / ".qwen" / "settings.json").write_text(json.dumps({"mcpServers": {"memhub": entry}}))
    checked = memhub("doctor", "--json", cwd=tmp_path)
    assert checked.returncode == 0
    (codex,) = findings(checked, "codex")
    assert codex["finding"] == f"Codex is here; memhub is not in {person / '.codex' / 'config.toml'}"
    assert codex["todo"] == "memhub-mcp install codex"
    assert "starts another program: docker run" in findings(checked, "cursor")[0]["finding"]
    assert "its command answers" in findings(checked, "qwen-code")[0]["finding"]


@pytest.mark.usefixtures("words_alone")
def test_a_command_that_a_repository_brings_is_not_started(memhub, repository, tmp_path):
    memhub("install", "claude", "--scope", "project", "--yes", cwd=repository)
    good = memhub("doctor", "--json", cwd=tmp_path)
    assert "its command answers" in findings(good, "claude-code")[0]["finding"]
    trap = tmp_path / "memhub-mcp"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path / 'sprung'}\n")
    trap.chmod(0o755)
    config = repository / ".mcp.json"
    config.write_text(config.read_text().replace(str(SCRIPT), str(trap)))
    warned = memhub("doctor", "--json", cwd=tmp_path)
    assert "was changed, so it was not started" in findings(warned, "claude-code")[0]["finding"]
    assert not (tmp_path / "sprung").exists()
    shutil.rmtree(repository)
    assert "is gone" in findings(memhub("doctor", "--json", cwd=tmp_path), "claude-code")[0]["finding"]


@pytest.mark.usefixtures("words_alone")
def test_hooks_that_codex_leaves_out_are_told_apart(memhub, tmp_path):
    def said():
        return findings(memhub("doctor", "--json", cwd=tmp_path), "codex")[-1]["finding"]

    memhub("install", "codex", "--yes", cwd=tmp_path)
    assert "not trusted the hooks yet" in said()
    folder = tmp_path / "person" / ".codex"
    trust = "".join(
        f'[hooks.state."{folder / "hooks.json"}:{place}"]\ntrusted_hash = "{digest}"\n'
        for place, digest in our_hooks(folder / "hooks.json")
    )
    with (folder / "config.toml").open("a") as file:
        file.write(trust)
    assert said() == "Codex: it trusts the hooks"
    hooks = folder / "hooks.json"
    hooks.write_text(hooks.read_text().replace("hook codex edit", "hook  codex edit"))
    assert "changed since you trusted them" in said()


@pytest.mark.usefixtures("words_alone")
def test_a_plugin_beside_an_installation_is_said(memhub, tmp_path):
    settings = tmp_path / "person" / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"enabledPlugins": {"other@x": true, "memhub@memhub": true}}')
    (alone,) = findings(memhub("doctor", "--json", cwd=tmp_path), "claude-code")
    assert alone["finding"] == "Claude Code: it has memhub by the plugin memhub@memhub"
    memhub("install", "claude", "--yes", cwd=tmp_path)
    *_, twice = findings(memhub("doctor", "--json", cwd=tmp_path), "claude-code")
    assert "every tool twice" in twice["finding"]
    assert twice["todo"].endswith("memhub-mcp uninstall claude-code")
