"""Files as commits of a repository hold them."""

from pathlib import Path

from memhub_mcp.errors import RepoError
from memhub_mcp.repo.history import LibgitHistory
from memhub_mcp.repo.objects import open_objects
from memhub_mcp.repo.walked import WalkedHistory


class TrackedFiles:
    """The files of the commits of one repository.

    Raises:
        RepoError: the repository cannot be read.
    """

    def __init__(self, root: Path) -> None:
        repo = open_objects(root)
        self._history = LibgitHistory(repo)
        self._walked = WalkedHistory(repo)

    def holds(self, commit: str, path: str) -> bool:
        """Whether a commit that is here has a file at `path`."""
        return self._walked.holds(commit) and self._walked.blob(commit, path) is not None

    def content(self, commit: str, path: str) -> bytes | None:
        """The bytes of a file in a commit; None when it has none, or a very large one."""
        blob = self._walked.blob(commit, path) if self._walked.holds(commit) else None
        return self._walked.contents.data(blob) if blob is not None else None

    def is_older(self, commit: str, than: str) -> bool:
        """Whether `than` was built on `commit`."""
        return commit != than and self._history.is_ancestor(commit, of=than)

    def common(self, one: str, other: str) -> str | None:
        """The commit at which two lines of work parted; None when one of them is not here."""
        if not (self._history.holds(one) and self._history.holds(other)):
            return None
        try:
            return self._history.merge_base((one, other))
        except RepoError:
            return None
