"""What was seen of each branch."""

from memhub_mcp.domain.branch import BranchFacts
from memhub_mcp.store.connection import Database, Row, Transaction
from memhub_mcp.store.values import from_micros, maybe_micros, maybe_moment, storable, to_micros

_DROP = "DELETE FROM branch_fact WHERE branch = ?"
_PUT = """INSERT INTO branch_fact (branch, tip, merge_base, patch_id, seen_at, deleted_at)
    VALUES (?, ?, ?, ?, ?, ?)"""
_PUT_COMMIT = "INSERT INTO branch_commit (branch, position, sha, patch_id) VALUES (?, ?, ?, ?)"
_PUT_PATH = "INSERT INTO branch_path (branch, path, blob) VALUES (?, ?, ?)"
_COLUMNS = "branch, tip, merge_base, patch_id, seen_at, deleted_at"
_GET = f"SELECT {_COLUMNS} FROM branch_fact WHERE branch = ?"
_ALL = f"SELECT {_COLUMNS} FROM branch_fact ORDER BY branch"
_COMMITS = "SELECT sha, patch_id FROM branch_commit WHERE branch = ? ORDER BY position"
_PATHS = "SELECT path, blob FROM branch_path WHERE branch = ? ORDER BY path"


class Branches:
    """The branch facts of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, tx: Transaction, facts: BranchFacts) -> None:
        """Keep what is now known of a branch, in place of what was."""
        branch = facts.branch
        tx.run(_DROP, (branch,))
        seen, deleted = to_micros(facts.seen_at), maybe_micros(facts.deleted_at)
        tx.run(_PUT, (branch, facts.tip, facts.merge_base, facts.patch_id, seen, deleted))
        tx.run_many(_PUT_COMMIT, ((branch, at, sha, patch) for at, (sha, patch) in enumerate(facts.commits)))
        tx.run_many(_PUT_PATH, ((branch, storable(path), blob) for path, blob in facts.paths.items()))

    def get(self, branch: str) -> BranchFacts | None:
        """What is known of one branch."""
        rows = self._db.read(_GET, (branch,))
        return self._facts(rows[0]) if rows else None

    def all(self) -> list[BranchFacts]:
        """What is known of every branch, deleted ones too."""
        return [self._facts(row) for row in self._db.read(_ALL)]

    def _facts(self, row: Row) -> BranchFacts:
        branch, tip, merge_base, patch_id, seen_at, deleted_at = row
        return BranchFacts(
            branch=branch,
            tip=tip,
            merge_base=merge_base,
            commits=tuple((sha, patch) for sha, patch in self._db.read(_COMMITS, (branch,))),
            patch_id=patch_id,
            paths=dict(self._db.read(_PATHS, (branch,))),
            seen_at=from_micros(seen_at),
            deleted_at=maybe_moment(deleted_at),
        )
