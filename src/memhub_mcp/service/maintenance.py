"""What is done when nobody waits: the spool, vectors that are due, commits that arrived."""

import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from memhub_mcp.capture import spool
from memhub_mcp.capture.events import SessionEnd, edit_from_json, is_session_end, session_end_from_json
from memhub_mcp.domain.revision import EditEvent
from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import HomeError, MemhubError, ModelError, StoreError
from memhub_mcp.hosts import hook_files
from memhub_mcp.models.lock import ProcessLock
from memhub_mcp.service.briefing import Briefing
from memhub_mcp.service.capturing import Capturing
from memhub_mcp.service.edits import FileScopes, record_edit
from memhub_mcp.service.importing import Importing
from memhub_mcp.service.indexing import Indexing
from memhub_mcp.service.reindexing import Reindexing
from memhub_mcp.service.scope import Scope, Scopes
from memhub_mcp.service.serving import Serving

SLICE_S = 0.5  # one round of idle work: a call that arrives meanwhile waits for at most one transaction of it
EMBEDDED_A_ROUND = 32
WHILE_WAITING_S, WHILE_WAITING_BYTES = 0.1, 512 << 10
"""What a reader spends on sessions that ended, and the longest of them it begins with: 10 MB take a second."""

_Entry = tuple[str, Mapping[str, object]]
_Ended = tuple[str, SessionEnd]

log = logging.getLogger(__name__)


class Maintenance:
    """Idle work of one data directory. Safe to call from several threads; the spool is drained by one at a time."""

    def __init__(
        self,
        *,
        home: Path,
        scopes: Scopes,
        serving: Serving,
        reindexing: Reindexing,
        indexing: Indexing,
        briefing: Briefing,
        importing: Importing,
        capturing: Capturing,
    ) -> None:
        self._home = home
        self._scopes = scopes
        self._serving = serving
        self._reindexing = reindexing
        self._indexing = indexing
        self._briefing = briefing
        self._importing = importing
        self._capturing = capturing
        self._draining = threading.Lock()

    def drain(self) -> int:
        """Move captured events from the spool into their stores, for somebody who waits; how many were moved.

        An entry goes away only when its event is committed; one that cannot be understood is set aside. Of sessions
        that ended those with a short transcript are settled too, in little time.
        """
        moved, ended = self._take_in()
        self._settle_sessions(ended, time.monotonic() + WHILE_WAITING_S, WHILE_WAITING_BYTES)
        return moved

    def end_sessions(self) -> int:
        """As `drain`, but remember every session that ended, however long it takes."""
        moved, ended = self._take_in()
        self._settle_sessions(ended)
        return moved

    def sessions_wait(self) -> bool:
        """Whether sessions that ended are still to be remembered."""
        return any(is_session_end(data) for _, data in self._pending())

    def run_once(self, caller: Caller | None = None) -> bool:
        """One short round of idle work where `caller` stands, else this process. Whether there may be more to do."""
        drained = self.end_sessions()
        scope = self._scopes.resolve(caller or Caller(source="maintenance"))
        deadline = time.monotonic() + SLICE_S
        embedding = self._embed(scope, deadline)
        indexed = self._indexing.follow(scope, deadline)
        renewing = self._renew(scope, deadline)
        for store in scope.stores():
            store.write_uses()
        self._briefing.write(scope)
        return bool(drained or embedding or indexed or renewing)

    def brief(self, caller: Caller) -> None:
        """Write down what the next session begins with where `caller` stands."""
        self._briefing.write(self._scopes.resolve(caller))

    def _take_in(self) -> tuple[int, list[_Ended]]:
        """How many edits were moved, and which sessions ended: those are told from their edits."""
        self._publish_rules()
        with self._draining:
            return self._drain_edits()

    def _publish_rules(self) -> None:
        try:
            self._capturing.publish()
        except (StoreError, OSError) as error:
            log.warning("hooks go by earlier capture rules: %s", error)

    def _pending(self) -> Iterator[_Entry]:
        for entry in spool.pending(self._home):
            data = spool.read(entry)
            if data is not None:
                yield entry, data

    def _drain_edits(self) -> tuple[int, list[_Ended]]:
        """How many edits were moved, and which sessions ended. Where a store refuses one edit, the others wait too."""
        moved = 0
        ended: list[_Ended] = []
        refusing: set[str] = set()
        scopes = _OneRound(self._scopes)
        for entry, data in self._pending():
            event = _understood(entry, data)
            if isinstance(event, SessionEnd):
                ended.append((entry, event))
            elif event is not None and not (refusing and _repository_of(event) in refusing):
                settled = self._settle(entry, event, scopes)
                moved += bool(settled)
                if settled is None:
                    refusing.add(_repository_of(event))
        return moved, ended

    def _settle_sessions(
        self, ended: list[_Ended], deadline: float | None = None, largest_bytes: int | None = None
    ) -> None:
        """Remember these sessions, which one process at a time does; others come back for the rest."""
        if not ended:
            return
        try:
            lock = ProcessLock.try_acquire(self._home / "run" / "sessions.lock")
        except HomeError as error:
            log.warning("sessions that ended wait: %s", error)
            return
        if lock is None:
            return
        try:
            latest = {end: entry for entry, end in ended}
            for entry, end in ended:
                if deadline is not None and time.monotonic() > deadline:
                    break
                if latest[end] != entry:
                    spool.remove(entry)  # it was compacted, and more happened since: told by the later entry
                elif largest_bytes is None or _transcript_bytes(end) <= largest_bytes:
                    self._settle(entry, end, self._scopes)
        finally:
            lock.release()

    def _settle(self, entry: str, event: EditEvent | SessionEnd, scopes: FileScopes) -> bool | None:
        """Whether the event was taken in. None when it stays, because its store cannot be read or written now."""
        try:
            if isinstance(event, SessionEnd):
                scope = self._importing.end_session(event)
                if scope is not None:
                    self._briefing.write(scope)
            else:
                record_edit(scopes, self._capturing, event)
        except (StoreError, OSError) as error:
            log.warning("spool: %s stays: %s", Path(entry).name, error)
            return None
        except (MemhubError, ValueError) as error:
            _set_aside(entry, error)
            return False
        spool.remove(entry)
        return True

    def _embed(self, scope: Scope, deadline: float) -> bool:
        """Whether vectors are still due, and there is a model for them."""
        more = False
        for store in scope.stores():
            try:
                more |= self._serving.work(store, most=EMBEDDED_A_ROUND, deadline=deadline)
            except ModelError as error:
                log.warning("embedding: %s", error)
        return more

    def _renew(self, scope: Scope, deadline: float) -> bool:
        """Whether rows are still to be made anew, by the rules of today or because somebody asked for it."""
        more = False
        for store in scope.stores():
            try:
                more |= self._reindexing.refresh(store, deadline)
            except ModelError as error:
                log.warning("reindexing: %s", error)
        return more


