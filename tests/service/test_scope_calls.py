"""Which workspace and which checkout a call is about: what is named, what the host says, where we stand."""

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from git_steps import Git, git_clone, git_init
from scope_steps import Person, person_in

from memhub_mcp.domain.memory import Kind
from memhub_mcp.domain.scope import Tier
from memhub_mcp.errors import ScopeError, StoreError


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[Person]:
    with person_in(tmp_path / "ada") as person:
        yield person


def repository(folder: Path) -> Git:
    git = git_init(folder)
    git.commit(f"first of {folder.name}", **{f"{folder.name}.txt": "x"})
    return git


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    return {name: repository(tmp_path / name).root for name in ("asked", "project", "root", "installed", "here")}


def test_the_first_hint_that_answers_decides(ada: Person, places: dict[str, Path], tmp_path: Path) -> None:
    hints = {
        "workspace": str(places["asked"]),
        "project_dir": places["project"],
        "installed_workspace": str(places["installed"]),
    }
    roots = {"roots": (places["root"],)}
    order = []
    for missing in ("", "workspace", "project_dir", "roots", "installed_workspace"):
        hints.pop(missing, None)
        roots.pop(missing, None)
        order.append(ada.at(places["here"], call=roots, **hints).reply()["workspace"])
    assert order == ["asked", "project", "root", "installed", "here"]
    assert ada.at(tmp_path).workspace is None


def test_a_hint_that_leads_nowhere_is_passed_over(ada: Person, places: dict[str, Path], tmp_path: Path) -> None:
    scope = ada.at(
        places["here"],
        project_dir=tmp_path / "gone",
        installed_workspace="${workspaceFolder}",
        call={"roots": (tmp_path / "gone too", ada.home)},
    )
    assert scope.reply()["workspace"] == "here"


def test_a_folder_inside_a_repository_is_the_repository(ada: Person, places: dict[str, Path]) -> None:
    (places["here"] / "packages" / "api").mkdir(parents=True)
    assert ada.at(places["here"] / "packages" / "api").workspace == ada.at(places["here"]).workspace
    assert ada.at(ada.home, project_dir=places["here"] / "packages").workspace == ada.at(places["here"]).workspace


def test_the_workspace_argument_reaches_the_sessions_own_stores_only(
    ada: Person, places: dict[str, Path], tmp_path: Path
) -> None:
    ada.at(places["asked"])
    for name in ("asked", str(places["asked"]), "nobody", "../asked"):
        with pytest.raises(ScopeError, match=r"not one of this session's \(here\); leave it out") as refused:
            ada.at(places["here"], call={"workspace": name})
        assert "other_workspaces" in str(refused.value)
    here = ada.at(places["here"])
    assert here.workspace is not None
    for name in ("here", str(places["here"]), ".", here.workspace.id, here.workspace.id[:8]):
        assert ada.at(places["here"], call={"workspace": name}).workspace == here.workspace
    rooted = ada.at(places["here"], call={"workspace": "root", "roots": (places["root"],)})
    assert rooted.reply()["workspace"] == "root"


def test_the_person_may_allow_other_workspaces(ada: Person, places: dict[str, Path]) -> None:
    asked = ada.at(places["asked"])
    for name in ("asked", str(places["asked"])):
        scope = ada.at(places["here"], other_workspaces=True, call={"workspace": name})
        assert scope.workspace == asked.workspace
        assert scope.checkout == asked.checkout
    with pytest.raises(ScopeError, match="no workspace 'nobody'"):
        ada.at(places["here"], other_workspaces=True, call={"workspace": "nobody"})


def test_a_refused_workspace_leaves_no_trace(ada: Person, places: dict[str, Path]) -> None:
    ada.at(places["here"])
    with pytest.raises(ScopeError):
        ada.at(places["here"], call={"workspace": str(places["project"])})
    assert [workspace.name for workspace in ada.registry.list()] == ["here"]


def test_the_persons_own_choice_is_a_path_a_name_or_an_id(ada: Person, places: dict[str, Path]) -> None:
    asked = ada.at(places["asked"]).workspace
    assert asked is not None
    for name in ("asked", asked.id, asked.id[:8], str(places["asked"]), "../asked"):
        scope = ada.at(places["here"], workspace=name)
        assert (scope.workspace, scope.reply()["branch"]) == (asked, "main")
    with pytest.raises(ScopeError, match="no workspace 'nobody'"):
        ada.at(places["here"], workspace="nobody")


