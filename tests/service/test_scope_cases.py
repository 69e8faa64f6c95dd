"""What users of other memories reported about scope, shown through the whole of ours."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from git_steps import Git, git_clone, git_init
from hubs import Desk, desk_in

from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import ScopeError


class Office:
    """Desks in several folders on one data directory."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self._stack = stack

    def desk(self, folder: Path, **settings: Any) -> Desk:
        return self._stack.enter_context(desk_in(folder, home=self.folder / "data", **settings))

    def repository(self, name: str) -> Git:
        git = git_init(self.folder / name)
        git.commit(f"first of {name}", **{f"{name}.txt": "x"})
        return git


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with ExitStack() as stack:
        yield Office(tmp_path, stack)


def test_a_workspace_argument_is_honoured_and_shown(office: Office) -> None:
    a, b = office.repository("a"), office.repository("b")
    desk = office.desk(b.root, other_workspaces=True)
    office.desk(a.root).recall("warm up")
    named = Caller(source="codex", cwd=b.root, workspace="a")
    reply = desk.hub.memories.remember(named, [{"text": "the cache lives in redis"}])
    assert reply["scope"]["workspace"] == "a"
    assert desk.recall("cache redis") == []
    (hit,) = desk.hub.memories.recall(named, "cache redis")["hits"]
    assert hit.get("workspace") == "a"


def test_two_windows_on_one_server_never_bind_to_each_other(office: Office) -> None:
    repositories = {name: office.repository(name) for name in ("a", "b")}
    hub = office.desk(office.folder).hub
    replies: list[tuple[str, str | None]] = []

    def window(name: str) -> None:
        caller = Caller(source="cursor", roots=(repositories[name].root,))
        for number in range(8):
            reply = hub.memories.remember(caller, [{"text": f"fact {number} of {name}"}])
            replies.append((name, reply["scope"]["workspace"]))

    threads = [threading.Thread(target=window, args=(name,)) for name in repositories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(replies) == 16
    assert all(name == workspace for name, workspace in replies)
    for name, git in repositories.items():
        listed = hub.memories.list(Caller(source="cursor", roots=(git.root,)))["hits"]
        assert len(listed) == 8
        assert all(f"of {name}" in hit["preview"] for hit in listed)


def test_nothing_in_a_call_widens_it_to_other_repositories(office: Office) -> None:
    a, b = office.repository("a"), office.repository("b")
    office.desk(b.root).remember("token rotation is weekly in b")
    desk = office.desk(a.root)
    mine = desk.remember("token rotation is daily in a")
    assert desk.recall("token rotation") == mine
    assert desk.recall("token rotation", branch="*") == mine
    assert desk.recall("token rotation", files=[str(b.root / "b.txt")]) == []
    for name in ("b", str(b.root), "*"):
        with pytest.raises(ScopeError, match="not one of this session's"):
            desk.hub.memories.recall(Caller(source="codex", cwd=a.root, workspace=name), "token rotation")


def test_diverged_worktrees_share_the_repository_and_keep_their_branches_apart(office: Office) -> None:
    git = office.repository("shop")
    trees = {name: git.worktree_add(office.folder / name, "-b", name) for name in ("left", "right")}
    for name, tree in trees.items():
        tree.commit(f"work of {name}", **{f"{name}.txt": name})
    shared = office.desk(git.root).remember("releases are cut from main", tier="workspace")
    own = {name: office.desk(tree.root).remember(f"releases of {name} need a flag") for name, tree in trees.items()}
    for name, tree in trees.items():
        assert set(office.desk(tree.root).recall("releases")) == {*shared, *own[name]}


def test_what_an_unmerged_branch_knows_is_hidden_on_main_and_seen_after_the_merge(office: Office) -> None:
    git = office.repository("shop")
    desk = office.desk(git.root)
    git.checkout("-b", "feat")
    git.commit("add the recipe")
    known = desk.remember("use just run-debug-with-logs to debug a run")
    git.checkout("main")
    reply = desk.hub.memories.recall(desk.caller, "how to debug run")
    assert reply["hits"] == []
    assert reply["scope"].get("hidden") == 1
    (marked,) = desk.hub.memories.recall(desk.caller, "how to debug run", branch="*")["hits"]
    assert marked.get("branch") == "feat"
    git.merge("--no-ff", "-m", "merge", "feat")
    assert desk.recall("how to debug run") == known
    assert "hidden" not in desk.hub.memories.recall(desk.caller, "how to debug run")["scope"]


def test_where_history_does_not_help_the_repositorys_memory_still_answers(office: Office) -> None:
    git = office.repository("shop")
    git.commit("second")
    desk = office.desk(git.root)
    known = desk.remember("the queue is drained at night")
    git.checkout("--detach")
    assert desk.recall("queue drained") == known
    git.checkout("--orphan", "empty")
    assert desk.recall("queue drained") == known
    git.checkout("-f", "-b", "feat", "main")
    git.commit("work", work__txt="w")
    own = desk.remember("the queue moves to kafka")
    git.checkout("main")
    git.commit("elsewhere", elsewhere__txt="e")
    git.checkout("feat")
    git.rebase("main")
    assert set(desk.recall("queue")) == {*known, *own}
    desk.hub.indexing.index(desk.hub.scopes.resolve(desk.caller))
    shallow = git_clone(git, office.folder / "shallow", "--depth", "1", "--branch", "main")
    assert office.desk(shallow.root).recall("queue drained") == known
    plain = office.folder / "plain"
    plain.mkdir()
    assert office.desk(plain).recall("queue drained") == []


def test_after_a_merge_the_branchs_version_supersedes_mains(office: Office) -> None:
    git = office.repository("shop")
    desk = office.desk(git.root)
    (old,) = desk.remember("deploys run on tuesdays", subject="deploy day")
    git.checkout("-b", "feat")
    git.commit("work")
    (new,) = desk.remember("deploys run on fridays", subject="deploy day")
    assert desk.recall("when do deploys run") == [new]
    git.checkout("main")
    assert desk.recall("when do deploys run") == [old]
    git.merge("feat")
    assert desk.recall("when do deploys run") == [new]
    (memory,) = desk.hub.memories.get(desk.caller, [old])["memories"]
    assert memory["status"] == "superseded"


def test_a_monorepo_folder_keeps_its_notes_under_any_name(office: Office) -> None:
    git = office.repository("mono")
    (git.root / "packages" / "api").mkdir(parents=True)
    inside = office.desk(git.root / "packages" / "api")
    known = inside.remember("the api speaks grpc", files=["packages/api/server.py"])
    assert office.desk(git.root).recall("api grpc") == known
    (git.root / "packages" / "api").rename(git.root / "packages" / "service")
    renamed = office.desk(git.root / "packages" / "service")
    assert renamed.recall("api grpc") == known
    (memory,) = renamed.hub.memories.get(renamed.caller, known)["memories"]
    assert memory.get("files") == ["packages/api/server.py"]


def test_a_submodule_is_its_own_workspace_and_the_parent_is_reached_by_naming_it(office: Office) -> None:
    library, outer = office.repository("library"), office.repository("outer")
    outer.run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "sub")
    outer.commit("add it")
    known = office.desk(outer.root).remember("the parent pins its submodules")
    desk = office.desk(outer.root / "sub")
    assert desk.recall("parent pins submodules") == []
    reply = desk.hub.memories.recall(
        Caller(source="codex", cwd=outer.root / "sub", workspace="outer"), "parent pins submodules"
    )
    assert [hit["id"] for hit in reply["hits"]] == known
    assert reply["scope"]["workspace"] == "outer"


