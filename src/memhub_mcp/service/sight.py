"""What of a store is seen from a checkout."""

import threading

from memhub_mcp.domain.memory import Filter
from memhub_mcp.domain.scope import Checkout
from memhub_mcp.errors import RepoError
from memhub_mcp.repo.history import open_history
from memhub_mcp.repo.layout import find_layout
from memhub_mcp.repo.reflog import read_log
from memhub_mcp.repo.visibility import default_tips, own_commit
from memhub_mcp.service.lookout import Lookout, View
from memhub_mcp.store.connection import Transaction
from memhub_mcp.store.file import Store


class Sight:
    """One call's view of the branch memories of `store`; worked out when first asked for."""

    def __init__(self, store: Store | None, checkout: Checkout | None, lookout: Lookout) -> None:
        self._store = store
        self._checkout = checkout
        self._lookout = lookout
        self._lock = threading.Lock()
        self._view: View | None = None
        self._limited = checkout.limited if checkout else None

    def look(self) -> View:
        """What is seen now, or was when it was first asked for since the last write."""
        with self._lock:
            if self._view is None:
                store, checkout = self._store, self._checkout
                self._view = self._lookout.view(store, checkout) if store and checkout else View(frozenset())
            return self._view

    @property
    def anchors(self) -> frozenset[int]:
        """The anchors seen from HEAD."""
        return self.look().anchors

    @property
    def hidden(self) -> int:
        """How many memories other branches keep to themselves."""
        return self._store.memories.hidden(Filter(anchors=self.anchors)) if self._store else 0

    @property
    def shadowed(self) -> frozenset[int]:
        """The workspace memories that a memory seen of a branch takes the place of: its word on the same subject."""
        return self._store.landings.shadowed(self.anchors) if self._store and self.anchors else frozenset()

    @property
    def partial(self) -> bool:
        """Whether history was not read to its end yet."""
        return self.look().partial

    @property
    def limited(self) -> str | None:
        """Why the repository cannot be read, as far as it cannot."""
        return self._limited or self.look().limited

    def anchor_for_new(self, tx: Transaction) -> int:
        """The anchor of a memory written on the checkout's branch now."""
        store, checkout = self._store, self._checkout
        if store is None or checkout is None or checkout.branch is None:
            raise ValueError("there is no branch to stand on")
        try:
            commit = _own_commit(checkout)
        except RepoError as error:
            commit, self._limited = None, str(error)
        anchor = store.anchors.ensure(tx, checkout.branch, commit, checkout.head if commit is None else None)
        with self._lock:
            self._view = None  # whoever asks after the write sees it
        return anchor


def _own_commit(checkout: Checkout) -> str | None:
    """HEAD, if it is a commit of its branch; None while the branch has none of its own, or is being rebased."""
    if checkout.branch is None or checkout.head is None or checkout.operation is not None:
        return None
    if checkout.branch == checkout.default_branch:
        return checkout.head
    layout = find_layout(checkout.root)
    if layout is None:
        raise RepoError("the repository is gone")
    history = open_history(layout)
    log = read_log(checkout.common_dir, checkout.branch)
    defaults = default_tips(history, checkout.default_branch)
    return own_commit(history, log, checkout.branch, checkout.head, defaults)
