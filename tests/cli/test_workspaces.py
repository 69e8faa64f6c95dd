"""Whole workspaces from the command line: shown first, done with --yes."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from git_steps import Git, git_init

from memhub_mcp.domain.clock import system_clock
from memhub_mcp.store.connection import Database
from memhub_mcp.store.migrate import memory_scripts


@pytest.fixture
def repositories(tmp_path: Path) -> tuple[Git, Git]:
    one, two = git_init(tmp_path / "one"), git_init(tmp_path / "two")
    one.commit("first of one")
    two.commit("first of two")
    return one, two


def test_two_workspaces_are_joined_only_when_told_twice(memhub, repositories):
    one, two = repositories
    memhub("remember", "said in one", cwd=one.root)
    memhub("remember", "said in two", cwd=two.root)
    shown = memhub("workspaces", "merge", "one", "two")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "nothing was changed; add --yes to do it" in shown.stdout
    assert "said in two" not in memhub("list", cwd=one.root).stdout
    done = json.loads(memhub("workspaces", "merge", "one", "two", "--yes", "--json").stdout)
    assert (done["action"], done["done"], done["memories"]) == ("merge", True, 1)
    for place in (one, two):
        listed = memhub("list", cwd=place.root).stdout
        assert "said in one" in listed
        assert "said in two" in listed


def test_a_deleted_workspace_is_gone_and_the_receipt_says_what_is_not(memhub, repositories):
    one, two = repositories
    memhub("remember", "said in one", cwd=one.root)
    memhub("remember", "said in two", cwd=two.root)
    done = memhub("workspaces", "delete", "one", "--yes")
    assert done.returncode == 0
    assert "copies that are not memhub's to erase" in done.stdout
    names = [entry["name"] for entry in json.loads(memhub("workspaces", "--json").stdout)["workspaces"]]
    assert names == ["two"]


def test_a_moved_folder_is_told(memhub, repositories, tmp_path: Path):
    one, _ = repositories
    memhub("remember", "said in one", cwd=one.root)
    one.root.rename(tmp_path / "elsewhere")
    done = memhub("workspaces", "move", "one", str(tmp_path / "elsewhere"), "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "said in one" in memhub("list", cwd=tmp_path / "elsewhere").stdout


def test_files_of_an_earlier_memhub_are_listed_and_checked(memhub, repositories, tmp_path: Path):
    one, _ = repositories
    memhub("remember", "said in one", cwd=one.root)
    [listed] = json.loads(memhub("workspaces", "--json").stdout)["workspaces"]
    scripts = memory_scripts()[:1]
    for file in (tmp_path / "memhub").glob("**/memory.db"):
        with closing(apsw.Connection(str(file))) as known:
            [(owner,)] = known.execute("SELECT value FROM meta WHERE key = 'workspace'")
        for part in file.parent.glob("memory.db*"):
            part.unlink()
        Database.open(file, expected_id=owner, clock=system_clock, scripts=scripts).close()
    [again] = json.loads(memhub("workspaces", "--json").stdout)["workspaces"]
    assert (again["id"], again["memories"], listed["memories"]) == (listed["id"], 0, 1)
    checked = memhub("doctor")
    assert (checked.returncode, "older than" in checked.stdout) == (0, False)


@pytest.mark.parametrize(("words", "code"), [(("merge", "one"), 2), (("delete",), 2), (("delete", "nowhere"), 1)])
def test_what_cannot_be_done_is_said_and_changes_nothing(memhub, words, code):
    done = memhub("workspaces", *words)
    assert done.returncode == code
    assert done.stderr


def test_a_memory_of_an_abandoned_branch_can_be_kept_for_all(memhub, repositories):
    one, _ = repositories
    one.checkout("-b", "attempt")
    one.commit("an attempt")
    memhub("remember", "the queue must stay sorted", cwd=one.root)
    one.checkout("main")
    one.branch("-D", "attempt")
    assert "sorted" not in memhub("list", cwd=one.root).stdout
    [hit] = json.loads(memhub("list", "--branch", "*", "--json", cwd=one.root).stdout)["hits"]
    assert memhub("promote", hit["id"], cwd=one.root).stdout == "1 memory seen from every branch now\n"
    assert "sorted" in memhub("list", cwd=one.root).stdout


def test_after_the_registry_is_lost_every_memory_can_be_taken_up_again(memhub, repositories, tmp_path: Path):
    one, two = repositories
    memhub("remember", "said in one", cwd=one.root)
    memhub("remember", "said in two", cwd=two.root)
    for file in (tmp_path / "memhub").glob("workspaces.db*"):
        file.unlink()
    reply = json.loads(memhub("list", "--json", cwd=one.root).stdout)
    assert reply["hits"] == []
    [note] = reply["notes"]
    assert "answers to no repository, as after the loss of workspaces.db" in note
    advised = note.partition("`memhub-mcp ")[2].rstrip("`").split()
    assert memhub(*advised, cwd=one.root).returncode == 0
    reply = json.loads(memhub("list", "--json", cwd=one.root).stdout)
    assert "said in one" in reply["hits"][0]["preview"]
    assert "notes" not in reply
    memhub("remember", "said in two again", cwd=two.root)
    [note] = json.loads(memhub("list", "--json", cwd=two.root).stdout)["notes"]
    advised = note.partition("`memhub-mcp ")[2].rstrip("`").split()
    refused = memhub(*advised, cwd=two.root)
    assert refused.returncode == 1
    merge = " ".join(refused.stderr.split()).partition("`memhub-mcp ")[2].partition("`")[0].split()
    assert memhub(*merge, "--yes", cwd=two.root).returncode == 0
    listed = memhub("list", cwd=two.root).stdout
    assert "said in two again" in listed
    assert listed.count("said in two") == 2


def test_processes_that_meet_a_new_repository_at_once_make_one_workspace(memhub, repositories):
    one, _ = repositories
    with ThreadPoolExecutor(4) as hands:
        done = list(hands.map(lambda number: memhub("remember", f"said by {number}", cwd=one.root), range(4)))
    assert [(each.returncode, each.stderr) for each in done] == [(0, "")] * 4
    [entry] = json.loads(memhub("workspaces", "--json").stdout)["workspaces"]
    assert (entry["name"], entry["memories"]) == ("one", 4)