def test_two_workspaces_of_one_name_are_told_apart_by_id(ada: Person, tmp_path: Path) -> None:
    one, two = repository(tmp_path / "a" / "engine"), repository(tmp_path / "b" / "engine")
    ids = [ada.at(git.root).workspace for git in (one, two)]
    with pytest.raises(ScopeError, match="several workspaces are called 'engine'"):
        ada.at(tmp_path, workspace="engine")
    assert ids[1] is not None
    assert ada.at(tmp_path, workspace=ids[1].id).workspace == ids[1]


def test_a_missing_or_unreadable_folder_is_one_clear_sentence(ada: Person, tmp_path: Path) -> None:
    with pytest.raises(ScopeError, match=r"gone does not exist; name a folder, or the name of a workspace$"):
        ada.at(tmp_path, workspace=str(tmp_path / "gone"))
    with pytest.raises(ScopeError, match="is a path, a name or an id"):
        ada.at(tmp_path, call={"workspace": "a\0b"})


@pytest.mark.skipif(not hasattr(os, "fork") or os.geteuid() != 0, reason="becomes another user in a child process")
def test_a_folder_we_may_not_read_is_one_clear_sentence(ada: Person, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.seteuid(65_534)
            ada.at(tmp_path, workspace=str(closed))
        except ScopeError as error:
            code = 0 if "cannot be read" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_sub_agent_in_a_worktree_stands_on_its_own_branch(
    ada: Person, places: dict[str, Path], tmp_path: Path
) -> None:
    linked = Git(places["here"]).worktree_add(tmp_path / "linked", "-b", "feat")
    hook = ada.at(places["here"], project_dir=places["here"], call={"cwd": linked.root})
    assert hook.reply()["branch"] == "feat"
    named = ada.at(places["here"], project_dir=places["here"], call={"paths": (str(linked.root / "new.py"),)})
    assert named.reply()["branch"] == "feat"
    process = ada.at(linked.root, project_dir=places["here"])
    assert process.reply()["branch"] == "feat"
    elsewhere = ada.at(places["asked"], project_dir=places["here"])
    assert elsewhere.reply() == {"workspace": "here", "branch": "main", "head": Git(places["here"]).head()}
    chosen = ada.at(places["here"], call={"workspace": str(linked.root), "cwd": places["here"]})
    assert chosen.reply()["branch"] == "feat"


def test_the_checkout_is_read_afresh(ada: Person, places: dict[str, Path]) -> None:
    git = Git(places["here"])
    assert ada.at(git.root).reply()["branch"] == "main"
    git.checkout("-b", "feat")
    assert ada.at(git.root).reply()["branch"] == "feat"


def test_a_clone_elsewhere_is_a_checkout_of_the_same_store(
    ada: Person, places: dict[str, Path], tmp_path: Path
) -> None:
    clone = git_clone(Git(places["here"]), tmp_path / "clone")
    clone.checkout("-b", "feat")
    ada.at(clone.root)
    scope = ada.at(clone.root, project_dir=places["here"])
    assert (scope.workspace, scope.reply()["branch"]) == (ada.at(places["here"]).workspace, "feat")


def test_a_path_in_another_of_the_clients_roots_moves_the_call_there(ada: Person, places: dict[str, Path]) -> None:
    roots = (places["root"], places["here"])
    file = str(places["here"] / "a.py")
    assert ada.at(ada.home, call={"roots": roots}).reply()["workspace"] == "root"
    assert ada.at(ada.home, call={"roots": roots, "paths": ("relative.py", file)}).reply()["workspace"] == "here"


def test_a_path_in_a_foreign_repository_is_said_and_changes_nothing(ada: Person, places: dict[str, Path]) -> None:
    scope = ada.at(places["here"], call={"paths": (str(places["asked"] / "a.py"), "/etc/passwd")})
    assert scope.reply()["workspace"] == "here"
    (note,) = scope.notes
    assert "lies in asked, another repository" in note
    assert [workspace.name for workspace in ada.registry.list()] == ["here"]


def test_an_edit_belongs_to_the_repository_of_the_file(ada: Person, places: dict[str, Path]) -> None:
    ada.at(places["here"])
    (scopes,) = ada.scopes.values()
    nested = repository(places["here"] / "nested")
    for folder in (places["here"], places["asked"], nested.root):
        scope = scopes.of_file(folder / "new" / "file.py")
        assert scope is not None
        assert scope.reply()["workspace"] == folder.name
    assert scopes.of_file(ada.home / "file.py") is None


def test_a_monorepo_folder_is_part_of_its_repository_whatever_it_is_called(ada: Person, tmp_path: Path) -> None:
    git = repository(tmp_path / "mono")
    (git.root / "packages" / "api").mkdir(parents=True)
    ada.remember(git.root / "packages" / "api", "the api speaks grpc")
    assert ada.sees(git.root) == {"the api speaks grpc"}
    (git.root / "packages" / "api").rename(git.root / "packages" / "service")
    assert ada.sees(git.root / "packages" / "service") == {"the api speaks grpc"}


def test_without_a_call_naming_it_no_other_repository_is_read(ada: Person, places: dict[str, Path]) -> None:
    ada.remember(places["asked"], "token rotation in asked")
    ada.remember(places["here"], "token rotation in here")
    assert ada.sees(places["here"]) == {"token rotation in here"}
    assert ada.sees(places["asked"]) == {"token rotation in asked"}


def test_sessions_with_different_roots_never_mix_in_one_process(ada: Person, places: dict[str, Path]) -> None:
    names = ["root", "here"]
    failures: list[str] = []

    def session(name: str) -> None:
        for _ in range(20):
            scope = ada.at(ada.home, call={"roots": (places[name],)})
            if scope.reply()["workspace"] != name or scope.store is None:
                failures.append(str(scope.reply()))

    threads = [threading.Thread(target=session, args=(name,)) for name in names * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(ada.registry.list()) == 2


def test_a_new_repository_seen_by_many_at_once_gets_one_store(ada: Person, places: dict[str, Path]) -> None:
    found: list[str] = []
    start = threading.Barrier(4)

    def first_call() -> None:
        start.wait()
        workspace = ada.at(places["here"]).workspace
        found.append(workspace.id if workspace else "none")

    threads = [threading.Thread(target=first_call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("kind", "on_main", "on_feat"),
    [
        (Kind.PREFERENCE, Tier.USER, Tier.USER),
        (Kind.EXPERIENCE, Tier.WORKSPACE, Tier.WORKSPACE),
        (Kind.FACT, Tier.WORKSPACE, Tier.BRANCH),
        (Kind.DECISION, Tier.WORKSPACE, Tier.BRANCH),
        (Kind.INTENTION, Tier.WORKSPACE, Tier.BRANCH),
    ],
)
def test_how_far_a_memory_reaches_unless_said(
    ada: Person, places: dict[str, Path], kind: Kind, on_main: Tier, on_feat: Tier
) -> None:
    assert ada.at(places["here"]).default_tier(kind) is on_main
    Git(places["here"]).checkout("-b", "feat")
    assert ada.at(places["here"]).default_tier(kind) is on_feat


def test_a_damaged_store_is_named_and_no_other_suffers(ada: Person, places: dict[str, Path]) -> None:
    damaged = ada.at(places["here"]).workspace
    assert damaged is not None
    ada.stores.let_go(damaged)
    for file in damaged.directory.iterdir():
        file.write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError, match="damaged"):
        ada.at(places["here"])
    assert ada.at(places["asked"]).workspace is not None


def test_a_store_of_another_workspace_in_its_place_is_refused(ada: Person, places: dict[str, Path]) -> None:
    here, asked = ada.at(places["here"]).workspace, ada.at(places["asked"]).workspace
    assert here is not None
    assert asked is not None
    for workspace in (here, asked):
        ada.stores.let_go(workspace)
    (asked.directory / "memory.db").replace(here.directory / "memory.db")
    with pytest.raises(StoreError, match="belongs to workspace"):
        ada.at(places["here"])


def test_a_store_deleted_by_hand_is_made_anew_in_the_running_process(ada: Person, places: dict[str, Path]) -> None:
    ada.remember(places["here"], "lost")
    here = ada.at(places["here"]).workspace
    assert here is not None
    shutil.rmtree(here.directory)
    assert ada.sees(places["here"]) == set()
    ada.remember(places["here"], "kept")
    ada.stores.let_go(here)  # the next process
    assert ada.sees(places["here"]) == {"kept"}
