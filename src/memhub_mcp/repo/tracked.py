"""Files as commits of a repository hold them."""

from pathlib import Path

import pygit2

from memhub_mcp.repo.objects import open_objects
from memhub_mcp.repo.walked import WalkedHistory


class TrackedFiles:
    """The files of the commits of one repository.

    Raises:
        RepoError: the repository cannot be read.
    """

    def __init__(self, root: Path) -> None:
        self._repo = open_objects(root)
        self._walked = WalkedHistory(self._repo)

    def holds(self, commit: str, path: str) -> bool:
        """Whether a commit that is here has a file at `path`."""
        return self._walked.holds(commit) and self._walked.blob(commit, path) is not None

    def content(self, commit: str, path: str) -> bytes | None:
        """The bytes of a file in a commit; None when it has none, or a very large one."""
        blob = self._walked.blob(commit, path) if self._walked.holds(commit) else None
        return self._walked.contents.data(blob) if blob is not None else None

    def is_older(self, commit: str, than: str) -> bool:
        """Whether `than` was built on `commit`."""
        if commit == than or not (self._walked.holds(commit) and self._walked.holds(than)):
            return False
        try:
            return self._repo.descendant_of(pygit2.Oid(hex=than), pygit2.Oid(hex=commit))
        except (pygit2.GitError, ValueError):
            return False

    def common(self, one: str, other: str) -> str | None:
        """The commit at which two lines of work parted."""
        try:
            base: pygit2.Oid | None = self._repo.merge_base(pygit2.Oid(hex=one), pygit2.Oid(hex=other))
        except (pygit2.GitError, ValueError):
            return None
        return str(base) if base else None
