"""What hooks may do and say, kept in small files: they have no time for a database."""

from collections.abc import Iterable
from pathlib import Path

from memhub_mcp.domain.clock import Clock
from memhub_mcp.hosts import hook_files
from memhub_mcp.hosts.hook_files import Line
from memhub_mcp.service.capturing import Capturing
from memhub_mcp.service.digest import DigestLine, digest
from memhub_mcp.service.scope import Scope
from memhub_mcp.store.file import Store


class Briefing:
    """Writes the files that hooks read."""

    def __init__(self, *, home: Path, capturing: Capturing, clock: Clock) -> None:
        self._home = home
        self._capturing = capturing
        self._clock = clock

    def write(self, scope: Scope) -> None:
        """What is known at `scope`, for the next session there. What has not changed is not written."""
        store, checkout = scope.store, scope.checkout
        if store is None or checkout is None or store.read_only:
            return
        root = hook_files.root_of(str(checkout.root)) or str(checkout.root)
        self._capturing.publish({root: store.workspace})
        place = hook_files.place_of(self._home, root)
        now = self._clock()
        shared = _kept(digest(scope, now, any_branch=True))
        standing = checkout.branch or checkout.head
        hook_files.note_digest(self._home, place, standing, _kept(digest(scope, now)), shared)

    def rewrite(self, scope: Scope, changed: Iterable[Store]) -> None:
        """What was told from the stores `changed` may hold no longer: nobody is told it from now on.

        What is left is told again here at once, elsewhere as soon as somebody works there.
        """
        for folder in self._folders(scope, changed):
            hook_files.withdraw_digest(self._home, folder)
        self.write(scope)

    def erase(self, scope: Scope, changed: Iterable[Store]) -> None:
        """Something was forgotten: these files no longer say it, nor what was asked for meanwhile."""
        for folder in self._folders(scope, changed):
            hook_files.withdraw_digest(self._home, folder)
        hook_files.forget_all_said(self._home)

    def _folders(self, scope: Scope, changed: Iterable[Store]) -> list[Path]:
        """Where digests lie that may speak of these stores: what follows the person is told everywhere."""
        stores = list(changed)
        if any(store is scope.user for store in stores):
            return [file.parent for file in self._home.glob(f"workspaces/*/{hook_files.DIGEST_FILE}")]
        return [store.workspace.directory for store in stores]


def _kept(lines: Iterable[DigestLine]) -> list[Line]:
    return [Line(line.text, line.until.timestamp() if line.until is not None else None, line.head) for line in lines]
