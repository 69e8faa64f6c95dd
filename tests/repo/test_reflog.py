"""What git noted of HEAD tells on which branch somebody worked."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from git_repository import GitRepository

from memhub_mcp.repo.reflog import read_head_log

NOON = 1_796_040_000


def at(minute: float) -> datetime:
    return datetime.fromtimestamp(NOON + minute * 60, UTC)


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    """Made at noon; on topic from 12:10, which is called feature from 12:20; on a commit from 12:30 to 12:40."""
    repo = GitRepository.create(tmp_path / "shop")

    def git(minute: int, *words: str) -> None:
        repo.git(*words, GIT_COMMITTER_DATE=f"{NOON + minute * 60} +0000")

    git(0, "commit", "--allow-empty", "-q", "-m", "start")
    git(10, "switch", "-q", "-c", "topic")
    git(15, "commit", "--allow-empty", "-q", "-m", "more")
    git(20, "branch", "-m", "feature")
    git(30, "checkout", "-q", "--detach", "HEAD~1")
    git(40, "switch", "-q", "main")
    return repo


@pytest.mark.parametrize(
    ("minute", "branch"),
    [(-1, None), (0, "main"), (9.9, "main"), (10.5, "topic"), (25, "feature"), (35, None), (41, "main"), (999, "main")],
)
def test_the_branch_of_a_moment(repo: GitRepository, minute: float, branch: str | None) -> None:
    assert read_head_log(repo.root / ".git").branch_at(at(minute), "main") == branch


def test_a_tree_that_stands_on_no_branch_now(repo: GitRepository) -> None:
    assert read_head_log(repo.root / ".git").branch_at(at(41), None) is None


def test_without_a_log_nothing_is_told(repo: GitRepository) -> None:
    (repo.root / ".git" / "logs" / "HEAD").unlink()
    assert read_head_log(repo.root / ".git").branch_at(at(5), "main") is None


def test_each_working_tree_has_a_log_of_its_own(repo: GitRepository) -> None:
    repo.git("worktree", "add", "-q", "../tree", "-b", "tree", GIT_COMMITTER_DATE=f"{NOON + 3000} +0000")
    log = read_head_log(repo.root / ".git" / "worktrees" / "tree")
    assert log.branch_at(at(60), "tree") == "tree"
    assert log.branch_at(at(10), "tree") is None
