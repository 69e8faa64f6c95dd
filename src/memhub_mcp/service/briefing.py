"""What hooks may do and say, kept in small files: they have no time for a database."""

from pathlib import Path

from memhub_mcp.hosts import hook_files
from memhub_mcp.service.reporting import Reporting
from memhub_mcp.service.scope import Scope


class Briefing:
    """Writes the files that hooks read. `capture` is what may be recorded."""

    def __init__(self, *, home: Path, capture: str, reporting: Reporting) -> None:
        self._home = home
        self._capture = capture
        self._reporting = reporting

    def write(self, scope: Scope) -> None:
        """What is known at `scope`, for the next session there. What has not changed is not written."""
        store, checkout = scope.store, scope.checkout
        if store is None or checkout is None or store.read_only:
            return
        folder = store.workspace.directory.relative_to(self._home).as_posix()
        root = hook_files.root_of(str(checkout.root)) or str(checkout.root)
        hook_files.note_place(self._home, root, folder, self._capture)
        place = hook_files.Place(root, folder, self._capture)
        shared = self._reporting.digest(scope, any_branch=True)
        hook_files.note_digest(self._home, place, checkout.branch, self._reporting.digest(scope), shared)

    def withdraw(self, scope: Scope) -> None:
        """Something was forgotten: these files no longer say it."""
        for store in scope.stores():
            hook_files.erase_words(self._home, store.workspace.directory)
