"""Which places on branches are seen from HEAD."""

import threading
from collections import OrderedDict
from collections.abc import Collection
from pathlib import Path

import pygit2
from pygit2.enums import SortMode

from memhub_mcp.errors import RepoError
from memhub_mcp.repo.layout import find_layout
from memhub_mcp.repo.opening import open_repository, why

_REMEMBERED = 8  # repositories and worktrees with different HEADs, each with its set of ancestors


class Ancestry:
    """The ancestors of a HEAD, by one walk that is remembered and continued when HEAD moves. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._walked: OrderedDict[Path, tuple[str, set[bytes]]] = OrderedDict()

    def among(self, git_dir_root: Path, head: str, commits: Collection[str]) -> frozenset[str]:
        """Those of `commits` that are `head` or an ancestor of it, in the repository at `git_dir_root`.

        Raises:
            RepoError: the history cannot be read; the text is the reason alone.
        """
        if not commits:
            return frozenset()
        with self._lock:
            seen = self._ancestors(git_dir_root, head)
            return frozenset(commit for commit in commits if bytes.fromhex(commit) in seen)

    def _ancestors(self, root: Path, head: str) -> set[bytes]:
        layout = find_layout(root)
        if layout is None:
            raise RepoError("the repository is gone")
        try:
            repo = open_repository(layout)
            known = self._walked.pop(root, None)
            seen = self._continued(repo, head, known) if known else _walk(repo, head, None)
        except (pygit2.GitError, KeyError, ValueError) as error:
            raise RepoError(why(error)) from error
        self._walked[root] = (head, seen)
        while len(self._walked) > _REMEMBERED:
            self._walked.popitem(last=False)
        return seen

    def _continued(self, repo: pygit2.Repository, head: str, known: tuple[str, set[bytes]]) -> set[bytes]:
        """The old set with what the new HEAD adds and without what only the old one had."""
        old, seen = known
        if old == head:
            return seen
        if old not in repo:  # rewritten and pruned since
            return _walk(repo, head, None)
        seen |= _walk(repo, head, old)
        seen -= _walk(repo, old, head)
        return seen


def _walk(repo: pygit2.Repository, tip: str, hidden: str | None) -> set[bytes]:
    walker = repo.walk(pygit2.Oid(hex=tip), SortMode.NONE)
    if hidden:
        walker.hide(pygit2.Oid(hex=hidden))
    return {commit.id.raw for commit in walker}
