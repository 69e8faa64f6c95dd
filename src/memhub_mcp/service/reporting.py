"""What memhub says about itself: scope, counts, modes, health."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memhub_mcp import __version__
from memhub_mcp.capture import spool
from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.memory import Filter
from memhub_mcp.domain.replies import ModeReply, StatusReply
from memhub_mcp.models.load import Models
from memhub_mcp.retrieval.packing import moment
from memhub_mcp.service.capturing import Capturing
from memhub_mcp.service.scope import Scope
from memhub_mcp.service.serving import Serving
from memhub_mcp.store.library import has_sqlite_vec

_READINESS = ("ready", "idle", "loading", "off")


@dataclass(frozen=True, slots=True)
class Reporting:
    """Describes a scope. `home` is the data directory; `tightened` is what was made private at the start."""

    home: Path
    models: Models
    serving: Serving
    capturing: Capturing
    clock: Clock
    tightened: tuple[str, ...] = ()

    def status(self, scope: Scope) -> StatusReply:
        """Scope, counts, modes and health."""
        reply = StatusReply(
            version=__version__,
            home=str(self.home),
            scope=scope.reply(),
            counts=self._counts(scope),
            mode=self._mode(scope),
            health=self._health(scope),
        )
        if scope.workspace is not None:
            capture = self.capturing.of(scope.workspace)
            reply["capture"] = capture.state
            if capture.paused_until is not None:
                reply["paused_until"] = moment(capture.paused_until)
        switches = [switch for store in scope.stores() if (switch := self.serving.switch(store)) is not None]
        if switches:
            reply["switches"] = switches
        if scope.notes:
            reply["notes"] = list(scope.notes)
        return reply

    def _counts(self, scope: Scope) -> dict[str, Any]:
        counts: dict[str, Any] = {"user": scope.user.memories.count(Filter())}
        waiting = scope.user.confirmations.count_waiting(self.clock())
        if waiting:
            counts["unconfirmed"] = waiting
        store = scope.store
        if store is not None:
            kinds = store.memories.counts_by_kind(Filter(anchors=scope.anchors()))
            counts["workspace"] = {kind.value: number for kind, number in sorted(kinds.items())}
            counts["commits"] = store.commits.count()
        counts["to_embed"] = sum(map(self.serving.waiting, scope.stores()))
        return counts

    def _mode(self, scope: Scope) -> ModeReply:
        spaces = {space.name for store in scope.stores() if (space := store.vectors.active_space()) is not None}
        doors = [self.serving.door_of(space) for space in sorted(spaces)] or [self.models.embedder]
        worst = max(doors, key=lambda door: _READINESS.index(door.state()))
        mode = ModeReply(dense=worst.state(), rerank=self.models.reranker.state())
        why = worst.why()
        if why:
            mode["why"] = why
        return mode

    def _health(self, scope: Scope) -> list[str]:
        found = list(self.tightened)
        for store in scope.stores():
            found += [f"{store.workspace.name}: {warning}" for warning in store.db.warnings]
            if store.read_only:
                found.append(f"{store.workspace.name} is read-only: recall works, nothing can be stored")
        broken = len(spool.broken(self.home))
        if broken:
            found.append(f"{broken} captured events could not be read and were set aside in {self.home / 'spool'}")
        if not has_sqlite_vec():
            found.append("sqlite-vec does not load here: vectors are compared in numpy")
        return found
