"""The opened stores of this process: the person's, and one for each workspace."""

import threading
from pathlib import Path

from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.scope import Workspace
from memhub_mcp.store.file import Store

USER = "user"
"""The id and the name of the store that follows the person."""


class Stores:
    """Opens each store file once and keeps it open. Threads may share it."""

    def __init__(self, home: Path, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._open: dict[str, Store] = {}
        self._user = Workspace(id=USER, name=USER, directory=home / USER)

    def user(self) -> Store:
        """What follows the person."""
        return self.of(self._user)

    def of(self, workspace: Workspace) -> Store:
        """The store of `workspace`, made when it is missing.

        Raises:
            StoreError: the file cannot be used as it is; other workspaces are not affected.
        """
        with self._lock:
            store = self._open.get(workspace.id)
            if store is None or _is_gone(store.db.path):
                store = self._open[workspace.id] = Store.open(workspace.directory, workspace, self._clock)
            return store

    def let_go(self, workspace: Workspace) -> None:
        """Close the store of `workspace`, before its file is moved or deleted."""
        with self._lock:
            store = self._open.pop(workspace.id, None)
        if store is not None:
            store.close()

    def close(self) -> None:
        """Close every file."""
        with self._lock:
            opened = list(self._open.values())
            self._open.clear()
        for store in opened:
            store.close()


def _is_gone(file: Path) -> bool:
    """Whether somebody deleted the file: what is written to it now would be lost with this process."""
    try:
        file.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False  # whoever reads it says what is wrong
    return False
