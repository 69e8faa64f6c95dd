"""`install` and `uninstall` as a person runs them."""

import json
import os
import shlex
import shutil
import subprocess
import time
import tomllib

import pytest
from tests.cli.conftest import SCRIPT
from tests.support.git_repository import GitRepository

from memhub_mcp.cli.command import is_passing
from memhub_mcp.hosts.codex_trust import our_hooks


def tree(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_change_is_shown_and_needs_a_yes(memhub, tmp_path):
    person = tmp_path / "person"
    (person / ".claude.json").write_text('{\n  "theme": "dark" // mine\n}\n')
    asked = memhub("install", "claude-code")
    assert asked.returncode == 1
    assert '+  "theme": "dark", // mine' in asked.stdout
    assert "add --yes" in asked.stderr
    looked = memhub("install", "claude-code", "--dry-run")
    assert (looked.returncode, looked.stderr) == (0, "")
    assert tree(person) == {p: b for p, b in tree(person).items() if p.name == ".claude.json"}
    assert (person / ".claude.json").read_text() == '{\n  "theme": "dark" // mine\n}\n'
    assert not (tmp_path / "memhub" / "installs.json").exists()


@pytest.mark.skipif(os.name == "nt", reason="it has no pseudo-terminals")
@pytest.mark.parametrize(("answer", "code", "said"), [("y", 0, "Qwen Code: installed"), ("", 1, "nothing was changed")])
def test_a_person_at_a_terminal_is_asked(environment, tmp_path, answer, code, said):
    ours, theirs = os.openpty()
    asked = subprocess.Popen(
        [SCRIPT, "install", "qwen"], env=environment, cwd=tmp_path, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(ours, 1024)
    os.write(ours, answer.encode() + b"\n")
    out, _ = asked.communicate()
    os.close(ours)
    assert asked.returncode == code
    assert said in out.decode()
    assert (tmp_path / "person" / ".qwen" / "settings.json").exists() == (code == 0)


def test_in_and_out_leaves_every_file_as_it_was(memhub, tmp_path):
    person = tmp_path / "person"
    (person / ".codex").mkdir()
    (person / ".codex" / "config.toml").write_bytes(b'\xef\xbb\xbf# mine\r\nmodel = "x"')
    (person / ".gemini").mkdir()
    (person / ".gemini" / "settings.json").write_text("{}")
    before = tree(person)
    assert memhub("install", "--all", "--yes").returncode == 0
    installed = tree(person)
    assert {path.name for path in installed} == {"config.toml", "hooks.json", "settings.json"}
    again = memhub("install", "--all", "--yes")
    assert again.stdout.count("already installed") == 2
    assert tree(person) == installed
    assert memhub("uninstall", "--all", "--yes").returncode == 0
    assert tree(person) == before
    assert (
        memhub("uninstall", "gemini", "--yes").stdout == "Gemini CLI: nothing of memhub is in its user configuration\n"
    )


def test_what_is_written_is_the_absolute_command_with_its_home(memhub, tmp_path):
    memhub("install", "claude", "--yes", "--home", str(tmp_path / "my home"))
    entry = json.loads((tmp_path / "person" / ".claude.json").read_text())["mcpServers"]["memhub"]
    assert entry["command"] == str(SCRIPT)
    assert entry["args"] == ["serve", "--home", str(tmp_path / "my home")]
    hooks = json.loads((tmp_path / "person" / ".claude" / "settings.json").read_text())["hooks"]
    command = shlex.split(hooks["SessionStart"][0]["hooks"][0]["command"])
    assert command == [str(SCRIPT), "hook", "claude-code", "session-start", "--home", str(tmp_path / "my home")]


def test_the_files_of_a_repository_are_edited_for_its_scopes(memhub, tmp_path):
    root = GitRepository.create(tmp_path / "project").root
    (root / "deep").mkdir()
    shown = memhub("install", "cursor", "--scope", "project", "--yes", cwd=root / "deep")
    assert "usually committed" in shown.stdout
    assert {str(path) for path in tree(root / ".cursor")} == {"mcp.json", "hooks.json"}
    memhub("install", "claude", "--scope", "local", "--yes", cwd=root)
    state = json.loads((tmp_path / "person" / ".claude.json").read_text())
    assert list(state["projects"]) == [str(root)]
    memhub("uninstall", "--all", "--yes", cwd=tmp_path)
    assert not (root / ".cursor").exists()
    assert tree(tmp_path / "person") == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["install", "emacs"], "no assistant is called 'emacs'; known: claude-code, codex,"),
        (["install"], "name an assistant, or say --all"),
        (["install", "--all"], "no assistant was found"),
        (["install", "windsurf", "--scope", "project"], "no project scope of its own"),
        (["install", "claude", "--scope", "local"], "no repository here"),
        (["uninstall"], "name an assistant, or say --all"),
        (["uninstall", "--purge-data", "--yes", "--home", "."], "not a data directory of memhub"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(memhub, tmp_path, words, said):
    refused = memhub(*words, cwd=tmp_path)
    assert refused.returncode == 1
    assert said in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_a_configuration_that_does_not_parse_stays_as_it_is(memhub, tmp_path):
    config = tmp_path / "person" / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text("model = x\n")
    refused = memhub("install", "codex", "--yes")
    assert refused.returncode == 1
    assert f"{config}: line 1, column 9: not valid TOML" in refused.stderr
    assert tree(tmp_path / "person") == {config.relative_to(tmp_path / "person"): b"model = x\n"}


def test_one_configuration_that_does_not_parse_does_not_stop_the_others(memhub, tmp_path):
    person = tmp_path / "person"
    for folder in (".codex", ".cursor", ".qwen"):
        (person / folder).mkdir()
    (person / ".cursor" / "mcp.json").write_text("{\n  oops\n}\n")
    done = memhub("install", "--all", "--yes")
    assert done.returncode == 1
    assert f"Cursor: {person / '.cursor' / 'mcp.json'}: line 2, column 3: not valid JSON" in done.stderr
    assert "Codex: installed" in done.stdout
    assert "Qwen Code: installed" in done.stdout
    assert {path.name for path in (person / ".cursor").iterdir()} == {"mcp.json"}
    (person / ".qwen" / "settings.json").write_text("{")
    undone = memhub("uninstall", "--all", "--yes")
    assert undone.returncode == 1
    assert "Qwen Code: " in undone.stderr
    assert "Codex: uninstalled" in undone.stdout
    assert not (person / ".codex" / "config.toml").exists()
    (person / ".qwen" / "settings.json").unlink()
    assert memhub("uninstall", "--all", "--yes").returncode == 0  # Cursor's file says nothing of memhub
    assert not (person / ".qwen" / "QWEN.md").exists()


def test_an_installation_that_failed_is_not_recorded(memhub, tmp_path):
    config = tmp_path / "person" / ".claude.json"
    config.write_text("{}")
    config.chmod(0o400)
    refused = memhub("install", "claude", "--yes")
    assert refused.returncode == 1
    assert "is read-only" in refused.stderr
    assert not (tmp_path / "memhub" / "installs.json").exists()
    assert tree(tmp_path / "person") == {config.relative_to(tmp_path / "person"): b"{}"}


def test_installations_at_once_do_not_lose_each_other(environment, tmp_path):
    hosts = ["claude-code", "codex", "cursor", "gemini-cli", "qwen-code", "zed"]
    running = [
        subprocess.Popen([SCRIPT, "install", host, "--yes"], env=environment, cwd=tmp_path, stdout=subprocess.PIPE)
        for host in (*hosts, *hosts)
    ]
    for process in running:
        process.communicate()
    assert [process.returncode for process in running] == [0] * len(running)
    record = json.loads((tmp_path / "memhub" / "installs.json").read_text())
    assert sorted(one["host"] for one in record) == sorted(hosts)
    undone = subprocess.run([SCRIPT, "uninstall", "--all", "--yes"], env=environment, cwd=tmp_path, check=True)
    assert undone.returncode == 0
    assert list((tmp_path / "person").iterdir()) == []


def test_what_an_installation_left_is_found_without_its_record(memhub, tmp_path):
    person = tmp_path / "person"
    (person / ".codex").mkdir()
    (person / ".codex" / "config.toml").write_text('model = "x"\n')
    assert memhub("install", "codex", "--yes").returncode == 0
    assert memhub("install", "vscode", "--yes").returncode == 0
    shutil.rmtree(tmp_path / "memhub")
    undone = memhub("uninstall", "--all", "--yes")
    assert "Codex: uninstalled" in undone.stdout
    assert "VS Code: uninstalled" in undone.stdout
    assert (person / ".codex" / "config.toml").read_text() == 'model = "x"\n'
    assert all(b"memhub" not in content for content in tree(person).values())
    assert memhub("uninstall", "--all", "--yes").stdout == "no installation is recorded\n"


def test_the_scope_it_was_installed_in_is_named(memhub, tmp_path):
    root = GitRepository.create(tmp_path / "project").root
    memhub("install", "cursor", "--scope", "project", "--yes", cwd=root)
    said = memhub("uninstall", "cursor", "--yes", cwd=root)
    assert f"it is in the project configuration of {root}: --scope project" in said.stdout


def test_nothing_is_left_on_the_machine(memhub, tmp_path):
    person, root = tmp_path / "person", GitRepository.create(tmp_path / "project").root
    (person / ".codex").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for words in (["claude"], ["codex"], ["zed"], ["cursor", "--scope", "project"], ["claude", "--scope", "local"]):
        assert memhub("install", *words, "--yes", cwd=root).returncode == 0
    memhub("remember", "something", cwd=root)
    memhub("doctor", cwd=root)  # loads the model
    looked = memhub("uninstall", "--all", "--purge-data", "--dry-run", cwd=root)
    assert looked.returncode == 0
    assert "would be erased" in looked.stdout
    gone = memhub("uninstall", "--all", "--purge-data", "--yes", cwd=root)
    assert gone.returncode == 0, gone.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_the_trust_that_codex_noted_goes_with_the_hooks(memhub, tmp_path):
    root = GitRepository.create(tmp_path / "project").root
    folder = tmp_path / "person" / ".codex"
    folder.mkdir()
    theirs = '[hooks.state."/elsewhere/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'
    (folder / "config.toml").write_text(theirs)
    for scope, hooks in (("user", folder / "hooks.json"), ("project", root / ".codex" / "hooks.json")):
        assert memhub("install", "codex", "--scope", scope, "--yes", cwd=root).returncode == 0
        with (folder / "config.toml").open("a") as file:
            for place, digest in our_hooks(hooks):
                file.write(f'\n[hooks.state."{hooks}:{place}"]\ntrusted_hash = "{digest}"\n')
        assert memhub("uninstall", "codex", "--scope", scope, "--yes", cwd=root).returncode == 0
        assert (folder / "config.toml").read_text() == theirs
        assert not hooks.exists()


def test_what_a_running_server_uses_is_not_erased(memhub, environment, tmp_path):
    memhub("remember", "--tier", "user", "something", cwd=tmp_path)
    server = subprocess.Popen(
        [SCRIPT, "serve"], env=environment, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with server:
        ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_status", "arguments": {}}}
        server.stdin.write(json.dumps(ask) + "\n")
        server.stdin.flush()
        assert "something" not in server.stdout.readline()
        while not list((tmp_path / "memhub" / "run").glob("ask-*.json")):
            assert server.poll() is None
            time.sleep(0.02)
        refused = memhub("uninstall", "--purge-data", "--yes")
        assert refused.returncode == 1
        assert "still has memhub running" in refused.stderr
        server.stdin.close()
    assert memhub("uninstall", "--purge-data", "--yes").returncode == 0
    assert not (tmp_path / "memhub").exists()


def test_everything_remembered_is_erased_only_when_nothing_points_to_it(memhub, tmp_path):
    memhub("install", "codex", "--yes", cwd=tmp_path)
    memhub("remember", "--tier", "user", "something", cwd=tmp_path)
    assert "still installed into codex" in memhub("uninstall", "--purge-data", "--yes").stderr
    gone = memhub("uninstall", "--all", "--purge-data", "--yes")
    assert gone.returncode == 0, gone.stderr
    assert not (tmp_path / "memhub").exists()
    assert tree(tmp_path / "person") == {}


@pytest.mark.skipif(os.name == "nt", reason="its file names allow no quotes")
def test_paths_of_any_spelling_reach_the_host_and_its_shell(environment, memhub, tmp_path):
    tools = tmp_path / 'o\'brien "tools" $HOME ü&;'
    tools.mkdir()
    (tools / SCRIPT.name).symlink_to(SCRIPT)
    home = tmp_path / "mé mory's"
    installed = subprocess.run(
        [tools / SCRIPT.name, "install", "codex", "--yes", "--home", home],
        env={**environment, "MEMHUB_HOME": "unused"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert installed.returncode == 0, installed.stderr
    folder = tmp_path / "person" / ".codex"
    entry = tomllib.loads((folder / "config.toml").read_text())["mcp_servers"]["memhub"]
    assert [entry["command"], *entry["args"]] == [str(tools / SCRIPT.name), "serve", "--home", str(home)]
    hooks = json.loads((folder / "hooks.json").read_text())["hooks"]
    command = hooks["UserPromptSubmit"][0]["hooks"][0]["command"]
    ran = subprocess.run(
        ["/bin/sh", "-c", command], input="no event", env={"PATH": os.defpath}, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert "codex prompt: " in (home / "logs" / "hook.log").read_text()
    checked = memhub("doctor", "--json", "--home", str(home))
    assert "its command answers" in checked.stdout


@pytest.fixture
def cached(environment, tmp_path):
    """Runs a copy of the script that stands in a cache, beside a `uv` that does as it is told here."""
    script = tmp_path / "mine" / "archive-v0" / "abc" / "bin" / SCRIPT.name
    script.parent.mkdir(parents=True)
    shutil.copy(SCRIPT, script)

    def run(*words, uv=None):
        folder = tmp_path / "tools"
        folder.mkdir(exist_ok=True)
        if uv is not None:
            (folder / "uv").write_text(f"#!/bin/sh\n{uv}\n")
            (folder / "uv").chmod(0o755)
        path = os.pathsep.join([str(folder), os.defpath])
        return subprocess.run(
            [script, *words], env={**environment, "PATH": path}, cwd=tmp_path, capture_output=True, text=True
        )

    return run


def test_a_script_in_a_cache_is_not_written_anywhere(cached, tmp_path):
    refused = cached("install", "codex", "--yes")
    assert refused.returncode == 1
    assert "first run: uv tool install" in refused.stderr
    assert not (tmp_path / "person" / ".codex").exists()
    assert is_passing(("/anywhere/archive-v0/abc/bin/memhub-mcp",))
    assert not is_passing(("/opt/uv/tools/memhub-mcp/bin/memhub-mcp",))


@pytest.mark.skipif(os.name == "nt", reason="the uv of this test is a script of POSIX")
def test_from_a_cache_it_is_installed_first(cached, tmp_path):
    failed = cached("install", "codex", "--yes", uv="exit 3")
    assert (failed.returncode, failed.stderr.count("\n")) == (1, 1)
    assert "uv could not install it (exit 3)" in failed.stderr
    assert not (tmp_path / "person" / ".codex").exists()
    done = cached("install", "codex", "--yes", uv=f'[ "$2" = dir ] && echo "{tmp_path}/bin"; exit 0')
    assert done.returncode == 0, done.stderr
    config = tomllib.loads((tmp_path / "person" / ".codex" / "config.toml").read_text())
    assert config["mcp_servers"]["memhub"]["command"] == str(tmp_path / "bin" / "memhub-mcp")
