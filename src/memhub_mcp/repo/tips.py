"""Where the lines of development of a repository end, and where a shallow clone begins."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pygit2

from memhub_mcp.repo.layout import find_layout
from memhub_mcp.repo.objects import open_objects
from memhub_mcp.repo.plain_files import read_plain_file

_MOST_BRANCHES = 1_000
_LARGEST_BOUNDARY = 4 << 20


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
    with suppress(pygit2.GitError, KeyError):  # before the first commit there is none
        found[str(repo.references["HEAD"].peel(pygit2.Commit).id)] = None
    found |= dict.fromkeys(tip for _, tip in _branches(repo, "refs/heads/"))
    layout = find_layout(root)
    return Tips(tuple(found), read_boundary(layout.common_dir) if layout else frozenset())


def _branches(repo: pygit2.Repository, prefix: str) -> Iterator[tuple[str, str]]:
    names = (name for name in repo.references if name.startswith(prefix))
    for name in islice(names, _MOST_BRANCHES):
        try:
            yield name.removeprefix(prefix), str(repo.references[name].peel(pygit2.Commit).id)
        except (pygit2.GitError, KeyError, ValueError):
            continue  # its commit is not here


def read_boundary(common_dir: Path) -> frozenset[str]:
    """The commits whose parents a shallow clone left out; none in a whole one."""
    data = read_plain_file(common_dir / "shallow", max_bytes=_LARGEST_BOUNDARY)
    return frozenset((data or b"").decode("ascii", "replace").split())


def branch_tips(root: Path) -> dict[str, str]:
    """The commit of every local branch, by its short name.

    Raises:
        RepoError: the repository cannot be read.
    """
    return dict(_branches(open_objects(root), "refs/heads/"))


def branch_tip(root: Path, name: str) -> str | None:
    """The commit of a branch: a local one, else one of a remote (`origin/x`, or `x` of origin), else an id.

    Raises:
        RepoError: the repository cannot be read.
    """
    repo = open_objects(root)
    for reference in (f"refs/heads/{name}", f"refs/remotes/{name}", f"refs/remotes/origin/{name}", f"refs/tags/{name}"):
        try:
            return str(repo.references[reference].peel(pygit2.Commit).id)
        except (pygit2.GitError, KeyError, ValueError):
            continue
    return full_id(root, name)


def full_id(root: Path, prefix: str) -> str | None:
    """The one commit whose id begins with `prefix`; None when there is none, or more than one."""
    try:
        return str(open_objects(root)[prefix].peel(pygit2.Commit).id)
    except (pygit2.GitError, KeyError, ValueError):
        return None
