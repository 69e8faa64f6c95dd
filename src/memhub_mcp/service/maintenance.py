"""What is done when nobody waits: the spool, vectors that are due, commits that arrived."""

import logging
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from memhub_mcp.capture import spool
from memhub_mcp.capture.events import edit_from_json, is_session_end, session_end_from_json
from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import MemhubError, ModelError, ReadOnlyStore
from memhub_mcp.service.briefing import Briefing
from memhub_mcp.service.edits import record_edit
from memhub_mcp.service.importing import Importing
from memhub_mcp.service.indexing import Indexing
from memhub_mcp.service.reindexing import Reindexing
from memhub_mcp.service.scope import Scope, Scopes
from memhub_mcp.service.serving import Serving

SLICE_S = 0.5  # one round of idle work: a call that arrives meanwhile waits for at most one transaction of it
EMBEDDED_A_ROUND = 32

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
    ) -> None:
        self._home = home
        self._scopes = scopes
        self._serving = serving
        self._reindexing = reindexing
        self._indexing = indexing
        self._briefing = briefing
        self._importing = importing
        self._draining = threading.Lock()
        self._ending = threading.Lock()

    def drain(self) -> int:
        """Move captured events from the spool into their stores; how many were moved.

        An entry goes away only when its event is committed; one that cannot be read is set aside.
        """
        moved = 0
        with self._draining:
            for entry in spool.pending(self._home):
                moved += self._drain_one(entry)
        return moved

    def run_once(self, caller: Caller | None = None) -> bool:
        """One short round of idle work where `caller` stands, else this process. Whether there may be more to do."""
        drained = self.drain()
        self._end_sessions()
        scope = self._scopes.resolve(caller or Caller(source="maintenance"))
        deadline = time.monotonic() + SLICE_S
        embedding = self._embed(scope, deadline)
        indexed = self._indexing.follow(scope, deadline)
        renewing = self._renew(scope, deadline)
        for store in scope.stores():
            store.write_uses()
        self._briefing.write(scope)
        return bool(drained or embedding or indexed or renewing)

    def _end_sessions(self) -> None:
        """Remember the sessions that ended: their transcripts take too long to read while somebody waits."""
        if not self._ending.acquire(blocking=False):
            return
        try:
            for entry in spool.pending(self._home):
                data = spool.read(entry)
                if data is not None and is_session_end(data):
                    self._settle(entry, data)
        finally:
            self._ending.release()

    def _drain_one(self, entry: str) -> bool:
        data = spool.read(entry)
        return data is not None and not is_session_end(data) and self._settle(entry, data)

    def _settle(self, entry: str, data: Mapping[str, object]) -> bool:
        """Whether the entry was done with; it stays when the store cannot be written now."""
        try:
            if is_session_end(data):
                self._importing.end_session(session_end_from_json(data))
            else:
                record_edit(self._scopes, edit_from_json(data))
        except (ReadOnlyStore, OSError) as error:
            log.warning("spool: %s stays: %s", Path(entry).name, error)
            return False
        except (MemhubError, ValueError) as error:
            log.warning("spool: set %s aside: %s", Path(entry).name, error)
            spool.set_aside(entry)
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
