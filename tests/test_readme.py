"""The README says what is so."""

import json
import re
import shlex
import stat
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from git_steps import git_init

from memhub_mcp.cli.main import VERBS
from memhub_mcp.errors import InvalidInput
from memhub_mcp.settings import Settings, load_settings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_it_fits_on_two_pages() -> None:
    assert README.count("\n") <= 150


def test_ci_calls_the_command_for_the_tests() -> None:
    command = BLOCKS[1].strip()
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert command.endswith("uv run scripts/check")
    assert (ROOT / "scripts" / "check").stat().st_mode & stat.S_IXUSR


def test_the_first_command_runs_a_verb_of_the_installed_script() -> None:
    words = shlex.split(BLOCKS[0].strip().split("&&")[-1])
    assert words[1] == "run"
    assert words[2] in PROJECT["project"]["scripts"]
    assert words[3] in VERBS


def test_the_examples_work_as_they_stand(tmp_path: Path) -> None:
    git = git_init(tmp_path / "shop")
    git.commit("say what it is", README__md="# Shop\n")
    for line in BLOCKS[2].splitlines():
        command, *words = shlex.split(line)
        script = Path(sys.executable).parent / command
        done = subprocess.run(
            [script, "--home", str(tmp_path / "home"), *words],
            cwd=git.root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), line


def test_the_table_of_tools_is_the_surface() -> None:
    surface = json.loads((ROOT / "src/memhub_mcp/server/surface.json").read_text(encoding="utf-8"))
    assert _first_column("tool") == [tool["name"] for tool in surface["tools"]]


def test_each_setting_exists_with_the_default_it_says() -> None:
    defaults = {field.name: field.default for field in fields(Settings)}
    rows = re.findall(r"\| `(\w+)` \| config\.toml \| `(.*?)`", README)
    assert rows
    for name, value in rows:
        assert json.loads(value) == defaults[name], name


def test_each_key_of_the_settings_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("nonsense = 1\n")
    with pytest.raises(InvalidInput) as said:
        load_settings(home=tmp_path, environ={})
    keys = str(said.value).partition("known: ")[2].split(", ")
    assert keys
    assert [key for key in keys if f"| `{key}` | config.toml" not in README] == []


def _first_column(heading: str) -> list[str]:
    table = README.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^\| `(\w+)`", table, re.MULTILINE)