def _understood(entry: str, data: Mapping[str, object]) -> EditEvent | SessionEnd | None:
    """The event in a spool entry. None when it is none: then it is set aside."""
    try:
        return session_end_from_json(data) if is_session_end(data) else edit_from_json(data)
    except ValueError as error:
        _set_aside(entry, error)
        return None


def _set_aside(entry: str, error: Exception) -> None:
    log.warning("spool: set %s aside: %s", Path(entry).name, error)
    spool.set_aside(entry)


class _OneRound:
    """Scopes of files, found once for each repository: a thousand events of one checkout ask for the same."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._known: dict[str, Scope | None] = {}

    def of_file(self, file: Path) -> Scope | None:
        root = hook_files.root_of(str(file.parent))
        if root is None:
            return self._scopes.of_file(file)
        if root not in self._known:
            self._known[root] = self._scopes.of_file(file)
        return self._known[root]


def _repository_of(event: EditEvent) -> str:
    """The root of the repository of the edited file; its folder when there is none."""
    folder = os.path.dirname(os.path.join(event.cwd or os.sep, event.path))  # noqa: PTH118, PTH120 - as hooks do it
    return hook_files.root_of(folder) or folder


def _transcript_bytes(end: SessionEnd) -> int:
    """How much is to be read: the transcript, and those of the sub-agents that Claude Code keeps beside it."""
    if end.transcript is None:
        return 0
    file = Path(end.transcript)
    try:
        return sum(part.stat().st_size for part in (file, *file.with_suffix("").glob("subagents/*.jsonl")))
    except (OSError, ValueError):
        return 0
