"""What of a store is seen from a checkout."""

import threading

from memhub_mcp.domain.memory import Filter
from memhub_mcp.domain.scope import Checkout
from memhub_mcp.errors import RepoError
from memhub_mcp.repo.visibility import Ancestry, next_commit, own_commit
from memhub_mcp.store.connection import Transaction
from memhub_mcp.store.file import Store


class Sight:
    """One call's view of the branch memories of `store`; worked out when first asked for."""

    def __init__(self, store: Store | None, checkout: Checkout | None, ancestry: Ancestry) -> None:
        self._store = store
        self._checkout = checkout
        self._ancestry = ancestry
        self._lock = threading.Lock()
        self._anchors: frozenset[int] | None = None
        self.limited: str | None = checkout.limited if checkout else None

    @property
    def anchors(self) -> frozenset[int]:
        """The anchors seen from HEAD: those of its branch, and those whose commit is an ancestor."""
        with self._lock:
            if self._anchors is None:
                self._anchors = self._look()
            return self._anchors

    @property
    def hidden(self) -> int:
        """How many memories other branches keep to themselves; 0 until anchors were asked for."""
        if self._store is None or self._anchors is None:
            return 0
        return self._store.memories.hidden(Filter(anchors=self._anchors))

    def anchor_for_new(self, tx: Transaction) -> int:
        """The anchor of a memory written on the checkout's branch now."""
        store, checkout = self._store, self._checkout
        if store is None or checkout is None or checkout.branch is None:
            raise ValueError("there is no branch to stand on")
        try:
            commit = own_commit(checkout)
        except RepoError as error:
            commit, self.limited = None, str(error)
        anchor = store.anchors.ensure(tx, checkout.branch, commit, checkout.head if commit is None else None)
        with self._lock:
            if self._anchors is not None:
                self._anchors |= {anchor}
        return anchor

    def _look(self) -> frozenset[int]:
        store, checkout = self._store, self._checkout
        if store is None or checkout is None:
            return frozenset()
        anchors = store.anchors.all()
        seen = {anchor.id for anchor in anchors if anchor.branch == checkout.branch}
        if checkout.limited or checkout.head is None:
            return frozenset(seen)
        try:
            if self._settle_pending(store, checkout):
                anchors = store.anchors.all()
            commits = {anchor.commit for anchor in anchors if anchor.commit and anchor.id not in seen}
            reached = self._ancestry.among(checkout.root, checkout.head, commits)
        except RepoError as error:
            self.limited = str(error)
            return frozenset(seen)
        return frozenset(seen | {anchor.id for anchor in anchors if anchor.commit in reached})

    def _settle_pending(self, store: Store, checkout: Checkout) -> bool:
        """Give a pending anchor the commit its branch got since. Whether one was settled."""
        if store.read_only:
            return False
        pending = {anchor.branch: anchor.pending_at for anchor in store.anchors.all() if anchor.commit is None}
        made = {branch: next_commit(checkout, branch, after) for branch, after in pending.items()}
        moved = {branch: commit for branch, commit in made.items() if commit}
        if moved:
            with store.write() as tx:
                for branch, commit in moved.items():
                    store.anchors.settle(tx, branch, commit)
        return bool(moved)
