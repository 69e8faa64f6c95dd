"""What was compared of branches and commits, and where the work of a branch arrived."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from memhub_mcp.domain.branch import Reach
from memhub_mcp.store.connection import Database, Reader, Transaction
from memhub_mcp.store.values import to_json

_KEPT_HEADS = 16

_WATCHED = "SELECT branch, tip, born, newest_anchor, is_gone FROM branch_watch"
_WATCH = "INSERT OR REPLACE INTO branch_watch (branch, tip, born, newest_anchor) VALUES (?, ?, ?, ?)"
_MARK_GONE = "UPDATE branch_watch SET is_gone = 1 WHERE branch = ?"
_PATCHES = "SELECT sha, patch_id FROM commit_patch WHERE sha IN (SELECT value FROM json_each(?))"
_PUT_PATCH = "INSERT OR IGNORE INTO commit_patch (sha, patch_id) VALUES (?, ?)"
_STRAY = """
SELECT DISTINCT commit_sha FROM anchor LEFT JOIN commit_patch ON commit_patch.sha = anchor.commit_sha
WHERE commit_sha IS NOT NULL AND commit_patch.since IS NULL
"""
_PUT_ORIGIN = """
INSERT INTO commit_patch (sha, patch_id, since) VALUES (?, ?, ?) ON CONFLICT (sha) DO UPDATE SET since = excluded.since
"""
_NEW_BASES = """
SELECT since FROM commit_patch WHERE since <> '' UNION SELECT base FROM branch_squash
EXCEPT SELECT sha FROM compared_base
"""
_WHICH_COMPARED = """
SELECT sha FROM commit_patch WHERE since IS NULL AND sha IN (SELECT value FROM json_each(?))
"""
_COMPARED = "INSERT OR IGNORE INTO compared_base (sha) VALUES (?)"
_SQUASHES = "SELECT sha, base FROM branch_squash WHERE branch = ?"
_PUT_SQUASH = "INSERT OR REPLACE INTO branch_squash (branch, sha, base, patch_id) VALUES (?, ?, ?, ?)"
_SAME_CHANGE = """
SELECT a.id, other.sha, own.since FROM json_each(?) AS wanted
JOIN commit_patch AS other ON other.sha = wanted.value
JOIN commit_patch AS own ON own.patch_id = other.patch_id AND own.sha <> other.sha AND own.since IS NOT NULL
JOIN anchor AS a ON a.commit_sha = own.sha
UNION
SELECT a.id, other.sha, own.since FROM json_each(?) AS wanted
JOIN anchor AS a ON a.branch = wanted.value
JOIN commit_patch AS own ON own.sha = a.commit_sha AND own.since IS NOT NULL
JOIN commit_patch AS other ON other.patch_id = own.patch_id AND other.sha <> own.sha
"""
_SAME_SQUASH = """
SELECT squash.branch, squash.sha, other.sha, squash.base FROM json_each(?) AS wanted
JOIN commit_patch AS other ON other.sha = wanted.value
JOIN branch_squash AS squash ON squash.patch_id = other.patch_id AND squash.sha <> other.sha
UNION
SELECT squash.branch, squash.sha, other.sha, squash.base FROM json_each(?) AS wanted
JOIN branch_squash AS squash ON squash.branch = wanted.value
JOIN commit_patch AS other ON other.patch_id = squash.patch_id AND other.sha <> squash.sha
"""
_SAME_BLOB = """
SELECT DISTINCT branch FROM branch_path JOIN json_each(?) AS changed
ON branch_path.path = changed.value ->> 0 AND branch_path.blob IS (changed.value ->> 1)
"""
_LANDINGS = "SELECT anchor, sha FROM landing"
_LAND = "INSERT OR IGNORE INTO landing (anchor, sha) VALUES (?, ?)"
_HEADS = "SELECT head FROM reach ORDER BY seq DESC"
_REACH = "SELECT head, asked, reached FROM reach WHERE head = ?"
_PUT_REACH = "INSERT OR REPLACE INTO reach (head, asked, reached) VALUES (?, ?, ?)"
_FEWER_HEADS = "DELETE FROM reach WHERE seq NOT IN (SELECT seq FROM reach ORDER BY seq DESC LIMIT ?)"
_FLOOR = "SELECT value FROM meta WHERE key = 'compared_since'"
_SET_FLOOR = "INSERT OR REPLACE INTO meta (key, value) VALUES ('compared_since', ?)"
_NEWEST = "SELECT branch, max(id) FROM anchor GROUP BY branch"

_RIVALS = """
WITH common AS (
    SELECT seq, subject_key, generation, tier FROM memory
    WHERE status = 'active' AND subject_key IS NOT NULL
    AND (tier = 'workspace' OR (tier = 'branch' AND anchor IN (SELECT value FROM json_each(?))))
)
SELECT (
    SELECT latest.seq FROM common AS latest WHERE latest.subject_key = older.subject_key
    ORDER BY latest.generation DESC, latest.seq DESC LIMIT 1
) AS winner, older.seq
FROM common AS older
WHERE winner <> older.seq
AND EXISTS (SELECT 1 FROM common AS other WHERE other.subject_key = older.subject_key AND other.tier = 'branch')
"""
_SHADOWED = """
SELECT seq FROM memory WHERE status = 'active' AND tier = 'workspace' AND subject_key IN (
    SELECT subject_key FROM memory WHERE anchor IN (SELECT value FROM json_each(?)) AND status = 'active'
    AND tier = 'branch' AND subject_key IS NOT NULL)
