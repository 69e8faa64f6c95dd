"""The native packages: read by the hosts exactly as they lie there."""

import base64
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from memhub_mcp import __version__
from memhub_mcp.cli import hook, serve
from memhub_mcp.cli.main import VERBS
from memhub_mcp.cli.words import leading_options
from memhub_mcp.hosts.pieces import hook_command, rules_text, server_entry
from memhub_mcp.hosts.records import HOSTS, HookShape, host_named

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ROOT / "integrations"
HOOK_FILES = {
    "claude-code": "claude-code/memhub/hooks/hooks.json",
    "codex": "codex/hooks.json",
    "cursor": "cursor/hooks.json",
    "gemini-cli": "gemini-cli/hooks/hooks.json",
}


def load(path):
    text = (PACKAGES / path).read_text(encoding="utf-8")
    return tomllib.loads(text) if path.endswith(".toml") else json.loads(text)


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def entries(value):
    """Every server entry and every hook command in a configuration."""
    if isinstance(value, dict):
        if "command" in value:
            yield value
        for inner in value.values():
            yield from entries(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from entries(inner)


def words_of(entry):
    """The words memhub-mcp is given, as a shell without MEMHUB_HOME gives them."""
    command = entry["command"]
    words = [*command] if isinstance(command, list) else [command, *entry.get("args", [])]
    if len(words) == 1:
        last = command.rpartition("; ")[2]
        words = shlex.split(re.sub(r"\$\{MEMHUB_HOME:\+.*\}", "", last))
    return words[words.index("memhub-mcp") + 1 :] if "memhub-mcp" in words else words[1:]


def accepts(words):
    """Whether the real parsers take the words."""
    common, rest = leading_options(words)
    before = [part for pair in common.items() for part in pair]
    assert rest[0] in VERBS
    if rest[0] == "hook":
        hook.parse(hook.home_and_names([*before, *rest[1:]])[1])
        return
    assert rest[0] == "serve"
    assert serve.parse([*before, *rest[1:]]).get("transport", "stdio") == "stdio"


PACKAGED = [
    (path.relative_to(PACKAGES).as_posix(), number)
    for path in sorted(PACKAGES.rglob("*"))
    if path.suffix in (".json", ".toml")
    for number, _ in enumerate(entries(load(path.relative_to(PACKAGES).as_posix())))
]


@pytest.mark.parametrize(("path", "number"), PACKAGED)
def test_every_packaged_command_is_one(path, number):
    accepts(words_of(list(entries(load(path)))[number]))


@pytest.mark.parametrize("host", HOSTS, ids=[host.name for host in HOSTS])
def test_every_installed_command_is_one(host, tmp_path):
    command, home = ["/opt/my tools/memhub-mcp"], tmp_path / "my home"
    accepts(words_of(server_entry(host, command, home)))
    for event in host.events:
        words = shlex.split(hook_command(host, event, command, home, "linux"))
        assert words[0] == command[0]
        accepts(words[1:])
        assert hook.home_and_names(words[2:])[0] == str(home)


@pytest.mark.parametrize("name", HOOK_FILES)
def test_packages_report_the_events_that_install_registers(name):
    host = host_named(name)
    listed = load(HOOK_FILES[name])["hooks"]
    assert list(listed) == [event.name for event in host.events]
    for event in host.events:
        (group,) = listed[event.name]
        assert group.get("matcher") == event.matcher
        (entry,) = group["hooks"] if host.hook_shape is HookShape.GROUPED else [group]
        assert entry.get("timeout") == host.timeout
        assert words_of(entry)[:3] == ["hook", name, event.event]


@pytest.mark.skipif(os.name == "nt", reason="these hosts run hooks in a shell of POSIX")
def test_a_packaged_hook_without_memhub_says_nothing_and_succeeds(tmp_path):
    for path in HOOK_FILES.values():
        for entry in entries(load(path)):
            done = subprocess.run(["/bin/sh", "-c", entry["command"]], env={"PATH": str(tmp_path)}, capture_output=True)
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.skipif(os.name == "nt", reason="these hosts run hooks in a shell of POSIX")
def test_a_packaged_hook_hands_on_the_data_directory(tmp_path):
    program = tmp_path / "memhub-mcp"
    program.write_text('#!/bin/sh\nfor word in "$@"; do echo "$word"; done\n')
    program.chmod(0o755)
    home = tmp_path / 'o\'brien "s" $HOME'
    for name, path in HOOK_FILES.items():
        for entry in entries(load(path)):
            for env, more in (({}, []), ({"MEMHUB_HOME": str(home)}, ["--home", str(home)])):
                ran = subprocess.run(
                    ["/bin/sh", "-c", entry["command"]],
                    env={"PATH": f"{tmp_path}:{os.defpath}", **env},
                    capture_output=True,
                    text=True,
                )
                words = ran.stdout.splitlines()
                assert words[:2] == ["hook", name]
                assert words[3:] == more


def test_the_commands_in_the_texts_of_packages_are_some():
    named = {
        (path.name, words)
        for path in PACKAGES.rglob("*.md")
        for words in re.findall(r"`memhub-mcp ([^`]+)`", path.read_text(encoding="utf-8"))
    }
    assert {words.split()[0] for _, words in named} <= VERBS.keys()
    assert ("README.md", "doctor") in named


def test_the_registry_starts_the_server():
    (package,) = load("registry/server.json")["packages"]
    assert package["runtimeHint"] == "uvx"
    accepts([argument["value"] for argument in package["packageArguments"]])


def test_the_bundle_starts_the_server_by_its_entry_point_too():
    manifest = load("mcpb/manifest.json")
    assert (PACKAGES / "mcpb" / manifest["server"]["entry_point"]).is_file()
    hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    ran = subprocess.run(
        [sys.executable, PACKAGES / "mcpb" / "server.py"],
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
    )
    assert json.loads(ran.stdout.splitlines()[0])["result"] == {}


def test_all_packages_carry_the_version_of_the_program():
    versions = {
        path: [*re.findall(r'(?<!\w)"?version"?\s*[:=]\s*"([^"]+)"', text), *re.findall(r"memhub-mcp==([\w.]+)", text)]
        for path in PACKAGES.rglob("*")
        if path.suffix in (".json", ".toml")
        for text in [path.read_text(encoding="utf-8")]
    }
    assert {version for found in versions.values() for version in found} == {__version__}


def test_the_rules_are_the_same_everywhere():
    for path in ("agents/AGENTS.md", "gemini-cli/GEMINI.md", "cursor/rules/memhub.mdc"):
        assert (PACKAGES / path).read_text(encoding="utf-8").endswith(rules_text() + "\n")


def test_the_install_link_holds_the_entry_of_its_file():
    link = urlsplit((PACKAGES / "cursor" / "install-link.txt").read_text().strip())
    asked = parse_qs(link.query)
    assert (link.scheme, link.netloc, link.path) == ("cursor", "anysphere.cursor-deeplink", "/mcp/install")
    assert asked["name"] == ["memhub"]
    assert json.loads(base64.b64decode(asked["config"][0])) == load("cursor/mcp.json")["mcpServers"]["memhub"]


def test_the_registry_name_stands_in_the_readme():
    server = load("registry/server.json")
    assert f"mcp-name: {server['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert 3 <= len(server["name"]) <= 200
    assert 1 <= len(server["description"]) <= 100
    assert 1 <= len(server["title"]) <= 100
    (package,) = server["packages"]
    assert (package["registryType"], package["identifier"]) == ("pypi", project()["name"])
    assert package["transport"] == {"type": "stdio"}


def test_the_packages_are_in_the_wheel():
    included = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"][
        "targets"
    ]["wheel"]["force-include"]
    assert included == {"integrations": "memhub_mcp/integrations"}
