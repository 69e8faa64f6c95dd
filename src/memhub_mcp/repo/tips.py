"""Where the lines of development of a repository end, and where a shallow clone begins."""

from dataclasses import dataclass
from pathlib import Path

import pygit2

from memhub_mcp.repo.layout import find_layout
from memhub_mcp.repo.objects import open_objects
from memhub_mcp.repo.plain_files import read_plain_file

_MOST_BRANCHES = 1_000


@dataclass(frozen=True, slots=True)
class Tips:
    """The commits all others are reached from, HEAD's first, and those whose parents a shallow clone left out."""

    commits: tuple[str, ...]
    boundary: frozenset[str]


def read_tips(root: Path) -> Tips:
    """The tips of HEAD, every local branch and the branches they follow.

    Raises:
        RepoError: the repository cannot be read.
    """
    repo = open_objects(root)
    found: dict[str, None] = {}
    names = ["HEAD", *(f"refs/heads/{name}" for name in list(repo.branches.local)[:_MOST_BRANCHES])]
    for name in names:
        try:
            found[str(repo.references[name].peel(pygit2.Commit).id)] = None
        except (pygit2.GitError, KeyError, ValueError):
            continue  # HEAD before the first commit, or a branch whose commit is not here
    return Tips(tuple(found), _boundary(root))


def _boundary(root: Path) -> frozenset[str]:
    layout = find_layout(root)
    data = read_plain_file(layout.common_dir / "shallow") if layout else None
    return frozenset((data or b"").decode("ascii", "replace").split())
