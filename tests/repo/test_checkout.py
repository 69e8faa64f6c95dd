"""HEAD, branch, default branch and files of a working tree, read afresh."""

import os
from pathlib import Path

import pytest
from git_steps import Git, git_clone, git_init

from memhub_mcp.domain.scope import Checkout
from memhub_mcp.repo.checkout import read_checkout, read_inside


def checkout_at(path: Path) -> Checkout:
    checkout = read_checkout(path)
    assert checkout is not None
    return checkout


def test_branch_and_head_follow_the_working_tree(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    unborn = checkout_at(git.root)
    assert (unborn.branch, unborn.head, unborn.default_branch, unborn.on_default_branch) == ("main", None, "main", True)
    first = git.commit("one")
    assert checkout_at(git.root).head == first
    git.checkout("-b", "feat/änderung")
    second = git.commit("two")
    on_branch = checkout_at(git.root / "nowhere.txt")
    assert (on_branch.branch, on_branch.head, on_branch.on_default_branch) == ("feat/änderung", second, False)
    git.checkout("--detach")
    detached = checkout_at(git.root)
    assert (detached.branch, detached.head, detached.on_default_branch) == (None, second, True)


def test_each_worktree_has_its_own_branch(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    git.commit("one")
    linked = git.worktree_add(tmp_path / "linked tree", "-b", "feat")
    assert checkout_at(git.root).branch == "main"
    assert checkout_at(linked.root).branch == "feat"
    assert checkout_at(linked.root).common_dir == git.root / ".git"


@pytest.mark.parametrize("packed", [False, True])
def test_the_default_branch_is_what_origin_says(tmp_path: Path, packed: bool) -> None:
    git = git_init(tmp_path / "r", branch="develop")
    git.commit("one")
    git.branch("main")
    clone = git_clone(git, tmp_path / "c")
    clone.checkout("-b", "feat")
    if packed:
        clone.run("pack-refs", "--all")
    assert checkout_at(clone.root).default_branch == "develop"


@pytest.mark.parametrize(
    ("branches", "configured", "expected"),
    [
        (["main", "master", "trunk"], None, "main"),
        (["master", "trunk"], None, "master"),
        (["trunk", "x"], None, "trunk"),
        (["dev", "main"], "dev", "dev"),
        (["main"], "gone", "main"),
        (["only"], None, "only"),
        (["one", "two"], None, None),
    ],
)
def test_the_default_branch_without_a_remote(
    tmp_path: Path, branches: list[str], configured: str | None, expected: str | None
) -> None:
    git = git_init(tmp_path / "r", branch=branches[0])
    git.commit("one")
    for other in branches[1:]:
        git.branch(other)
    if configured:
        git.run("config", "init.defaultBranch", configured)
    assert checkout_at(git.root).default_branch == expected


def test_a_bare_repository_has_a_head_too(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    first = git.commit("one")
    bare = git_clone(git, tmp_path / "bare.git", "--bare")
    checkout = checkout_at(bare.root)
    assert (checkout.root, checkout.branch, checkout.head) == (bare.root, "main", first)


def test_shallow_is_said(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    git.commit("one")
    git.commit("two")
    assert checkout_at(git_clone(git, tmp_path / "c", "--depth=1").root).shallow
    assert not checkout_at(git.root).shallow


@pytest.mark.parametrize("packed", [False, True])
def test_a_repository_libgit2_cannot_read_still_says_branch_and_head(tmp_path: Path, packed: bool) -> None:
    git = git_init(tmp_path / "r", "--object-format=sha256")
    git.commit("one")
    git.checkout("-b", "feat")
    second = git.commit("two")
    if packed:
        git.run("pack-refs", "--all")
    checkout = checkout_at(git.root)
    assert (checkout.branch, checkout.head, checkout.default_branch) == ("feat", second, "main")
    assert checkout.limited == "its objects are sha256, which libgit2 cannot read"
    git.checkout("--detach")
    assert (checkout_at(git.root).branch, checkout_at(git.root).head) == (None, second)


def test_reftable_is_limited(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    git.run("config", "extensions.refStorage", "reftable")
    (git.root / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n")
    checkout = checkout_at(git.root)
    assert checkout.limited == "its references are kept as reftable, which libgit2 cannot read"
    assert (checkout.branch, checkout.head) == (None, None)


def test_a_head_that_names_a_path_reads_nothing(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    git.commit("one")
    (tmp_path / "stolen").write_text("0" * 40)
    (git.root / ".git" / "HEAD").write_text("ref: refs/heads/../../../../stolen\n")
    checkout = checkout_at(git.root)
    assert checkout.head is None


def test_a_branch_name_that_is_no_utf8_is_shown_escaped(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    first = git.commit("one")
    try:
        Path(os.fsdecode(os.fsencode(git.root) + b"/.git/refs/heads/caf\xe9")).write_text(first)
    except OSError:
        pytest.skip("this file system wants UTF-8")
    (git.root / ".git" / "HEAD").write_bytes(b"ref: refs/heads/caf\xe9\n")
    assert checkout_at(git.root).branch == r"caf\xe9"


def test_core_worktree_is_not_where_files_are_read(tmp_path: Path) -> None:
    git = git_init(tmp_path / "r")
    git.commit("one")
    git.run("config", "core.worktree", "/etc")
    assert checkout_at(git.root).root == git.root


@pytest.fixture
def tree(tmp_path: Path) -> Git:
    git = git_init(tmp_path / "r")
    git.write("src/a b/code.py", "print('ä')\n")
    git.write("big.bin", "x" * ((1 << 20) + 1))
    (tmp_path / "secret").write_text("secret")
    return git


def test_a_file_of_the_working_tree_is_read(tree: Git) -> None:
    assert read_inside(tree.root, "src/a b/code.py") == "print('ä')\n".encode()


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "/etc/passwd",
        "../secret",
        "src/../../secret",
        "src",
        "src/none",
        "big.bin",
        ".git/config",
        ".GIT/HEAD",
        "a\0b",
    ],
)
def test_what_is_no_file_of_the_working_tree_is_not_read(tree: Git, path: str) -> None:
    assert read_inside(tree.root, path) is None


def test_no_link_leads_out_of_the_working_tree(tree: Git, tmp_path: Path) -> None:
    (tree.root / "link").symlink_to(tmp_path / "secret")
    (tree.root / "folder").symlink_to(tmp_path)
    (tree.root / "inside").symlink_to(tree.root / "src")
    for path in ("link", "folder/secret", "inside/a b/code.py"):
        assert read_inside(tree.root, path) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_or_a_device_is_not_read(tree: Git) -> None:
    os.mkfifo(tree.root / "pipe")
    assert read_inside(tree.root, "pipe") is None


def test_systems_without_openat_refuse_the_same(tree: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memhub_mcp.repo.plain_files._NOFOLLOW", 0)
    (tree.root / "link").symlink_to(tmp_path / "secret")
    (tree.root / "folder").symlink_to(tmp_path)
    assert read_inside(tree.root, "src/a b/code.py") == "print('ä')\n".encode()
    for path in ("link", "folder/secret", "c:stream", "src\\code.py", "none"):
        assert read_inside(tree.root, path) is None
