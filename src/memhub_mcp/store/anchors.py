"""Where branch memories stand."""

from memhub_mcp.domain.branch import Anchor
from memhub_mcp.store.connection import Database, Transaction

_FIND = "SELECT id FROM anchor WHERE branch = ? AND commit_sha IS ?"
_ADD = "INSERT INTO anchor (branch, commit_sha, pending_at) VALUES (?, ?, ?)"
_ALL = "SELECT id, branch, commit_sha, pending_at FROM anchor ORDER BY id"
_SETTLE = "UPDATE anchor SET commit_sha = ?, pending_at = NULL WHERE id = ?"
_MOVE = "UPDATE memory SET anchor = ? WHERE anchor = ?"
_DROP = "DELETE FROM anchor WHERE id = ?"


class Anchors:
    """The anchors of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def ensure(self, tx: Transaction, branch: str, commit: str | None, pending_at: str | None) -> int:
        """The anchor at `commit` on `branch`; without a commit the branch's one pending anchor."""
        found = tx.read(_FIND, (branch, commit))
        if found:
            return found[0][0]
        tx.run(_ADD, (branch, commit, pending_at))
        return tx.last_id

    def all(self) -> list[Anchor]:
        """Every anchor."""
        return [
            Anchor(id=id_, branch=branch, commit=commit, pending_at=pending_at)
            for id_, branch, commit, pending_at in self._db.read(_ALL)
        ]

    def settle(self, tx: Transaction, branch: str, commit: str) -> None:
        """Give the pending anchor of `branch` its commit."""
        pending = tx.read(_FIND, (branch, None))
        if not pending:
            return
        settled = tx.read(_FIND, (branch, commit))
        if settled:
            tx.run(_MOVE, (settled[0][0], pending[0][0]))
            tx.run(_DROP, (pending[0][0],))
        else:
            tx.run(_SETTLE, (commit, pending[0][0]))
        _ = tx.generation
