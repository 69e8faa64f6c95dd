"""A person says when and how much hooks may record in a repository."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from tests.cli.conftest import SCRIPT, Memhub
from tests.support.git_repository import GitRepository

from memhub_mcp.capture import spool
from memhub_mcp.hosts import hook_files

pytestmark = pytest.mark.usefixtures("words_alone")


@pytest.fixture
def work(environment: dict[str, str], home: Path):
    """One exchange of a Claude Code session in a checkout: a request, an edit and whatever events come after."""

    def run(root: Path, call: str, *then: str, asked: str = "thirty seconds, please") -> None:
        (root / "app.py").write_text("TIMEOUT = 30\n")
        edit = {"filePath": str(root / "app.py"), "oldString": "5", "newString": "30", "originalFile": "TIMEOUT = 5\n"}
        payload = {"session_id": "s1", "prompt_id": call, "cwd": str(root), "prompt": asked}
        payload |= {"tool_name": "Edit", "tool_use_id": call, "tool_input": {}, "tool_response": edit}
        for event in ("prompt", "edit", *then):
            done = subprocess.run(
                [SCRIPT, "hook", "claude-code", event, "--home", home],
                env=environment,
                input=json.dumps(payload).encode(),
                capture_output=True,
                check=True,
            )
            assert done.stderr == b""

    return run


def waiting(home: Path) -> list[str]:
    """What hooks recorded and nobody took in yet."""
    return [str(spool.read(entry)["event"]) for entry in spool.pending(home)]


def versions(memhub: Memhub, root: Path) -> list[str]:
    """The requests behind the versions of the file that hooks reported."""
    reply = json.loads(memhub("history", "app.py", "--json", cwd=root).stdout)
    found = [version for chain in reply["chains"] for version in chain["versions"]]
    return [version["said"] for version in found if "said" in version]


def status(memhub: Memhub, root: Path) -> dict[str, object]:
    return json.loads(memhub("status", "--json", cwd=root).stdout)


def test_hooks_record_nothing_until_it_is_resumed(memhub: Memhub, home: Path, project: Path, work) -> None:
    work(project, "c1", asked="before")
    paused = memhub("pause", cwd=project)
    assert paused.stdout.startswith("project: paused until `memhub-mcp pause --resume`")
    work(project, "c2", "compact", "session-end", asked="a secret matter")
    assert waiting(home) == []
    assert not any((home / "run" / "said").iterdir())
    assert status(memhub, project)["capture"] == "paused"
    assert "paused" in memhub("status", cwd=project).stdout
    assert memhub("remember", "the timeout is thirty seconds", cwd=project).returncode == 0
    assert "thirty seconds" in memhub("recall", "timeout", cwd=project).stdout
    again = memhub("pause", "--resume", "--json", cwd=project)
    assert json.loads(again.stdout)["capture"] == "edits"
    work(project, "c3", asked="after")
    assert waiting(home) == ["edit"]
    assert versions(memhub, project) == ["before", "after"]
    assert status(memhub, project)["capture"] == "edits"


def test_a_pause_can_end_by_itself(memhub: Memhub, home: Path, project: Path, work) -> None:
    reply = json.loads(memhub("pause", "--for", "1h30m", "--json", cwd=project).stdout)
    assert reply["capture"] == "paused"
    assert reply["paused_until"] > time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 5_000))
    assert memhub("status", cwd=project).stdout.count("paused until 2") == 1
    (store,) = (hook_files.place_of(home, str(project)).store,)
    assert hook_files.place_of(home, str(project)).capture == "paused"
    hook_files.note_rules(home, "edits", {}, {store: {"paused": time.time() - 1}})
    work(project, "c1")
    assert waiting(home) == ["edit"]


@pytest.mark.parametrize(
    "words", [("--for", "soon"), ("--for", "0h"), ("--for", "2h", "--resume"), ("--for", "99999d")]
)
def test_a_length_of_time_that_is_none_is_explained(memhub: Memhub, project: Path, words: tuple[str, ...]) -> None:
    done = memhub("pause", *words, cwd=project)
    assert done.returncode == 2
    assert "--for" in done.stderr


def test_outside_a_repository_there_is_nothing_to_pause(memhub: Memhub, tmp_path: Path) -> None:
    for words in (("pause",), ("pause", "--resume"), ("capture",), ("capture", "off")):
        done = memhub(*words, cwd=tmp_path)
        assert done.returncode == 1
        assert "no git repository" in done.stderr


@pytest.mark.parametrize("rule", [("pause",), ("capture", "off")])
def test_a_rule_holds_in_every_working_tree_and_clone(
    memhub: Memhub, home: Path, project: Path, work, rule: tuple[str, ...]
) -> None:
    memhub("init", cwd=project)
    memhub(*rule, cwd=project)
    tree, clone = project.with_name("tree"), project.with_name("clone")
    GitRepository(project).git("worktree", "add", "-q", "-b", "other", str(tree))
    GitRepository(project).git("clone", "-q", str(project), str(clone))
    work(tree, "c1", "session-end")
    assert waiting(home) == []
    work(clone, "c2")
    memhub("recall", "timeout", cwd=project)
    assert (waiting(home), versions(memhub, project)) == ([], [])
    work(clone, "c3")
    assert waiting(home) == []  # from now on the hook knows where it is


def test_each_repository_has_its_own_level(memhub: Memhub, home: Path, project: Path, tmp_path: Path, work) -> None:
    other = GitRepository.create(tmp_path / "other")
    other.commit("another first", {"app.py": "TIMEOUT = 5\n"})
    assert memhub("capture", cwd=project).stdout.startswith("project: edits (as config.toml says for all)")
    assert "said for this repository" in memhub("capture", "off", cwd=project).stdout
    work(project, "c1")
    work(other.root, "c2")
    assert [status(memhub, root)["capture"] for root in (project, other.root)] == ["off", "edits"]
    assert (versions(memhub, project), len(versions(memhub, other.root))) == ([], 1)
    assert json.loads(memhub("capture", "default", "--json", cwd=project).stdout)["own"] is False
    work(project, "c3")
    assert len(versions(memhub, project)) == 1


def test_what_config_toml_says_holds_with_the_next_command(memhub: Memhub, home: Path, project: Path, work) -> None:
    memhub("init", cwd=project)
    (home / "config.toml").write_text('embedder = "off"\ncapture = "off"\n')
    work(project, "c1")  # the hook cannot know yet
    assert status(memhub, project)["capture"] == "off"
    assert versions(memhub, project) == []
    work(project, "c2", "session-end")
    assert waiting(home) == []
    memhub("capture", "edits", cwd=project)
    work(project, "c3")
    assert len(versions(memhub, project)) == 1


def test_the_copy_for_hooks_is_made_anew_when_it_is_lost(memhub: Memhub, home: Path, project: Path, work) -> None:
    memhub("pause", cwd=project)
    for broken in (None, b"{", b'{"stores": 3, "roots": []}'):
        (home / "capture.json").unlink()
        if broken is not None:
            (home / "capture.json").write_bytes(broken)
        work(project, "c1")
        memhub("recall", "timeout", cwd=project)
        assert hook_files.place_of(home, str(project)).capture == "paused"
    assert versions(memhub, project) == []


def test_several_repositories_are_paused_at_once(environment: dict[str, str], home: Path, tmp_path: Path) -> None:
    roots = [GitRepository.create(tmp_path / f"r{number}").root for number in range(5)]
    pausing = [
        subprocess.Popen([SCRIPT, "pause"], cwd=root, env=environment, stdout=subprocess.DEVNULL) for root in roots
    ]
    assert [process.wait(60) for process in pausing] == [0] * 5
    assert [hook_files.place_of(home, str(root)).capture for root in roots] == ["paused"] * 5
    if os.name == "posix":
        assert (home / "capture.json").stat().st_mode & 0o077 == 0
