"""What a person said about capture: a level for a workspace, and the times in which nothing is recorded."""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from memhub_mcp.domain.capture import Level, Silence
from memhub_mcp.domain.scope import Workspace
from memhub_mcp.store.connection import Database, Transaction
from memhub_mcp.store.values import from_micros, maybe_micros, maybe_moment, to_json, to_micros

Reason = Literal["pause", "off"]
"""Why nothing is recorded."""

_LEVEL = "SELECT capture FROM workspace WHERE id = ?"
_SET_LEVEL = "UPDATE workspace SET capture = ? WHERE id = ?"
_SEQ = "(SELECT seq FROM workspace WHERE id = ?)"
_SILENCES = """
SELECT since, until FROM silence
WHERE kind IN (SELECT value FROM json_each(?2)) AND (
    workspace = (SELECT seq FROM workspace WHERE id = ?1)
    OR workspace IS NULL AND (SELECT capture FROM workspace WHERE id = ?1) IS NULL
)
ORDER BY since
"""
_LASTING = f"SELECT 1 FROM silence WHERE kind = ? AND workspace IS {_SEQ} AND until IS NULL"
_BEGIN = f"INSERT INTO silence (kind, workspace, since, until) VALUES (?, {_SEQ}, ?, ?)"
_END = f"""
UPDATE silence SET until = ? WHERE kind = ? AND workspace IS {_SEQ} AND (until IS NULL OR until > ?)
"""
_LEVELS = "SELECT id, capture FROM workspace WHERE capture IS NOT NULL"
_PAUSES = """
SELECT workspace.id, silence.since, silence.until FROM silence JOIN workspace ON workspace.seq = silence.workspace
WHERE silence.kind = 'pause' AND (silence.until IS NULL OR silence.until > ?)
"""
_MOVE = f"UPDATE silence SET workspace = {_SEQ} WHERE workspace = {_SEQ}"


class CaptureRules:
    """The rules of all workspaces, in the registry. Without a workspace a rule is for all that have no level."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def level(self, workspace: Workspace) -> Level | None:
        """What was said for this workspace."""
        rows = self._db.read(_LEVEL, (workspace.id,))
        return Level(rows[0][0]) if rows and rows[0][0] is not None else None

    def silences(self, workspace: Workspace, reasons: Iterable[Reason]) -> list[Silence]:
        """When nothing was to be recorded there, for these reasons, earliest first."""
        return [_silence(*row) for row in self._db.read(_SILENCES, (workspace.id, to_json(reasons)))]

    def lasts(self, workspace: Workspace | None, reason: Reason) -> bool:
        """Whether a silence goes on until somebody ends it."""
        return bool(self._db.read(_LASTING, (reason, workspace.id if workspace else None)))

    def levels(self) -> dict[str, Level]:
        """Every level that was said, by the id of its workspace."""
        return {id_: Level(level) for id_, level in self._db.read(_LEVELS)}

    def pauses(self, now: datetime) -> dict[str, Silence]:
        """The pause that ends last of every workspace that has one now, by id."""
        found: dict[str, Silence] = {}
        for id_, since, until in self._db.read(_PAUSES, (to_micros(now),)):
            pause, other = _silence(since, until), found.get(id_)
            if other is None or (other.until and (pause.until is None or pause.until > other.until)):
                found[id_] = pause
        return found

    def set_level(self, tx: Transaction, workspace: Workspace, level: Level | None) -> None:
        """Say what may be recorded in a workspace; None: as config.toml says."""
        tx.run(_SET_LEVEL, (level, workspace.id))

    def begin(
        self, tx: Transaction, workspace: Workspace | None, reason: Reason, since: datetime, until: datetime | None
    ) -> None:
        """Nothing is recorded from `since` on."""
        tx.run(_BEGIN, (reason, workspace.id if workspace else None, to_micros(since), maybe_micros(until)))

    def end(self, tx: Transaction, workspace: Workspace | None, reason: Reason, now: datetime) -> bool:
        """What was silent for this reason is so no longer; False when nothing was."""
        tx.run(_END, (to_micros(now), reason, workspace.id if workspace else None, to_micros(now)))
        return tx.changes > 0

    def take_over(self, tx: Transaction, target: Workspace, source: Workspace, now: datetime) -> None:
        """The silences of `source` hold in `target` too; they end now, for `target` has rules of its own."""
        for reason in ("pause", "off"):
            self.end(tx, source, reason, now)
        tx.run(_MOVE, (target.id, source.id))


def _silence(since: int, until: int | None) -> Silence:
    return Silence(from_micros(since), maybe_moment(until))
