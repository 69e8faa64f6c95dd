"""`memhub-mcp reindex`, and what status says of a change of models, as a person sees them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from git_steps import Git, git_init
from hubs import loaded_model

from .conftest import SCRIPT, Memhub


@pytest.fixture
def shop(tmp_path: Path) -> Git:
    git = git_init(tmp_path / "shop")
    git.commit("start the shop", app__py="retries = 5\n")
    return git


def choose(tmp_path: Path, embedder: str) -> None:
    (tmp_path / "memhub").mkdir(mode=0o700, exist_ok=True)
    (tmp_path / "memhub" / "config.toml").write_text(f'embedder = "{embedder}"\n')


def test_words_and_vectors_are_made_anew_and_counted(memhub: Memhub, shop: Git) -> None:
    memhub("init", cwd=shop.root)
    memhub("remember", "the harbor crane is yellow", cwd=shop.root)
    done = memhub("reindex", cwd=shop.root)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "shop: words of 1 memory and 1 commit, vectors of 1 memory"
    done = memhub("reindex", "--words", "--json", cwd=shop.root)
    assert json.loads(done.stdout) == {
        "shop": {"memories": 1, "commits": 1, "vectors": 0, "complete": True},
        "user": {"memories": 0, "commits": 0, "vectors": 0, "complete": True},
    }
    assert "the harbor crane is yellow" in memhub("recall", "crane", cwd=shop.root).stdout


def test_without_a_model_words_are_made_and_the_exit_code_says_that_something_is_missing(
    memhub: Memhub, shop: Git, words_alone: None
) -> None:
    memhub("remember", "the harbor crane is yellow", cwd=shop.root)
    done = memhub("reindex", cwd=shop.root)
    assert done.returncode == 1
    assert done.stdout.startswith("shop: words of 1 memory")
    assert done.stderr.startswith("memhub-mcp: no vectors were made: meaning is switched off")
    assert memhub("reindex", "--words", cwd=shop.root).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_progress_shows_on_a_terminal(environment: dict[str, str], shop: Git, words_alone: None) -> None:
    import termios

    subprocess.run([SCRIPT, "remember", "the harbor crane is yellow"], cwd=shop.root, env=environment, check=True)
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    command = [SCRIPT, "reindex", "--words"]
    done = subprocess.run(command, cwd=shop.root, env=environment, stdout=subprocess.PIPE, stderr=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 100_000)
    os.close(ours)
    assert b"shop" in shown
    assert b"memories" in shown
    assert b"\r" not in done.stdout


def test_status_says_which_model_serves_while_another_is_wanted(memhub: Memhub, shop: Git, tmp_path: Path) -> None:
    memhub("remember", "the harbor crane is yellow", cwd=shop.root)
    with loaded_model(tmp_path / "memhub"):
        memhub("recall", "which colour has the crane", cwd=shop.root)
        choose(tmp_path, "bge-m3")
        found = memhub("recall", "which colour has the crane", "--json", cwd=shop.root)
    assert json.loads(found.stdout)["mode"]["dense"] == "on"
    told = " ".join(memhub("status", cwd=shop.root).stdout.split())
    assert "shop: 0 of 1 memory embedded by bge-m3" in told
    assert "until then all-MiniLM-L6-v2" in told
    done = memhub("reindex", "--vectors", cwd=shop.root)
    assert done.returncode == 1
    assert "memhub-mcp models pull bge-m3" in done.stderr
    choose(tmp_path, "minilm")
    assert "until then" not in memhub("status", cwd=shop.root).stdout
