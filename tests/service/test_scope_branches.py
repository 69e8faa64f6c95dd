"""What is seen from which branch, through the whole of a scope."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from git_steps import Git, git_clone, git_init
from scope_steps import Person, person_in

from memhub_mcp.domain.clock import system_clock
from memhub_mcp.domain.memory import Filter
from memhub_mcp.domain.scope import Tier
from memhub_mcp.errors import NotFound
from memhub_mcp.repo.checkout import read_checkout
from memhub_mcp.service.lookout import Lookout
from memhub_mcp.service.promotion import promote
from memhub_mcp.service.sight import Sight


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


def test_a_branchs_word_on_a_subject_stands_before_the_workspaces(ada: Person, git: Git) -> None:
    ada.remember(git.root, "port 80", subject="port")
    ada.remember(git.root, "ten retries", subject="retries")
    git.checkout("-b", "feat")
    git.commit("work")
    ada.remember(git.root, "port 8080", subject="port")
    assert ada.sees(git.root) == {"port 8080", "ten retries"}
    git.checkout("main")
    assert ada.sees(git.root) == {"port 80", "ten retries"}


def test_once_main_has_it_the_branchs_word_supersedes_the_older_one(ada: Person, git: Git) -> None:
    old = ada.remember(git.root, "port 80", subject="port")
    git.checkout("-b", "feat")
    git.commit("work")
    new = ada.remember(git.root, "port 8080", subject="port")
    git.checkout("main")
    git.merge("--squash", "feat")
    git.run("commit", "-q", "-m", "squashed")
    assert ada.sees(git.root) == {"port 8080"}
    store = ada.at(git.root).store
    assert store is not None
    found = store.memories.by_seqs([old, new])
    assert (found[old].status, found[new].status) == ("superseded", "active")
    assert store.memories.links(new) == [("supersedes", "out", found[old].id)]


def test_a_later_word_of_main_supersedes_the_branchs(ada: Person, git: Git) -> None:
    git.checkout("-b", "feat")
    git.commit("work")
    ada.remember(git.root, "port 8080", subject="port")
    git.checkout("main")
    ada.remember(git.root, "port 443", subject="port")
    git.merge("feat")
    assert ada.sees(git.root) == {"port 443"}


def test_what_an_abandoned_branch_knew_is_promoted_by_hand(ada: Person, git: Git) -> None:
    git.checkout("-b", "feat")
    git.commit("work")
    ada.remember(git.root, "kept")
    ada.remember(git.root, "left")
    git.checkout("main")
    git.branch("-D", "feat")
    assert ada.sees(git.root) == set()
    scope = ada.at(git.root)
    assert scope.store is not None
    (kept,) = [
        one for one in scope.store.memories.newest(Filter(anchors=None), before=None, limit=9) if one.text == "kept"
    ]
    promote(scope.store, [kept.id], system_clock())
    assert ada.sees(git.root) == {"kept"}
    with pytest.raises(NotFound, match="no memory 'm_none'"):
        promote(scope.store, ["m_none"], system_clock())


def test_a_look_that_takes_long_goes_on_in_the_background(ada: Person, git: Git) -> None:
    git.checkout("-b", "feat")
    git.commit("work")
    ada.remember(git.root, "of feat")
    git.checkout("-b", "child")
    store = ada.at(git.root).store
    assert store is not None
    git.commit("more")
    checkout = read_checkout(git.root)
    lookout = Lookout(system_clock, patience_s=0.05)
    with store.write():  # the look has to wait for us
        partial = Sight(store, checkout, lookout)
        assert (partial.anchors, partial.partial) == (frozenset(), True)
    lookout.close()
    complete = Sight(store, checkout, Lookout(system_clock))
    assert complete.anchors == {anchor.id for anchor in store.anchors.all()}
    assert not complete.partial
