"""By what a repository is recognised, and what it cannot make us believe."""

import os
from pathlib import Path

import pytest
from git_steps import Git, git_clone, git_init

from memhub_mcp.repo.config import parse_config
from memhub_mcp.repo.identity import discover, normalise_remote, root_commits, shares_commit
from memhub_mcp.repo.remotes import ssh_host_names

ONE_ID = [
    "git@github.com:Ada/engine.git",
    "git@GitHub.com:ada/engine",
    "ada@github.com:/ada/engine.git/",
    "github.com:ada/engine.git",
    "https://github.com/ada/engine",
    "https://github.com/ada/engine.git",
    "https://github.com/ada/engine/",
    "https://GITHUB.com//ada/engine.git//",
    "https://ada:secret-token@github.com/ada/engine.git",
    "https://x-access-token@github.com:443/ada/engine?ref=main#readme",
    "http://github.com/ada/engine",
    "ssh://git@github.com/ada/engine.git",
    "ssh://git@github.com:22/ada/engine.git",
    "ssh://git@ssh.github.com:443/ada/engine.git",
    "ssh://github.com./ada/engine",
    "git+ssh://git@github.com/ada/engine.git",
    "git://github.com/ada/engine.git",
    " git@github.com:ada/engine.git\n",
    "[git@github.com:22]:ada/engine.git",
    "git@[github.com:22]:ada/engine.git",
]


@pytest.mark.parametrize("url", ONE_ID)
def test_every_form_of_a_remote_is_one_id(url: str) -> None:
    assert normalise_remote(url) == "github.com/ada/engine"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://git.example.org/Team/Engine.git", "git.example.org/Team/Engine"),
        ("ssh://git@git.example.org:2222/Team/Engine", "git.example.org/Team/Engine"),
        ("https://user:p@ss:word@git.example.org/a/b", "git.example.org/a/b"),
        ("git@[2001:db8::1]:a/b.git", "2001:db8::1/a/b"),
        ("ssh://git@[2001:db8::1]:22/a/b.git", "2001:db8::1/a/b"),
        ("git@work:a/b.git", "github.com/a/b"),
        ("/srv/git/engine.git", "file:/srv/git/engine"),
        ("file:///srv/git/engine.git", "file:/srv/git/engine"),
        ("file:///srv/engine/.git", "file:/srv/engine"),
        ("../engine.git", "file:/srv/engine"),
        ("", ""),
        ("ext::sh -c whoami", ""),
        ("https://", ""),
        ("https://github.com", ""),
        ("javascript://github.com/a/b", ""),
        ("git@github.com:a/b\0c", ""),
        ("https://github.com/" + "a" * 5_000, ""),
    ],
)
def test_odd_remotes(url: str, expected: str) -> None:
    assert normalise_remote(url, base=Path("/srv/here"), host_names={"work": "github.com"}) == expected


def test_a_hostile_remote_is_normalised_quickly() -> None:
    for url in ("@" * 1_999, "a@" * 999, "[" * 1_999, "https://" + "@:" * 990, "a:" * 999, "%" * 1_999):
        normalise_remote(url)


def test_ssh_aliases_come_from_the_ssh_configuration() -> None:
    config = """
    # two accounts
    Host work gh-work
        HostName GitHub.com
        User git
    Host *.internal !no
        HostName nowhere
    Host=home
      hostname = git.home.example
    Match host other
        HostName wrong
    """
    assert ssh_host_names(config) == {"work": "github.com", "gh-work": "github.com", "home": "git.home.example"}


def test_git_configuration_is_read_as_git_reads_it() -> None:
    text = (
        '[core]\n\tbare = false ; a comment\n[remote "or\\"ig\\\\in"] url = "a # b" # c\n'
        '\tfetch = one\\\n two\n[Branch "Main"]\nREMOTE=x\n[alias]\n  flag\n[remote.old]\nurl=z\nbroken [ line\n'
    )
    found = parse_config(text)
    assert found["core.bare"] == "false"
    assert found['remote.or"ig\\in.url'] == "a # b"
    assert found['remote.or"ig\\in.fetch'] == "one two"
    assert found["branch.Main.remote"] == "x"
    assert found["alias.flag"] == "true"
    assert found["remote.old.url"] == "z"


def found_at(path: Path, **arguments):
    repository = discover(path, **arguments)
    assert repository is not None
    return repository


def test_a_repository_is_found_from_any_folder_of_it_and_files_that_do_not_exist(tmp_path: Path) -> None:
    git = git_init(tmp_path / 'it\'s a "réposit€ry" ')
    git.commit("one", **{"a/b.txt": "x"})
    for path in (git.root, git.root / "a", git.root / "a" / "b.txt", git.root / "not" / "there.py", git.root / ".git"):
        assert found_at(path).root == git.root
    assert found_at(git.root).name == git.root.name


