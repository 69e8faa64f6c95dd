"""Which store a call finds: one memory for one repository, never another's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from git_steps import Git, git_clone, git_init
from scope_steps import Person, person_in

from memhub_mcp.domain.memory import Kind
from memhub_mcp.domain.scope import AliasKind, Tier
from memhub_mcp.errors import ScopeError
from memhub_mcp.service.scope import Scope


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[Person]:
    with person_in(tmp_path / "ada") as person:
        yield person


def workspace_of(scope: Scope) -> str:
    assert scope.workspace is not None
    assert scope.store is not None
    return scope.workspace.id


def test_init_commit_remote_rename_and_move_stay_one_memory(ada: Person, tmp_path: Path) -> None:
    git = git_init(tmp_path / "engine")
    first = workspace_of(ada.at(git.root))
    git.commit("one")
    assert workspace_of(ada.at(git.root)) == first
    git.remote_add("origin", "git@github.com:ada/engine.git")
    assert workspace_of(ada.at(git.root)) == first
    git.run("remote", "set-url", "origin", "https://github.com/ada/machine")
    assert workspace_of(ada.at(git.root)) == first
    git.run("remote", "rename", "origin", "github")
    assert workspace_of(ada.at(git.root)) == first
    git.root.rename(tmp_path / "moved")
    moved = ada.at(tmp_path / "moved")
    assert workspace_of(moved) == first
    assert moved.notes == ()
    assert len(ada.registry.list()) == 1
    kinds = [alias.kind for alias in ada.registry.aliases(moved.workspace)]  # type: ignore[arg-type]
    assert sorted(kinds) == sorted([AliasKind.PATH] * 2 + [AliasKind.REMOTE] * 2 + [AliasKind.ROOT_COMMIT])


def test_a_moved_folder_without_a_remote_is_found_by_its_first_commit(ada: Person, tmp_path: Path) -> None:
    git = git_init(tmp_path / "engine")
    git.commit("one")
    first = workspace_of(ada.at(git.root))
    git.root.rename(tmp_path / "moved")
    assert workspace_of(ada.at(tmp_path / "moved")) == first


def test_a_plain_folder_becomes_a_repository(ada: Person, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    first = workspace_of(ada.at(tmp_path, project_dir=folder))
    git = git_init(folder)
    assert workspace_of(ada.at(folder)) == first
    git.commit("one")
    assert workspace_of(ada.at(folder)) == first


def test_two_clones_are_one_memory_however_they_were_cloned(ada: Person, tmp_path: Path) -> None:
    origin = git_init(tmp_path / "origin")
    origin.commit("one")
    clones = [git_clone(origin, tmp_path / name) for name in ("a", "b")]
    clones[0].run("remote", "set-url", "origin", "git@example.org:x/y.git")
    clones[1].run("remote", "set-url", "origin", "https://u:p@EXAMPLE.org:8443/x/y/")
    assert workspace_of(ada.at(clones[0].root)) == workspace_of(ada.at(clones[1].root))


def test_a_clone_of_a_local_repository_is_the_same_memory(ada: Person, tmp_path: Path) -> None:
    origin = git_init(tmp_path / "origin")
    origin.commit("one")
    first = workspace_of(ada.at(origin.root))
    assert workspace_of(ada.at(git_clone(origin, tmp_path / "clone").root)) == first
    origin.remote_add("origin", "git@github.com:ada/origin.git")
    assert workspace_of(ada.at(git_clone(origin, tmp_path / "another").root)) == first
    assert workspace_of(ada.at(git_clone(origin, tmp_path / "shallow", "--depth=1").root)) == first


def test_a_linked_worktree_is_the_same_memory_with_its_own_branch(ada: Person, tmp_path: Path) -> None:
    git = git_init(tmp_path / "engine")
    git.commit("one")
    linked = git.worktree_add(tmp_path / "linked", "-b", "feat")
    main, feat = ada.at(git.root), ada.at(linked.root)
    assert workspace_of(main) == workspace_of(feat)
    assert main.reply() == {"workspace": "engine", "branch": "main", "head": git.head()}
    assert feat.reply() == {"workspace": "engine", "branch": "feat", "head": git.head()}


def test_without_a_repository_there_is_only_the_person(ada: Person, tmp_path: Path) -> None:
    scope = ada.at(tmp_path)
    assert scope.reply() == {"workspace": None, "branch": None, "head": None}
    assert scope.stores() == (scope.user,)
    assert scope.anchors() == frozenset()
    assert scope.default_tier(Kind.FACT) is Tier.USER


def test_home_and_the_root_are_never_a_workspace(ada: Person, tmp_path: Path) -> None:
    dotfiles = git_init(ada.home)
    dotfiles.commit("dotfiles")
    (ada.home / "folder").mkdir()
    for folder in (ada.home, ada.home / "folder", Path("/"), ada.folder):
        assert ada.at(folder).workspace is None
    for folder in (ada.home, Path("/"), ada.home.parent):
        assert ada.at(folder, project_dir=folder, installed_workspace=str(folder)).workspace is None
        assert ada.at(tmp_path, call={"roots": (folder,)}).workspace is None
        with pytest.raises(ScopeError, match="never a workspace"):
            ada.at(tmp_path, workspace=str(folder))
        with pytest.raises(ScopeError, match="never a workspace"):
            ada.at(tmp_path, call={"workspace": str(folder)})
    git = git_init(ada.home / "engine")
    assert ada.at(git.root).workspace is not None


@pytest.mark.parametrize("name", ["a b", 'it\'s "quoted"', "ünï/ßö", "数据", "-dash", "a;b$(c)", "%41", "x" * 120])
def test_any_folder_name_makes_a_workspace(ada: Person, tmp_path: Path, name: str) -> None:
    git = git_init(tmp_path / name)
    git.commit("one")
    scope = ada.at(git.root)
    assert scope.workspace is not None
    assert scope.workspace.name == git.root.name
    folder = scope.workspace.directory.name
    assert folder.isascii()
    assert len(folder) <= 57
    assert (scope.workspace.directory / "memory.db").is_file()


def test_a_fork_has_its_own_memory_and_names_the_other(ada: Person, tmp_path: Path) -> None:
    upstream = git_init(tmp_path / "upstream")
    upstream.commit("one")
    theirs, mine = (git_clone(upstream, tmp_path / name) for name in ("theirs", "mine"))
    theirs.run("remote", "set-url", "origin", "git@github.com:them/engine.git")
    mine.run("remote", "set-url", "origin", "git@github.com:me/engine.git")
    mine.remote_add("upstream", "https://github.com/them/engine")
    other = ada.at(theirs.root)
    scope = ada.at(mine.root)
    assert workspace_of(scope) != workspace_of(other)
    (note,) = scope.notes
    assert "fork" in note
    assert other.workspace is not None
    assert other.workspace.id[:12] in note
    assert ada.at(theirs.root).notes == ()


def test_two_repositories_from_one_template_stay_apart(ada: Person, tmp_path: Path) -> None:
    template = git_init(tmp_path / "template")
    template.commit("one")
    twins = [git_clone(template, tmp_path / name) for name in ("a", "b")]
    for number, twin in enumerate(twins):
        twin.run("remote", "set-url", "origin", f"git@github.com:me/twin{number}.git")
    assert workspace_of(ada.at(twins[0].root)) != workspace_of(ada.at(twins[1].root))
    assert workspace_of(ada.at(twins[0].root)) == workspace_of(ada.at(twins[0].root))


def test_a_copy_that_could_be_either_of_two_is_neither(ada: Person, tmp_path: Path) -> None:
    template = git_init(tmp_path / "template")
    template.commit("one")
    twins = [git_clone(template, tmp_path / name) for name in ("a", "b", "copy")]
    for number, twin in enumerate(twins[:2]):
        twin.run("remote", "set-url", "origin", f"git@github.com:me/twin{number}.git")
    twins[2].run("remote", "remove", "origin")
    assert len({workspace_of(ada.at(twin.root)) for twin in twins}) == 3


def test_a_folder_that_is_used_again_has_a_new_memory(ada: Person, tmp_path: Path) -> None:
    git = git_init(tmp_path / "engine")
    git.commit("one")
    first = workspace_of(ada.at(git.root))
    git.root.rename(tmp_path / "away")
    again = git_init(tmp_path / "engine")
    again.commit("another one")
    assert workspace_of(ada.at(again.root)) != first
    assert workspace_of(ada.at(tmp_path / "away")) == first


def test_a_forged_remote_reads_nothing(ada: Person, tmp_path: Path) -> None:
    real = git_init(tmp_path / "real")
    real.remote_add("origin", "git@github.com:me/secret.git")
    real.commit("one")
    evil = git_init(tmp_path / "evil")
    evil.remote_add("origin", "git@github.com:me/secret.git")
    evil.commit("payload")
    secret = workspace_of(ada.at(real.root))
    scope = ada.at(evil.root)
    assert workspace_of(scope) != secret
    assert "same remote" in scope.notes[0]
    assert workspace_of(ada.at(real.root)) == secret


def test_borrowed_objects_and_a_forged_remote_read_nothing(ada: Person, tmp_path: Path) -> None:
    real = git_init(tmp_path / "real")
    real.remote_add("origin", "git@github.com:me/secret.git")
    head = real.commit("one")
    secret = workspace_of(ada.at(real.root))
    evil = git_init(tmp_path / "evil")
    evil.remote_add("origin", "git@github.com:me/secret.git")
    (evil.root / ".git/objects/info/alternates").write_text(f"{real.root / '.git/objects'}\n")
    (evil.root / ".git/refs/heads/main").write_text(head)
    assert workspace_of(ada.at(evil.root)) != secret
    evil.run("remote", "remove", "origin")
    assert workspace_of(ada.at(evil.root)) != secret


def test_a_forged_gitfile_reads_nothing(ada: Person, tmp_path: Path) -> None:
    real = git_init(tmp_path / "real")
    real.commit("one")
    secret = workspace_of(ada.at(real.root))
    evil = tmp_path / "evil"
    evil.mkdir()
    (evil / ".git").write_text(f"gitdir: {real.root / '.git'}\n")
    scope = ada.at(evil)
    assert workspace_of(scope) != secret
    assert scope.reply()["repo"] == "limited(its .git file names a git directory that does not point back)"
    assert (scope.reply()["branch"], scope.reply()["head"]) == (None, None)


def test_core_worktree_elsewhere_changes_nothing(ada: Person, tmp_path: Path) -> None:
    git = git_init(tmp_path / "engine")
    git.commit("one")
    first = workspace_of(ada.at(git.root))
    git.run("config", "core.worktree", "/etc")
    scope = ada.at(git.root)
    assert workspace_of(scope) == first
    assert scope.checkout is not None
    assert scope.checkout.root == git.root


def test_a_vendored_history_does_not_join_two_projects(ada: Person, tmp_path: Path) -> None:
    library = git_init(tmp_path / "library")
    library.commit("library")
    ours = git_init(tmp_path / "ours")
    ours.commit("ours", **{"ours.txt": "x"})
    first = workspace_of(ada.at(library.root))
    ours.run("fetch", "-q", library.root.as_uri(), "main")
    ours.merge("--allow-unrelated-histories", "-m", "vendor", "FETCH_HEAD")
    assert workspace_of(ada.at(ours.root)) != first


def submodule_of(outer: Git, library: Git) -> Path:
    outer.run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "sub")
    outer.commit("add a submodule")
    return outer.root / "sub"


def test_a_submodule_has_its_own_memory_and_reaches_its_superproject(ada: Person, tmp_path: Path) -> None:
    library, outer = git_init(tmp_path / "library"), git_init(tmp_path / "outer")
    library.commit("one")
    sub = submodule_of(outer, library)
    inside, around = ada.at(sub), ada.at(outer.root)
    assert workspace_of(inside) != workspace_of(around)
    for name in ("outer", str(outer.root), "..", str(outer.root / "nowhere" / "..")):
        assert workspace_of(ada.at(sub, call={"workspace": name})) == workspace_of(around), name
    with pytest.raises(ScopeError):
        ada.at(outer.root, call={"workspace": "library"})


def test_a_superproject_that_was_never_opened_is_reached_by_name(ada: Person, tmp_path: Path) -> None:
    library, outer = git_init(tmp_path / "library"), git_init(tmp_path / "outer")
    library.commit("one")
    scope = ada.at(submodule_of(outer, library), call={"workspace": "outer"})
    assert scope.reply()["workspace"] == "outer"


def test_bare_repositories_are_workspaces(ada: Person, tmp_path: Path) -> None:
    git = git_init(tmp_path / "engine")
    git.commit("one")
    bare = git_clone(git, tmp_path / "engine.git", "--bare")
    scope = ada.at(bare.root)
    assert scope.reply() == {"workspace": "engine", "branch": "main", "head": git.head()}


def test_a_shallow_clone_joins_by_a_commit_the_store_knows(ada: Person, tmp_path: Path) -> None:
    origin = git_init(tmp_path / "origin")
    origin.commit("one")
    origin.commit("two")
    shallow = git_clone(origin, tmp_path / "shallow", "--depth", "1")
    full = git_clone(origin, tmp_path / "full")
    first = workspace_of(ada.at(shallow.root))
    assert workspace_of(ada.at(full.root)) == first
    shallow.run("fetch", "-q", "--unshallow")
    assert workspace_of(ada.at(shallow.root)) == first
    deeper = git_clone(origin, tmp_path / "deeper", "--depth", "1")
    assert workspace_of(ada.at(deeper.root)) == first


def test_a_shallow_clone_that_moves_on_stays_one_memory(ada: Person, tmp_path: Path) -> None:
    origin = git_init(tmp_path / "origin")
    for number in range(3):
        origin.commit(f"change {number}")
    shallow = git_clone(origin, tmp_path / "shallow", "--depth", "1")
    first = workspace_of(ada.at(shallow.root))
    for number in range(3):
        origin.commit(f"later {number}")
        shallow.run("fetch", "-q", "--depth", "1")
        shallow.run("reset", "-q", "--hard", "origin/main")
        assert workspace_of(ada.at(shallow.root)) == first


def test_a_repository_that_cannot_be_read_keeps_its_memory(ada: Person, tmp_path: Path) -> None:
    git = git_init(tmp_path / "engine")
    git.remote_add("origin", "git@github.com:me/engine.git")
    git.commit("one")
    first = workspace_of(ada.at(git.root))
    config = git.root / ".git" / "config"
    text = config.read_text()
    config.write_text(text + "[unclosed\n")
    scope = ada.at(git.root)
    assert workspace_of(scope) == first
    assert scope.reply()["repo"] == "limited(its .git/config does not parse)"
    assert scope.reply()["branch"] == "main"
    evil = git_init(tmp_path / "evil")
    evil.remote_add("origin", "git@github.com:me/engine.git")
    with (evil.root / ".git" / "config").open("a") as file:
        file.write("[unclosed\n")
    assert workspace_of(ada.at(evil.root)) != first
    config.write_text(text)
    assert workspace_of(ada.at(git.root)) == first


def test_nothing_is_written_into_the_repository_and_its_removal_loses_nothing(ada: Person, tmp_path: Path) -> None:
    git = git_init(tmp_path / "engine")
    git.commit("one")
    linked = git.worktree_add(tmp_path / "linked", "-b", "feat")
    ada.remember(linked.root, "kept")
    assert git.run("status", "--porcelain", "--ignored") == ""
    linked.run("clean", "-qfdx")
    git.run("worktree", "remove", str(linked.root))
    git.checkout("feat")
    assert ada.sees(git.root) == {"kept"}
