"""What is seen from which branch, through the whole of a scope."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from git_steps import Git, git_clone, git_init
from scope_steps import Person, person_in

from memhub_mcp.domain.scope import Tier


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[Person]:
    with person_in(tmp_path / "ada") as person:
        yield person


@pytest.fixture
def git(tmp_path: Path) -> Git:
    git = git_init(tmp_path / "engine")
    git.commit("one")
    return git


def test_a_branch_memory_is_seen_on_main_after_the_merge(ada: Person, git: Git) -> None:
    git.checkout("-b", "feat")
    git.commit("work")
    ada.remember(git.root, "use just run-debug-with-logs")
    git.checkout("main")
    assert ada.sees(git.root) == set()
    scope = ada.at(git.root)
    scope.anchors()
    assert scope.reply() == {"workspace": "engine", "branch": "main", "head": git.head(), "hidden": 1}
    git.merge("--no-ff", "-m", "merge", "feat")
    assert ada.sees(git.root) == {"use just run-debug-with-logs"}
    assert "hidden" not in ada.at(git.root).reply()


def test_a_fresh_branch_keeps_its_memory_until_its_first_commit(ada: Person, git: Git) -> None:
    git.checkout("-b", "feat")
    ada.remember(git.root, "pending")
    assert ada.sees(git.root) == {"pending"}
    git.checkout("-b", "sibling")
    assert ada.sees(git.root) == set()
    git.checkout("main")
    assert ada.sees(git.root) == set()
    git.checkout("feat")
    git.commit("work")
    assert ada.sees(git.root) == {"pending"}
    git.checkout("-b", "child")
    assert ada.sees(git.root) == {"pending"}
    git.checkout("main")
    assert ada.sees(git.root) == set()
    git.merge("feat")
    assert ada.sees(git.root) == {"pending"}


def test_worktrees_keep_apart_what_belongs_to_their_branches(ada: Person, git: Git, tmp_path: Path) -> None:
    one = git.worktree_add(tmp_path / "a", "-b", "a")
    two = git.worktree_add(tmp_path / "b", "-b", "b")
    ada.remember(one.root, "of a", tier=Tier.BRANCH)
    ada.remember(two.root, "of b", tier=Tier.BRANCH)
    ada.remember(git.root, "of all", tier=Tier.WORKSPACE)
    assert ada.sees(one.root) == {"of a", "of all"}
    assert ada.sees(two.root) == {"of b", "of all"}


def test_history_that_is_missing_falls_back_to_the_workspace(ada: Person, git: Git, tmp_path: Path) -> None:
    ada.remember(git.root, "of all", tier=Tier.WORKSPACE)
    git.checkout("--detach")
    assert ada.sees(git.root) == {"of all"}
    git.checkout("--orphan", "empty")
    assert ada.sees(git.root) == {"of all"}
    shallow = git_clone(git, tmp_path / "shallow", "--depth", "1", "--branch", "main")
    assert ada.sees(shallow.root) == {"of all"}