def test_removing_a_worktree_loses_nothing(office: Office) -> None:
    git = office.repository("shop")
    linked = git.worktree_add(office.folder / "linked", "-b", "feat")
    linked.commit("work")
    known = office.desk(linked.root).remember("found in the worktree")
    linked.run("clean", "-qfdx")
    git.run("worktree", "remove", str(linked.root))
    git.checkout("feat")
    assert office.desk(git.root).recall("found in the worktree") == known


def test_a_file_is_one_file_however_its_path_is_written(office: Office) -> None:
    git = office.repository("shop")
    linked = git.worktree_add(office.folder / "linked", "-b", "feat")
    (office.folder / "alias").symlink_to(git.root)
    desk = office.desk(git.root)
    ways = ["shop.txt", str(git.root / "shop.txt"), str(office.folder / "alias" / "shop.txt")]
    known = [desk.remember(f"the till opens {number} times", files=[way])[0] for number, way in enumerate(ways)]
    there = {"text": "the till of feat", "files": [str(linked.root / "shop.txt")], "tier": "workspace"}
    reply = desk.hub.memories.remember(Caller(source="codex"), [there])
    assert reply["scope"]["branch"] == "feat"
    known.append(reply["results"][0]["id"])
    for way in ways:
        assert set(desk.recall("till", files=[way])) == set(known), way
    for memory in desk.hub.memories.get(desk.caller, known)["memories"]:
        assert memory.get("files") == ["shop.txt"]
