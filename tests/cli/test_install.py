"""`install` and `uninstall` as a person runs them."""

import json
import shlex
import shutil

import pytest
from tests.cli.conftest import SCRIPT
from tests.support.git_repository import GitRepository

from memhub_mcp.cli.command import is_passing


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
        (["uninstall", "--purge-data", "--yes"], "not a data directory of memhub"),
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


def test_everything_remembered_is_erased_only_when_nothing_points_to_it(memhub, tmp_path):
    memhub("install", "codex", "--yes", cwd=tmp_path)
    memhub("remember", "--tier", "user", "something", cwd=tmp_path)
    assert "still installed into codex" in memhub("uninstall", "--purge-data", "--yes").stderr
    gone = memhub("uninstall", "--all", "--purge-data", "--yes")
    assert gone.returncode == 0, gone.stderr
    assert not (tmp_path / "memhub").exists()
    assert tree(tmp_path / "person") == {}


def test_a_script_in_a_cache_is_not_written_anywhere(memhub, environment, tmp_path):
    import subprocess

    cached = tmp_path / "uv" / "archive-v0" / "abc" / "bin" / SCRIPT.name
    cached.parent.mkdir(parents=True)
    shutil.copy(SCRIPT, cached)
    refused = subprocess.run(
        [cached, "install", "codex", "--yes"], env=environment, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert "first run: uv tool install" in refused.stderr
    assert not (tmp_path / "person" / ".codex").exists()
    assert is_passing((str(cached),))
    assert not is_passing(("/opt/uv/tools/memhub-mcp/bin/memhub-mcp",))
