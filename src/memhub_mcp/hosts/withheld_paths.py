"""Whether the content of an edited file may be written into the spool at all.

Standard library only: the hook path imports this.
"""

import os

from memhub_mcp.capture.withheld import Withheld
from memhub_mcp.hosts.edit_reports import content_of
from memhub_mcp.hosts.hook_files import common_git_folder, root_of


class WithheldPaths:
    """What git ignores and `.memhubignore` names, in the repositories of the files that one tool call edited."""

    def __init__(self) -> None:
        self._of_root: dict[str, Withheld] = {}

    def hold(self, *paths: str | None) -> bool:
        """Whether the content of one of these files, absolute and links resolved, is not to be kept."""
        return any(self._holds(path) for path in paths if path)

    def _holds(self, path: str) -> bool:
        root = root_of(os.path.dirname(path))
        if root is None:
            return False
        if root not in self._of_root:
            self._of_root[root] = _withheld_at(root)
        return self._of_root[root].holds(os.path.relpath(path, root).replace(os.sep, "/"))


def _withheld_at(root: str) -> Withheld:
    # No folder on the way to an edited file is a link any more; the file of rules itself must be none.
    exclude = content_of(os.path.join(common_git_folder(root), "info", "exclude"))
    return Withheld(lambda path: content_of(os.path.join(root, path)), exclude)
