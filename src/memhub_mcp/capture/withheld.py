"""Which paths of a checkout have content that is not to be kept: what git ignores, and `.memhubignore`.

The rules are compared in our own way, in bounded time: a repository may be hostile. Standard library only: the hook
path imports this.
"""

from collections.abc import Callable

from memhub_mcp.capture.ignore_rules import IgnoreRules
from memhub_mcp.capture.never_stored import is_never_stored

_OURS, _GITS = ".memhubignore", ".gitignore"

Read = Callable[[str], bytes | None]
"""The content of a small regular file below the root, by its path with forward slashes; None when there is none."""


class Withheld:
    """The rules of one checkout, each file of them read once. On different rules in a folder below, both hold.

    `exclude` is what the git directory holds in `info/exclude`.
    """

    def __init__(self, read: Read, exclude: bytes | None) -> None:
        self._read = read
        self._for_all = [_rules(exclude), _rules(read(_OURS))]
        self._of_folder: dict[str, IgnoreRules | None] = {}

    def forbids(self, path: str) -> bool:
        """Whether the name of `path` or `.memhubignore` says that its content is not kept, whoever asks."""
        ours = self._for_all[1]
        return is_never_stored(path) or (ours is not None and ours.ignores(path))

    def holds(self, path: str) -> bool:
        """Whether the content of `path`, relative to the root and with forward slashes, is not to be kept."""
        if is_never_stored(path) or any(rules is not None and rules.ignores(path) for rules in self._for_all):
            return True
        names = path.split("/")
        for depth in range(len(names)):
            rules = self._rules_in("/".join(names[:depth]))
            if rules is not None and rules.ignores("/".join(names[depth:])):
                return True
        return False

    def _rules_in(self, folder: str) -> IgnoreRules | None:
        if folder not in self._of_folder:
            file = f"{folder}/{_GITS}" if folder else _GITS
            self._of_folder[folder] = _rules(self._read(file))
        return self._of_folder[folder]


def is_gits_own(path: str) -> bool:
    """Whether `path` lies in a `.git` folder: what git keeps there is no code of anybody's. Either slash, any case."""
    return ".git" in path.replace("\\", "/").lower().split("/")


def _rules(data: bytes | None) -> IgnoreRules | None:
    return IgnoreRules(data.decode("utf-8", "replace").splitlines()) if data else None
