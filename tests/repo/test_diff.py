"""What the index is told about each commit."""

import os
from pathlib import Path

import pytest
from git_repository import GitRepository

from memhub_mcp.domain.revision import ChangeKind, Commit, Hunk
from memhub_mcp.repo.diff import PATCH_LIMIT_BYTES, TextRules, walk_commits

RULES = TextRules(redact=lambda text: text.replace("hunter2", "[redacted]"), never_stored=lambda path: path == ".env")


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    return GitRepository.create(tmp_path / "a repository")


def read(repo: GitRepository, *tips: str, known: set[str] | None = None, hide: tuple[str, ...] = ()) -> list[Commit]:
    seen = known or set()
    found = walk_commits(repo.root, tips or (repo.head(),), known=lambda shas: seen & set(shas), rules=RULES, hide=hide)
    return list(found)


def test_commits_come_newest_first_with_their_facts(repo: GitRepository) -> None:
    first = repo.commit("Add a greeting\n\nIt says hello.", {"hello.py": "one\ntwo\nthree\n"})
    second = repo.commit("Change it", {"hello.py": "one\n2\nthree\nfour\n"})
    newest, oldest = read(repo)
    assert (newest.sha, oldest.sha) == (second, first)
    assert newest.parents == (first,)
    assert oldest.parents == ()
    assert (oldest.subject, oldest.author) == ("Add a greeting", "Ada")
    (added,) = oldest.changes
    assert (added.kind, added.path, added.blob_before, added.hunks) == (
        ChangeKind.ADD,
        "hello.py",
        None,
        (Hunk(0, 0, 1, 3),),
    )
    (changed,) = newest.changes
    assert changed.hunks == (Hunk(2, 1, 2, 1), Hunk(3, 0, 4, 1))
    assert changed.blob_before == added.blob_after == repo.git("rev-parse", f"{first}:hello.py")
    assert newest.patch == "--- a/hello.py\n+++ b/hello.py\n@@ -2 +2 @@ one\n-two\n+2\n@@ -3,0 +4 @@ three\n+four\n"


def test_a_walk_goes_on_where_it_stopped(repo: GitRepository) -> None:
    shas = [repo.commit(f"change {n}", {"a": str(n)}) for n in range(5)]
    assert [c.sha for c in read(repo, known={shas[4], shas[3]})] == [shas[2], shas[1], shas[0]]
    assert [c.sha for c in read(repo, hide=(shas[2],))] == [shas[4], shas[3]]


def test_the_same_change_elsewhere_has_the_same_patch_id(repo: GitRepository) -> None:
    repo.commit("base", {"a.txt": "".join(f"line {n}\n" for n in range(40))})
    repo.git("checkout", "-q", "-b", "other")
    picked = repo.commit("change line 20", {"a.txt": "".join(f"line {n}{'!' * (n == 20)}\n" for n in range(40))})
    repo.git("checkout", "-q", "main")
    repo.commit("a nearby change", {"a.txt": "".join(f"line {n}{'?' * (n == 18)}\n" for n in range(40))})
    repo.git("cherry-pick", picked)
    ids = {c.sha: c.patch_id for c in read(repo, repo.head(), picked)}
    assert ids[picked] == ids[repo.head()] is not None


def test_renames_carry_their_old_path_and_their_changes(repo: GitRepository) -> None:
    body = "".join(f"line {n}\n" for n in range(30))
    repo.commit("add", {"old name.py": body})
    repo.git("mv", "old name.py", "ünï.py")
    repo.commit("move", {"ünï.py": body.replace("line 3\n", "line three\n")})
    (moved,) = read(repo)[0].changes
    assert (moved.kind, moved.old_path, moved.path) == (ChangeKind.RENAME, "old name.py", "ünï.py")
    assert moved.hunks == (Hunk(4, 1, 4, 1),)


def test_a_file_of_which_half_went_elsewhere_is_a_rename(repo: GitRepository) -> None:
    lines = [f"def f{number}(): return {number * 7919 % 1009}\n" for number in range(1_000)]
    repo.commit("one file", {"shop.py": "".join(lines)})
    kept = [line for number, line in enumerate(lines) if number % 5 < 3]
    files = {"shop/app.py": "".join(kept), "shop/till.py": "".join(lines[3::5]), "shop.py": None}
    repo.commit("several", files)
    changes = {change.path: change for change in read(repo)[0].changes}
    assert changes["shop/app.py"].old_path == "shop.py"
    assert changes.keys() == {"shop/app.py", "shop/till.py"}
    said = repo.git("show", "-M", "--format=", "--name-status", "HEAD")
    assert "shop.py\tshop/app.py" in said


