"""Which paths of a checkout have content that is not to be kept: what git ignores, and `.memhubignore`.

The rules are compared in our own way, in bounded time, and read without following links: a repository may be hostile.
"""

from memhub_mcp.capture.ignore_rules import IgnoreRules
from memhub_mcp.capture.never_stored import is_never_stored
from memhub_mcp.domain.scope import Checkout
from memhub_mcp.repo.plain_files import read_inside, read_plain_file

_OURS, _GITS = ".memhubignore", ".gitignore"


class Withheld:
    """The rules of one checkout, each file of them read once. On different rules in a folder below, both hold."""

    def __init__(self, checkout: Checkout) -> None:
        self._root = checkout.root
        exclude = read_plain_file(checkout.common_dir / "info" / "exclude")
        self._for_all = [_rules(exclude), _rules(read_inside(checkout.root, _OURS))]
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
            self._of_folder[folder] = _rules(read_inside(self._root, file))
        return self._of_folder[folder]


def _rules(data: bytes | None) -> IgnoreRules | None:
    return IgnoreRules(data.decode("utf-8", "replace").splitlines()) if data else None