"""
_SUBJECTS = """
SELECT seq, subject_key FROM memory
WHERE status = 'active' AND subject_key IS NOT NULL AND seq IN (SELECT value FROM json_each(?))
"""
_PROMOTE = """
UPDATE memory SET tier = 'workspace', anchor = NULL, branch = NULL, generation = ?
WHERE seq IN (SELECT value FROM json_each(?))
"""
_OUTDONE = """
SELECT promoted.seq, older.seq FROM json_each(?) AS wanted JOIN memory AS promoted ON promoted.seq = wanted.value
JOIN memory AS older ON older.subject_key = promoted.subject_key AND older.seq <> promoted.seq
WHERE older.tier = 'workspace' AND older.status = 'active' AND promoted.status = 'active'
AND older.seq NOT IN (SELECT value FROM json_each(?))
"""
_TWINS = """
SELECT old.id, new.id FROM anchor AS old JOIN anchor AS new ON new.commit_sha IS old.commit_sha
WHERE old.branch = ? AND new.branch = ?
"""
_MOVE_MEMORIES = "UPDATE memory SET anchor = ? WHERE anchor = ?"
_DROP_ANCHOR = "DELETE FROM anchor WHERE id = ?"
_RENAME = (
    "UPDATE anchor SET branch = ?2 WHERE branch = ?1",
    "UPDATE memory SET branch = ?2 WHERE branch = ?1",
    "UPDATE OR REPLACE branch_squash SET branch = ?2 WHERE branch = ?1",
)
_DROP_FACTS = (
    "DELETE FROM branch_fact WHERE branch = ?",
    "DELETE FROM branch_watch WHERE branch = ?",
)


@dataclass(frozen=True, slots=True)
class Watch:
    """The state of a branch that was compared last. `born` tells this branch from another of the same name."""

    tip: str
    born: str | None
    newest_anchor: int
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class SquashMatch:
    """The commit `found` changes what `branch` changed from `base` to `sha`."""

    branch: str
    sha: str
    found: str
    base: str


class Landings:
    """The comparisons of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def watched(self) -> dict[str, Watch]:
        """What was compared last, by branch."""
        return {
            branch: Watch(tip, born, newest, bool(gone)) for branch, tip, born, newest, gone in self._db.read(_WATCHED)
        }

    def watch(self, tx: Transaction, branch: str, watch: Watch) -> None:
        """Note that this state of `branch` was compared."""
        tx.run(_WATCH, (branch, watch.tip, watch.born, watch.newest_anchor))

    def mark_gone(self, tx: Transaction, branch: str) -> None:
        """Note that `branch` was deleted."""
        tx.run(_MARK_GONE, (branch,))

    def newest_anchors(self) -> dict[str, int]:
        """The newest anchor of each branch that has one."""
        return {row[0]: row[1] for row in self._db.read(_NEWEST)}

    def patch_ids(self, commits: Iterable[str]) -> dict[str, str | None]:
        """The patch-ids of those of `commits` that were looked at."""
        return {row[0]: row[1] for row in self._db.read(_PATCHES, (to_json(commits),))}

    def compared(self, commits: Iterable[str]) -> set[str]:
        """Those of `commits` that were compared with branches, and are not only where a memory stands."""
        return {sha for (sha,) in self._db.read(_WHICH_COMPARED, (to_json(commits),))}

    def put_patch_ids(self, tx: Transaction, patch_ids: Mapping[str, str | None]) -> None:
        """Keep the patch-ids of commits."""
        tx.run_many(_PUT_PATCH, patch_ids.items())

    def anchors_without_origin(self) -> list[str]:
        """Commits of anchors that were not looked at yet."""
        return [sha for (sha,) in self._db.read(_STRAY)]

    def put_origin(self, tx: Transaction, commit: str, patch_id: str | None, since: str | None) -> None:
        """Keep what an anchor's commit changed and where it had left the default branch."""
        tx.run(_PUT_ORIGIN, (commit, patch_id, since or ""))

    def new_bases(self) -> set[str]:
        """Where branches with memories left the default branch, as far as it was not compared since."""
        return {base for (base,) in self._db.read(_NEW_BASES)}

    def note_compared(self, tx: Transaction, bases: Iterable[str], floor: str) -> None:
        """Everything behind HEADs that were seen was compared since `floor`, and so since each of `bases`."""
        tx.run_many(_COMPARED, [(base,) for base in bases])
        tx.run(_SET_FLOOR, (floor,))

    def squashes(self, branch: str) -> dict[str, str]:
        """The commits of `branch` whose squash is known, with the base of each."""
        return {row[0]: row[1] for row in self._db.read(_SQUASHES, (branch,))}

    def put_squash(self, tx: Transaction, branch: str, commit: str, base: str, patch_id: str) -> None:
        """Keep the patch-id of base..commit."""
        tx.run(_PUT_SQUASH, (branch, commit, base, patch_id))

    def same_change(self, commits: Iterable[str], branches: Iterable[str]) -> list[tuple[int, str, str]]:
        """(anchor, commit, since): `commit` changes what the anchor's commit changed.

        Only those where the commit is one of `commits` or the anchor stands on one of `branches`.
        """
        return [(a, sha, since) for a, sha, since in self._db.read(_SAME_CHANGE, (to_json(commits), to_json(branches)))]

    def same_squash(self, commits: Iterable[str], branches: Iterable[str]) -> list[SquashMatch]:
        """Commits that change what a branch changed as a whole; narrowed as in `same_change`."""
        return [SquashMatch(*row) for row in self._db.read(_SAME_SQUASH, (to_json(commits), to_json(branches)))]

    def same_blob(self, changed: Iterable[tuple[str, str | None]]) -> list[str]:
        """Branches that left one of the paths `changed` as it is now."""
        return [branch for (branch,) in self._db.read(_SAME_BLOB, (to_json(map(list, changed)),))]

    def all(self) -> list[tuple[int, str]]:
        """(anchor, commit) of every arrival."""
        return [(anchor, sha) for anchor, sha in self._db.read(_LANDINGS)]

    def land(self, tx: Transaction, pairs: Iterable[tuple[int, str]]) -> None:
        """The work of an anchor arrived at a commit."""
        tx.run_many(_LAND, pairs)

    def heads(self) -> list[str]:
        """Heads that were seen and compared, latest first."""
        return [head for (head,) in self._db.read(_HEADS)]

    def reach(self, head: str) -> Reach | None:
        """What is known to lead to `head`."""
        rows = self._db.read(_REACH, (head,))
        return Reach(head, _unpacked(rows[0][1], head), _unpacked(rows[0][2], head)) if rows else None

    def put_reach(self, tx: Transaction, reach: Reach) -> None:
        """Keep what leads to a head; the oldest of many are dropped."""
        tx.run(_PUT_REACH, (reach.head, _packed(reach.asked), _packed(reach.reached)))
        tx.run(_FEWER_HEADS, (_KEPT_HEADS,))

    def floor(self) -> str | None:
        """The commit behind which nothing was compared; empty: all was; None: nothing yet."""
        rows = self._db.read(_FLOOR)
        return rows[0][0] if rows else None

    def rivals(self, anchors: Iterable[int]) -> list[tuple[int, int]]:
        """(latest, older): active memories of one subject, at least one of them of a branch, at one of `anchors`."""
        return [(latest, older) for latest, older in self._db.read(_RIVALS, (to_json(anchors),))]

    def shadowed(self, anchors: Iterable[int]) -> frozenset[int]:
        """Active workspace memories whose subject a branch memory at one of `anchors` speaks of too."""
        return frozenset(seq for (seq,) in self._db.read(_SHADOWED, (to_json(anchors),)))

    def subjects_of(self, seqs: Iterable[int], *, reader: Reader) -> list[tuple[int, str]]:
        """(row, key of its subject) of the active memories at these rows that have one."""
        return [(seq, key) for seq, key in reader.read(_SUBJECTS, (to_json(seqs),))]

    def promote(self, tx: Transaction, seqs: Iterable[int]) -> list[tuple[int, int]]:
        """Branch memories become the workspace's; (promoted, other) where another active one speaks of the subject."""
        given = to_json(seqs)
        tx.run(_PROMOTE, (tx.generation, given))
        return [(promoted, other) for promoted, other in tx.run(_OUTDONE, (given, given))]

    def rename(self, tx: Transaction, old: str, new: str) -> None:
        """What stood on branch `old` stands on `new` from now on. What was seen of both has to be seen anew."""
        for double, kept in tx.run(_TWINS, (old, new)):
            tx.run(_MOVE_MEMORIES, (kept, double))
            tx.run(_DROP_ANCHOR, (double,))
        for statement in _RENAME:
            tx.run(statement, (old, new))
        self.forget_facts(tx, old)
        _ = tx.generation

    def forget_facts(self, tx: Transaction, branch: str) -> None:
        """Drop what was seen of `branch`; its anchors, squashes and landings stay."""
        for statement in _DROP_FACTS:
            tx.run(statement, (branch,))


def _packed(commits: Collection[str]) -> bytes:
    return b"".join(bytes.fromhex(commit) for commit in sorted(commits))


def _unpacked(blob: bytes, like: str) -> frozenset[str]:
    size = len(like) // 2
    text = blob.hex()
    return frozenset(text[start : start + 2 * size] for start in range(0, len(text), 2 * size))