def test_a_merge_lists_what_differs_from_each_parent(repo: GitRepository) -> None:
    repo.commit("base", {"a": "one\n", "b": "one\n", "c": "one\n"})
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("side", {"a": "side\n", "b": "side\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("main", {"a": "main\n", "c": "main\n"})
    assert not repo.merge("side")
    merge = repo.commit("resolve", {"a": "both\n"})
    found = next(c for c in read(repo) if c.sha == merge)
    assert [(c.path, c.parent) for c in found.changes] == [("a", 0), ("b", 0), ("a", 1)]
    assert found.patch_id is None
    assert "+both" in found.patch
    assert "b/b" not in found.patch, "what simply came from one side is not told again"


def test_odd_contents_are_described_not_stored(repo: GitRepository) -> None:
    repo.commit("base", {"image.bin": b"\0\1\2", "run.sh": "echo\n", "x": "1"})
    (repo.root / "run.sh").chmod(0o755)
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    repo.write("image.bin", b"\0\3")
    sha = repo.git("rev-parse", "HEAD")
    repo.git("add", "image.bin", "run.sh")
    repo.git("commit", "-q", "-m", "odd")
    changes = {c.path: c for c in read(repo, hide=(sha,))[0].changes}
    assert changes["image.bin"].binary
    assert changes["image.bin"].hunks == ()
    assert changes["run.sh"].kind is ChangeKind.MODE
    assert changes["module"].blob_after == "1" * 40
    assert changes["module"].hunks == ()


def test_an_attribute_does_not_hide_text(repo: GitRepository) -> None:
    repo.commit("base", {".gitattributes": "*.lock -diff\n", "a.lock": "one\ntwo\n"})
    repo.commit("change", {"a.lock": "one\n2\n"})
    (change,) = read(repo)[0].changes
    assert not change.binary
    assert change.hunks == (Hunk(2, 1, 2, 1),)


def test_secrets_do_not_leave_the_repository(repo: GitRepository) -> None:
    repo.commit("the password is hunter2", {".env": "KEY=abcdef\n", "app.py": "password = 'hunter2'\n"})
    (commit,) = read(repo)
    assert commit.message == "the password is [redacted]"
    assert "abcdef" not in commit.patch
    assert "+password = '[redacted]'" in commit.patch
    assert {c.path for c in commit.changes} == {".env", "app.py"}


def test_a_large_patch_is_cut_and_says_so(repo: GitRepository) -> None:
    repo.commit("big", {"big.txt": "a line of text\n" * 20_000, "z.txt": "z\n"})
    (commit,) = read(repo)
    assert len(commit.patch) <= PATCH_LIMIT_BYTES + 200
    assert commit.note is not None
    assert "64 KiB" in commit.note
    assert commit.changes[0].hunks == (Hunk(0, 0, 1, 20_000),)


def test_very_many_moves_are_paired_by_content(repo: GitRepository) -> None:
    repo.commit("add", {f"old/{n}.txt": f"file {n}\n" for n in range(2_100)})
    repo.git("mv", "old", "new")
    repo.commit("move")
    commit = read(repo)[0]
    assert {(c.kind, c.old_path, c.path) for c in commit.changes} == {
        (ChangeKind.RENAME, f"old/{n}.txt", f"new/{n}.txt") for n in range(2_100)
    }
    assert commit.note is not None
    assert "exact renames" in commit.note


@pytest.mark.skipif(os.name == "nt", reason="names of files are Unicode there")
def test_names_and_messages_that_are_not_utf8_can_be_stored(repo: GitRepository) -> None:
    (repo.root / os.fsdecode(b"caf\xe9.txt")).write_text("x\n")
    (repo.root / "message").write_bytes(b"caf\xe9")
    repo.git("add", "-A")
    repo.git("-c", "i18n.commitEncoding=latin-1", "commit", "-q", "-F", "message")
    (commit,) = read(repo)
    assert "caf\\xe9.txt" in {c.path for c in commit.changes}
    assert commit.message == "café"


def test_nothing_of_the_configuration_runs(repo: GitRepository, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    command = f"touch {trap};"
    repo.commit("base", {".gitattributes": "* diff=evil filter=evil\n", "a": "one\n"})
    repo.commit("change", {"a": "two\n"})
    for key in ("core.fsmonitor", "core.sshCommand", "diff.external", "diff.evil.textconv", "filter.evil.smudge"):
        repo.git("config", key, command)
    for name in ("post-checkout", "pre-commit"):
        hook = repo.write(f".git/hooks/{name}", f"#!/bin/sh\n{command}\n")
        hook.chmod(0o755)
    assert len(read(repo)) == 2
    assert not trap.exists()


def test_a_shallow_clone_says_what_it_does_not_have(repo: GitRepository, tmp_path: Path) -> None:
    for n in range(4):
        repo.commit(f"change {n}", {"a": f"{n}\n"})
    repo.git("clone", "-q", "--depth", "2", f"file://{repo.root}", str(tmp_path / "shallow"))
    newest, oldest = read(GitRepository(tmp_path / "shallow"))
    assert newest.note is None
    assert oldest.changes == ()
    assert oldest.note is not None
    assert "shallow" in oldest.note


def test_a_clone_without_contents_still_lists_paths(repo: GitRepository, tmp_path: Path) -> None:
    repo.commit("one", {"a": "1\n"})
    repo.commit("two", {"a": "2\n"})
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repo.root}", str(tmp_path / "blobless"))
    clone = GitRepository(tmp_path / "blobless")
    newest, _ = read(clone)
    assert [c.path for c in newest.changes] == ["a"]
    assert newest.changes[0].hunks == ()
    assert newest.note is not None
    assert "blobless" in newest.note
