"""The first command a person runs."""

import os
import signal
import subprocess
import sys

import pytest
from tests.cli.conftest import SCRIPT
from tests.support.git_repository import GitRepository


@pytest.fixture
def repository(tmp_path):
    repository = GitRepository.create(tmp_path / "uploader")
    for number in range(30):
        repository.commit(f"Bump the counter to {number}", {"counter.py": f"N = {number}\n"})
    repository.commit("Raise the retry limit because large uploads were cut off (#12)", {"retry.py": "LIMIT = 5\n"})
    repository.commit("Merge branch 'x'")
    return repository


def contents(home):
    files = (path for path in home.rglob("*") if path.is_file() and path.parent.name != "run")
    return {path: path.read_bytes() for path in files if not path.name.endswith("-shm")}


def test_init_says_what_it_knows_and_answers_a_question(memhub, repository, environment):
    begun = memhub("init", cwd=repository.root)
    assert begun.returncode == 0, begun.stderr
    assert begun.stderr == ""
    assert "uploader, branch main at" in begun.stdout
    assert "32, from 2023-11-14 to 2023-11-14" in begun.stdout
    assert "counter.py (30)" in begun.stdout
    question = '"Why did we raise the retry limit because large uploads were cut off?"'
    assert f"memhub-mcp recall {question}" in begun.stdout
    answer = begun.stdout.partition(question)[2]
    assert answer.splitlines()[1].startswith("Raise the retry limit")
    assert f"{SCRIPT} serve" in begun.stdout
    asked = memhub("recall", "why did the retry limit change", cwd=repository.root)
    assert "Raise the retry limit" in asked.stdout


def test_a_second_init_changes_nothing(memhub, repository, tmp_path):
    first = memhub("init", cwd=repository.root)
    before = contents(tmp_path / "memhub")
    second = memhub("init", cwd=repository.root)
    assert second.stdout == first.stdout
    assert contents(tmp_path / "memhub") == before


def test_init_names_the_command_for_each_assistant_found(memhub, repository, environment, tmp_path):
    person = tmp_path / "person"
    (person / ".claude").mkdir()
    (person / ".codex").mkdir()
    memhub("install", "codex", "--yes")
    shown = memhub("init", cwd=repository.root).stdout
    assert f"{SCRIPT} install claude-code\n" in shown
    assert f"{SCRIPT} install codex  installed\n" in shown
    assert "Cursor" not in shown


def test_init_outside_a_repository_offers_what_follows_the_person(memhub, tmp_path):
    shown = memhub("init", cwd=tmp_path)
    assert shown.returncode == 0
    assert "no git repository here" in shown.stdout
    assert "--tier user" in shown.stdout
    assert memhub("remember", "--tier", "user", "I prefer small commits", cwd=tmp_path).returncode == 0
    assert "I prefer small commits" in memhub("list", cwd=tmp_path).stdout


def test_init_in_a_repository_without_commits(memhub, tmp_path):
    GitRepository.create(tmp_path / "new")
    shown = memhub("init", cwd=tmp_path / "new")
    assert shown.returncode == 0
    assert "none yet" in shown.stdout


def test_a_shallow_clone_is_told_what_that_costs(memhub, repository, tmp_path):
    repository.git("clone", "-q", "--depth", "3", repository.root.as_uri(), str(tmp_path / "shallow"))
    shown = memhub("init", cwd=tmp_path / "shallow").stdout
    assert "shallow clone" in shown
    assert "git fetch --unshallow" in " ".join(shown.split())


@pytest.mark.skipif(os.name == "nt", reason="a console event reaches the whole group there")
def test_an_interrupted_init_goes_on_where_it_stopped(memhub, environment, tmp_path):
    many = GitRepository.create(tmp_path / "many")
    script = "".join(
        f"commit refs/heads/main\ncommitter A <a@b> {1_700_000_000 + n} +0000\ndata 1\nx\n"
        f"M 100644 inline f{n}.py\ndata 1\nx\n\n"
        for n in range(400)
    )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=many.root, input=script.encode(), check=True)
    code = (
        "import os, signal, sys\n"
        "from memhub_mcp.store.commits import Commits\n"
        "add = Commits.add\n"
        "def once(self, tx, commits, **more):\n"
        "    add(self, tx, commits, **more)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    Commits.add = add\n"
        "Commits.add = once\n"
        "from memhub_mcp.cli.main import main\n"
        "sys.exit(main(['init']))\n"
    )
    stopped = subprocess.run(
        [sys.executable, "-c", code], cwd=many.root, env=environment, capture_output=True, text=True, check=False
    )
    assert stopped.returncode == 128 + signal.SIGINT
    assert "run `memhub-mcp init` again" in stopped.stdout
    again = memhub("init", cwd=many.root)
    assert again.returncode == 0
    assert "400, from" in again.stdout