def test_home_the_root_and_what_is_above_are_no_repositories(tmp_path: Path) -> None:
    home = git_init(tmp_path / "home")
    inner = git_init(home.root / "project")
    (home.root / "folder").mkdir()
    assert discover(home.root, never=[home.root]) is None
    assert discover(home.root / "folder", never=[home.root]) is None
    assert found_at(inner.root, never=[home.root]).root == inner.root
    assert discover(Path("/")) is None
    assert discover(tmp_path / "nothing" / "here") is None


def test_a_symlinked_root_is_the_same_repository(tmp_path: Path) -> None:
    git = git_init(tmp_path / "real")
    (tmp_path / "link").symlink_to(git.root)
    assert found_at(tmp_path / "link").path_alias == found_at(git.root).path_alias


def test_the_remote_is_origin_else_where_the_default_branch_goes_else_the_only_one(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    assert found_at(git.root).remote is None
    git.remote_add("one", "git@github.com:a/one.git")
    assert found_at(git.root).remote == "github.com/a/one"
    git.remote_add("two", "git@github.com:a/two.git")
    assert found_at(git.root).remote is None
    git.run("config", "branch.main.remote", "two")
    assert found_at(git.root).remote == "github.com/a/two"
    git.remote_add("origin", "https://me:pw@github.com/a/three.git")
    git.run("config", "url.https://evil.example/.insteadOf", "https://me:pw@github.com/")
    assert found_at(git.root).remote == "github.com/a/three"


def test_a_fork_knows_its_upstream(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    git.remote_add("origin", "git@github.com:me/engine.git")
    git.remote_add("upstream", "https://github.com/them/engine")
    repository = found_at(git.root)
    assert (repository.remote, repository.upstream) == ("github.com/me/engine", "github.com/them/engine")


def test_first_commits_are_those_of_head_and_the_default_branch(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    assert root_commits(found_at(git.root)) == ()
    first = git.commit("one")
    git.checkout("-b", "feat")
    git.commit("two")
    assert root_commits(found_at(git.root)) == (first,)
    git.checkout("--orphan", "pages")
    other = git.commit("pages")
    assert root_commits(found_at(git.root)) == (other, first)
    assert shares_commit(found_at(git.root), [first])
    assert not shares_commit(found_at(git.root), ["0" * 40])


def test_a_shallow_clone_does_not_claim_a_first_commit(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    git.commit("one")
    last = git.commit("two")
    clone = found_at(git_clone(git, tmp_path / "c", "--depth", "1").root)
    assert clone.shallow
    assert root_commits(clone) == ()
    assert shares_commit(clone, [last])


def test_all_worktrees_share_one_path(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    git.commit("one")
    linked = git.worktree_add(tmp_path / "linked", "-b", "feat")
    assert found_at(linked.root).root == linked.root
    assert found_at(linked.root).path_alias == found_at(git.root).path_alias
    bare = git_clone(git, tmp_path / "bare.git", "--bare")
    beside = bare.worktree_add(tmp_path / "beside", "main")
    assert found_at(beside.root).path_alias == found_at(bare.root).path_alias
    assert found_at(bare.root).name == "r"


def test_a_moved_worktree_is_followed_once_git_repaired_it(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    git.commit("one")
    git.worktree_add(tmp_path / "linked", "-b", "feat")
    git.run("worktree", "move", str(tmp_path / "linked"), str(tmp_path / "moved"))
    assert found_at(tmp_path / "moved").limited is None


def test_a_forged_gitfile_is_not_followed(tmp_path: Path) -> None:
    secret = git_init(tmp_path / "secret")
    secret.remote_add("origin", "git@github.com:me/secret.git")
    secret.commit("one")
    secret.worktree_add(tmp_path / "linked", "-b", "feat")
    evil = tmp_path / "evil"
    evil.mkdir()
    targets = [secret.root / ".git", secret.root / ".git" / "worktrees" / "linked", Path("/etc"), Path("nowhere")]
    for target in targets:
        (evil / ".git").write_text(f"gitdir: {target}\n")
        repository = found_at(evil)
        assert repository.limited
        assert repository.remote is None
        assert repository.path_alias.value == str(evil)
        assert root_commits(repository) == ()


def test_a_git_directory_of_the_forger_that_points_at_ours_is_not_followed(tmp_path: Path) -> None:
    secret = git_init(tmp_path / "secret")
    secret.commit("one")
    evil = tmp_path / "evil"
    (evil / "gitdir").mkdir(parents=True)
    (evil / "gitdir" / "HEAD").write_text("ref: refs/heads/main\n")
    (evil / "gitdir" / "commondir").write_text(f"{secret.root / '.git'}\n")
    (evil / "gitdir" / "gitdir").write_text(f"{evil / '.git'}\n")
    (evil / ".git").write_text("gitdir: gitdir\n")
    assert found_at(evil).limited == "its .git file names a git directory that does not point back"
    (evil / ".git").unlink()
    (evil / "gitdir").rename(evil / ".git")
    assert found_at(evil).limited == "its .git folder borrows another repository"


def test_a_linked_git_folder_is_not_followed(tmp_path: Path) -> None:
    secret = git_init(tmp_path / "secret")
    secret.commit("one")
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / ".git").symlink_to(secret.root / ".git")
    repository = found_at(tmp_path / "evil")
    assert (repository.root, repository.limited) == (tmp_path / "evil", "its .git is a link, which is not followed")


def test_borrowed_objects_are_noticed(tmp_path: Path) -> None:
    secret = git_init(tmp_path / "secret")
    secret.commit("one")
    evil = git_init(tmp_path / "evil")
    (evil.root / ".git" / "objects" / "info" / "alternates").write_text(f"{secret.root / '.git' / 'objects'}\n")
    assert found_at(evil.root).borrows
    assert not found_at(secret.root).borrows


def test_core_worktree_decides_nothing(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    git.commit("one")
    git.run("config", "core.worktree", "/etc")
    repository = found_at(git.root)
    assert (repository.root, repository.limited) == (git.root, None)
    assert discover(Path("/etc")) is None


def test_a_submodule_is_a_repository_of_its_own_and_knows_its_superproject(tmp_path: Path) -> None:
    library = git_init(tmp_path / "library")
    library.commit("one")
    outer = git_init(tmp_path / "outer")
    outer.run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "sub")
    outer.commit("add it")
    sub = found_at(outer.root / "sub")
    assert sub.limited is None
    assert sub.root == outer.root / "sub"
    assert sub.superproject == outer.root
    assert found_at(outer.root).superproject is None
    nested = git_init(outer.root / "vendor" / "nested")
    assert found_at(nested.root).superproject is None


def test_what_cannot_be_read_is_limited_with_its_reason_and_keeps_its_remote(tmp_path: Path) -> None:
    broken = git_init(tmp_path / "broken")
    broken.remote_add("origin", "git@github.com:a/broken.git")
    with (broken.root / ".git" / "config").open("a") as config:
        config.write("[unclosed\n")
    repository = found_at(broken.root)
    assert repository.limited == "its .git/config does not parse"
    assert repository.remote == "github.com/a/broken"


def test_sha256_is_read_with_the_git_command_and_limited_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = git_init(tmp_path / "r", "--object-format=sha256")
    git.remote_add("origin", "git@github.com:a/modern.git")
    first = git.commit("one")
    repository = found_at(git.root)
    assert (repository.limited, repository.born) == (None, True)
    assert root_commits(repository) == (first,)
    assert shares_commit(repository, [first])
    monkeypatch.setenv("PATH", "")
    repository = found_at(git.root)
    assert repository.limited == "its objects are sha256, which libgit2 cannot read"
    assert repository.remote == "github.com/a/modern"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_is_limited(tmp_path: Path) -> None:
    git = git_init(tmp_path / "theirs")
    git.commit("one")
    for folder, _, files in os.walk(git.root):
        for name in (".", *files):
            os.chown(Path(folder, name), 65_534, 65_534)
    assert found_at(git.root).limited == "it belongs to another user of this machine"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("name", ["HEAD", "config", "packed-refs", "shallow"])
def test_a_pipe_where_git_keeps_a_file_blocks_nothing(tmp_path: Path, name: str) -> None:
    git = git_init(tmp_path / "r")
    git.commit("one")
    (git.root / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(git.root / ".git" / name)
    repository = discover(git.root)
    assert repository is None or repository.limited


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_that_the_configuration_includes_blocks_nothing(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    os.mkfifo(git.root / "pipe")
    git.run("config", "include.path", "../pipe")
    assert found_at(git.root).limited == "its .git/config includes something that is not a regular file"


def test_a_folder_that_only_looks_like_git_is_passed_over(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    (git.root / "inner" / ".git").mkdir(parents=True)
    assert found_at(git.root / "inner").root == git.root
    (git.root / "other").mkdir()
    (git.root / "other" / ".git").write_text("not a gitfile")
    assert found_at(git.root / "other").root == git.root


def test_a_worktree_is_read_with_relative_paths_too(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    git.commit("one")
    linked = git.worktree_add(tmp_path / "linked", "-b", "feat")
    target = git.root / ".git" / "worktrees" / "linked"
    (linked.root / ".git").write_text("gitdir: ../r/.git/worktrees/linked\n")
    (target / "gitdir").write_text("../../../../linked/.git\n")
    assert found_at(linked.root).limited is None


def test_git_steps_are_deaf_to_the_machine(tmp_path: Path) -> None:
    assert Git(git_init(tmp_path / "r").root).run("config", "--list", "--show-scope", "--global", check=False) == ""
