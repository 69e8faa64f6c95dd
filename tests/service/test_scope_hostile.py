"""A hostile repository decides nothing, runs nothing, blocks nothing."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from git_steps import Git, git_init
from scope_steps import Person, person_in

from memhub_mcp.repo.checkout import read_inside

POISON = """
[core]
    fsmonitor = {trap}
    sshCommand = {trap}
    hooksPath = {folder}
    pager = {trap}
    editor = {trap}
    gitProxy = {trap}
    alternateRefsCommand = {trap}
[diff]
    external = {trap}
[diff "trap"]
    textconv = {trap}
    command = {trap}
[filter "trap"]
    clean = {trap}
    smudge = {trap}
    process = {trap}
[gpg]
    program = {trap}
[credential]
    helper = !{trap}
[uploadpack]
    packObjectsHook = {trap}
[alias]
    rev-list = !{trap}
[log]
    showSignature = true
"""


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[Person]:
    with person_in(tmp_path / "ada") as person:
        yield person


def poisoned(git: Git, tmp_path: Path) -> Path:
    """Arm everything a configuration can run; the file that appears when anything did."""
    sprung = tmp_path / "sprung"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    trap = hooks / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\n")
    trap.chmod(0o755)
    for name in ("post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman"):
        (hooks / name).write_bytes(trap.read_bytes())
        (hooks / name).chmod(0o755)
    git.write(".gitattributes", "* diff=trap filter=trap\n")
    with (git.root / ".git" / "config").open("a") as config:
        config.write(POISON.format(trap=trap, folder=hooks))
    return sprung


@pytest.mark.skipif(os.name == "nt", reason="the trap is a shell script")
@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_nothing_a_configuration_names_is_run(ada: Person, tmp_path: Path, form: str) -> None:
    git = git_init(tmp_path / "evil", f"--object-format={form}")
    git.commit("one")
    git.checkout("-b", "feat")
    git.commit("work", **{"work.txt": "w"})
    sprung = poisoned(git, tmp_path)
    ada.remember(git.root, "of feat")
    assert ada.sees(git.root) == {"of feat"}
    (git.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert ada.sees(git.root) == set()
    assert not sprung.exists()


def test_sha256_follows_merges_and_squashes_with_the_git_command(ada: Person, tmp_path: Path) -> None:
    git = git_init(tmp_path / "modern", "--object-format=sha256")
    git.commit("one", **{"a.txt": "".join(f"{number}\n" for number in range(30))})
    git.checkout("-b", "feat")
    git.commit("work", **{"b.txt": "b"})
    ada.remember(git.root, "merged")
    git.checkout("-b", "other", "main")
    git.commit("first", **{"c.txt": "c"})
    git.commit("second", **{"d.txt": "d"})
    ada.remember(git.root, "squashed")
    git.checkout("main")
    scope = ada.at(git.root)
    assert ada.sees(git.root) == set()
    assert scope.reply()["repo"] == "limited(its objects are sha256, which libgit2 cannot read)"
    git.merge("--no-ff", "-m", "merge", "feat")
    git.merge("--squash", "other")
    git.run("commit", "-q", "-m", "squash")
    git.branch("-D", "other")
    assert ada.sees(git.root) == {"merged", "squashed"}


def test_without_the_git_command_sha256_keeps_to_the_branch(
    ada: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = git_init(tmp_path / "modern", "--object-format=sha256")
    git.commit("one")
    git.checkout("-b", "feat")
    git.commit("work")
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", "")
    ada.remember(git.root, "of feat")
    assert ada.sees(git.root) == {"of feat"}
    monkeypatch.setenv("PATH", path)
    git.checkout("main")
    monkeypatch.setenv("PATH", "")
    assert ada.sees(git.root) == set()


def test_a_tree_with_a_hundred_thousand_entries_is_passed_over(ada: Person, tmp_path: Path) -> None:
    git = git_init(tmp_path / "wide")
    git.commit("one")
    blob = git.run("hash-object", "-w", "one.txt", check=False) or git.run("hash-object", "-w", "file.txt")
    listing = "".join(f"100644 blob {blob}\tentry-{number:06}\n" for number in range(100_000))
    (tmp_path / "listing").write_text(listing)
    tree = git.run_with((tmp_path / "listing").read_bytes(), "mktree")
    wide = git.run("commit-tree", tree, "-p", "main", "-m", "wide")
    git.branch("feat", wide)
    (git.root / ".git" / "HEAD").write_text("ref: refs/heads/feat\n")
    ada.remember(git.root, "of feat")
    assert ada.sees(git.root) == {"of feat"}
    (git.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert ada.sees(git.root) == set()


def test_paths_that_are_no_utf8_take_part_in_a_squash(ada: Person, tmp_path: Path) -> None:
    git = git_init(tmp_path / "odd")
    git.commit("one")
    git.checkout("-b", "feat")
    try:
        (git.root / os.fsdecode(b"caf\xe9.txt")).write_text("x")
        (git.root / "as-written-\\x41.txt").write_text("y")
    except OSError:
        pytest.skip("this file system wants UTF-8")
    git.run("add", "-A")
    git.run("commit", "-q", "-m", "odd")
    ada.remember(git.root, "of feat")
    git.checkout("main")
    git.merge("--squash", "feat")
    git.commit("squashed with more", **{"more.txt": "m"})
    git.branch("-D", "feat")
    assert ada.sees(git.root) == {"of feat"}


def test_a_link_out_of_the_tree_is_content_not_a_way(ada: Person, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    git = git_init(tmp_path / "evil")
    (git.root / "link").symlink_to(tmp_path / "secret")
    git.commit("one")
    assert ada.at(git.root).workspace is not None
    assert read_inside(git.root, "link") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_for_a_reflog_or_the_attributes_blocks_nothing(ada: Person, tmp_path: Path) -> None:
    git = git_init(tmp_path / "evil")
    git.commit("one")
    git.checkout("-b", "feat")
    git.commit("work")
    log = git.root / ".git" / "logs" / "refs" / "heads" / "feat"
    log.unlink()
    os.mkfifo(log)
    os.mkfifo(git.root / ".gitattributes")
    ada.remember(git.root, "of feat")
    assert ada.sees(git.root) == {"of feat"}


def test_a_submodule_that_points_at_another_repository_is_not_followed(ada: Person, tmp_path: Path) -> None:
    secret = git_init(tmp_path / "secret")
    secret.commit("one")
    known = ada.at(secret.root).workspace
    evil = git_init(tmp_path / "evil")
    evil.commit("one")
    (evil.root / "sub").mkdir()
    (evil.root / "sub" / ".git").write_text("gitdir: ../../secret/.git\n")
    evil.write(".gitmodules", f'[submodule "sub"]\n\tpath = sub\n\turl = {secret.root}\n')
    scope = ada.at(evil.root / "sub")
    assert scope.workspace != known
    assert "limited" in scope.reply()["repo"]
    (evil.root / ".git" / "modules").mkdir()
    (evil.root / ".git" / "modules" / "sub").symlink_to(secret.root / ".git")
    (evil.root / "sub" / ".git").write_text("gitdir: ../.git/modules/sub\n")
    assert ada.at(evil.root / "sub").workspace != known


def test_a_branch_linked_to_anothers_objects_reads_nothing(ada: Person, tmp_path: Path) -> None:
    secret = git_init(tmp_path / "secret")
    secret.remote_add("origin", "git@github.com:me/secret.git")
    secret.commit("one")
    ada.remember(secret.root, "secret")
    evil = git_init(tmp_path / "evil")
    evil.remote_add("origin", "git@github.com:me/secret.git")
    for name in ("objects", "refs"):
        folder = evil.root / ".git" / name
        folder.rename(tmp_path / f"old-{name}")
        folder.symlink_to(secret.root / ".git" / name)
    assert ada.sees(evil.root) == set()


@pytest.mark.parametrize("content", ["", "nonsense", "ref: refs/heads/../../elsewhere"])
def test_a_head_that_is_nonsense_is_said_and_nothing_falls(ada: Person, tmp_path: Path, content: str) -> None:
    git = git_init(tmp_path / "torn")
    git.commit("one")
    ada.remember(git.root, "kept")
    (git.root / ".git" / "HEAD").write_text(content)
    scope = ada.at(git.root)
    assert scope.reply().get("repo") == "limited(its HEAD leads nowhere)"
    assert ada.sees(git.root) == {"kept"}


def test_a_repository_without_its_objects_keeps_its_memory(ada: Person, tmp_path: Path) -> None:
    git = git_init(tmp_path / "torn")
    head = git.commit("one")
    ada.remember(git.root, "kept")
    objects = git.root / ".git" / "objects"
    objects.rename(tmp_path / "objects")
    objects.mkdir()
    told = ada.at(git.root).reply()
    assert (told["branch"], told["head"]) == ("main", head)
    assert told.get("repo") == "limited(the commit at its HEAD is missing)"
    assert ada.sees(git.root) == {"kept"}
    objects.rmdir()
    (tmp_path / "objects").rename(objects)
    assert ada.sees(git.root) == {"kept"}
    assert len(ada.registry.list()) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("linked", [False, True], ids=["pipe", "link"])
def test_a_pipe_for_a_branch_blocks_nothing(ada: Person, tmp_path: Path, linked: bool) -> None:
    git = git_init(tmp_path / "evil")
    head = git.commit("one")
    ada.remember(git.root, "kept")
    pipe = git.root / ".git" / "refs" / "heads" / "deep" / "pipe"
    pipe.parent.mkdir()
    if linked:
        os.mkfifo(tmp_path / "pipe")
        pipe.symlink_to(tmp_path / "pipe")
    else:
        os.mkfifo(pipe)
    assert ada.sees(git.root) == {"kept"}
    assert ada.at(git.root).reply() == {
        "workspace": "evil",
        "branch": "main",
        "head": head,
        "repo": "limited(one of its references is not a regular file)",
    }
