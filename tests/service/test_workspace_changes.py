"""Joining two workspaces, telling where one is now, deleting one: first shown, then done, with a receipt."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from git_steps import Git, git_clone, git_init
from scope_steps import Person, person_in

from memhub_mcp.domain.clock import system_clock
from memhub_mcp.domain.memory import Filter
from memhub_mcp.domain.scope import Tier
from memhub_mcp.errors import Conflict, NotFound, ScopeError
from memhub_mcp.service.workspaces import WorkspaceChanges
from memhub_mcp.settings import Settings


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[Person]:
    with person_in(tmp_path / "ada") as person:
        yield person


@pytest.fixture
def changes(ada: Person, tmp_path: Path) -> WorkspaceChanges:
    settings = Settings(home=ada.data, cwd=tmp_path, person_home=ada.home)
    return WorkspaceChanges(settings=settings, registry=ada.registry, stores=ada.stores, clock=system_clock)


def repository(folder: Path) -> Git:
    git = git_init(folder)
    git.commit(f"first of {folder.name}")
    return git


def test_two_workspaces_become_one(ada: Person, changes: WorkspaceChanges, tmp_path: Path) -> None:
    one, two = repository(tmp_path / "one"), repository(tmp_path / "two")
    ada.remember(one.root, "of one")
    ada.remember(one.root, "of both")
    ada.remember(two.root, "of both")
    ada.remember(two.root, "of two")
    two.checkout("-b", "feat")
    two.commit("work")
    ada.remember(two.root, "of feat")

    shown = changes.merge("one", "two")
    assert (shown.done, shown.memories) == (False, 3)
    assert ada.sees(one.root) == {"of one", "of both"}

    receipt = changes.merge("one", "two", confirm=True)
    assert receipt.done
    assert "2 memories joined one" in receipt.lines[0]
    assert "1 were there already" in receipt.lines[0]
    assert ada.sees(one.root) == {"of one", "of both", "of two"}
    assert ada.sees(two.root) == {"of one", "of both", "of two", "of feat"}
    two.checkout("main")
    assert ada.sees(two.root) == {"of one", "of both", "of two"}
    assert [workspace.name for workspace in ada.registry.list()] == ["one"]
    assert len(list((ada.data / "backups").glob("merged-*-two-*/memory.db"))) == 1
    store = ada.at(one.root).store
    assert store is not None
    assert len(store.words.search(["feat"], Filter(anchors=None), limit=5)) == 1


def test_of_one_subject_the_later_stays_active(ada: Person, changes: WorkspaceChanges, tmp_path: Path) -> None:
    one, two = repository(tmp_path / "one"), repository(tmp_path / "two")
    ada.remember(one.root, "port 80", subject="port", tier=Tier.WORKSPACE)
    ada.remember(two.root, "port 8080", subject="port", tier=Tier.WORKSPACE)
    changes.merge("one", "two", confirm=True)
    assert ada.sees(one.root) == {"port 8080"}


def test_merging_needs_two_known_workspaces(ada: Person, changes: WorkspaceChanges, tmp_path: Path) -> None:
    ada.at(repository(tmp_path / "one").root)
    with pytest.raises(Conflict, match="one workspace already"):
        changes.merge("one", "one")
    with pytest.raises(NotFound, match="no workspace 'two'"):
        changes.merge("one", "two", confirm=True)


def test_a_twin_that_stayed_apart_is_joined_for_good(ada: Person, changes: WorkspaceChanges, tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin")
    mine, theirs = (git_clone(origin, tmp_path / name) for name in ("mine", "theirs"))
    for git in (mine, theirs):
        git.run("remote", "set-url", "origin", f"git@github.com:{git.root.name}/engine.git")
        ada.remember(git.root, f"of {git.root.name}")
    first, second = (workspace.id for workspace in ada.registry.list())
    changes.merge(first, second, confirm=True)
    for git in (mine, theirs):
        assert ada.sees(git.root) == {"of mine", "of theirs"}
    assert ada.at(theirs.root).notes == ()


def test_a_workspace_follows_its_folder(ada: Person, changes: WorkspaceChanges, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    scope = ada.at(tmp_path, project_dir=folder)
    folder.rename(tmp_path / "moved")
    shown = changes.move("notes", tmp_path / "moved")
    assert not shown.done
    assert len(shown.lines) == 2
    changes.move("notes", tmp_path / "moved", confirm=True)
    assert ada.at(tmp_path, project_dir=tmp_path / "moved").workspace == scope.workspace
    assert changes.move("notes", tmp_path / "moved").lines == ()


def test_a_workspace_does_not_move_onto_another(ada: Person, changes: WorkspaceChanges, tmp_path: Path) -> None:
    one, two = repository(tmp_path / "one"), repository(tmp_path / "two")
    ada.at(one.root)
    ada.remember(two.root, "of two")
    with pytest.raises(Conflict, match="workspaces merge"):
        changes.move("one", two.root, confirm=True)
    for folder in (ada.home, tmp_path / "nowhere"):
        with pytest.raises(ScopeError, match="cannot be a workspace"):
            changes.move("one", folder, confirm=True)


def test_a_workspace_is_deleted_with_its_file(ada: Person, changes: WorkspaceChanges, tmp_path: Path) -> None:
    one, two = repository(tmp_path / "one"), repository(tmp_path / "two")
    ada.remember(one.root, "of one")
    ada.remember(two.root, "of two")
    shown = changes.delete("one")
    assert (shown.done, shown.memories) == (False, 1)
    assert ada.sees(one.root) == {"of one"}
    receipt = changes.delete("one", confirm=True)
    assert "git itself" in receipt.unreachable
    assert not receipt.workspace.directory.exists()
    assert ada.sees(one.root) == set()
    assert ada.sees(two.root) == {"of two"}


def test_a_damaged_workspace_can_be_deleted(ada: Person, changes: WorkspaceChanges, tmp_path: Path) -> None:
    one = repository(tmp_path / "one")
    workspace = ada.at(one.root).workspace
    assert workspace is not None
    ada.stores.let_go(workspace)
    for file in workspace.directory.iterdir():
        file.write_bytes(b"no database" * 500)
    assert "damaged" in changes.delete("one").lines[0]
    changes.delete("one", confirm=True)
    assert ada.sees(one.root) == set()
