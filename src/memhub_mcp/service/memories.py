"""The use cases around memories: remember, recall, get, update, forget, list, status, digest."""

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.hit import MemoryHit
from memhub_mcp.domain.replies import (
    ConfirmReply,
    ForgetReply,
    GetReply,
    RecallReply,
    RememberReply,
    StatusReply,
    UpdateReply,
    WaitingReply,
)
from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import InvalidInput, ScopeError
from memhub_mcp.service import changing, confirming, forgetting, promotion, remembering
from memhub_mcp.service.briefing import Briefing
from memhub_mcp.service.digest import as_text, digest
from memhub_mcp.service.indexing import Indexing
from memhub_mcp.service.maintenance import Maintenance
from memhub_mcp.service.reading import Question, Reading
from memhub_mcp.service.reflecting import onboarding
from memhub_mcp.service.reporting import Reporting
from memhub_mcp.service.scope import Scope, Scopes
from memhub_mcp.store.file import Store

MAX_IDS = 20


class Memories:
    """What a person or an assistant can do with memories. Safe to call from several threads."""

    def __init__(
        self,
        *,
        scopes: Scopes,
        reading: Reading,
        reporting: Reporting,
        briefing: Briefing,
        maintenance: Maintenance,
        indexing: Indexing,
        clock: Clock,
    ) -> None:
        self._scopes = scopes
        self._reading = reading
        self._reporting = reporting
        self._briefing = briefing
        self._maintenance = maintenance
        self._indexing = indexing
        self._clock = clock

    def remember(
        self,
        caller: Caller,
        memories: Sequence[Mapping[str, Any]],
        *,
        session: Mapping[str, Any] | None = None,
        operation_key: str | None = None,
    ) -> RememberReply:
        """Store 1 to 20 memories; see `service.remembering`."""
        named = tuple(path for memory in memories for path in _paths(memory.get("files")))
        scope = self._scopes.resolve(_with_paths(caller, named))
        reply = remembering.remember(
            scope, caller, memories, session=session, operation_key=operation_key, clock=self._clock
        )
        superseding = [result["id"] for result in reply["results"] if result["status"] == "superseded"]
        if superseding:
            self._briefing.rewrite(scope, _holding(scope, superseding))
        return reply

    def recall(self, caller: Caller, query: str, **asked: Any) -> RecallReply:
        """What bears on `query`; keyword arguments are the fields of `service.reading.Question`."""
        self._maintenance.drain()
        question = Question(query=query, **asked)
        scope = self._scopes.resolve(_with_paths(caller, _paths(question.files)))
        self._indexing.catch_up(scope)
        return self._reading.recall(scope, question)

    def bearing(self, caller: Caller, text: str) -> builtins.list[MemoryHit]:
        """What may bear on `text`, said to an assistant that did not ask: in milliseconds, and without a trace."""
        return self._reading.bearing(self._scopes.resolve(caller), text)

    def ranked(self, caller: Caller, query: str, limit: int) -> builtins.list[str]:
        """The ids of what is nearest to `query`, relevant or not, to measure the order; see `recall`."""
        return self._reading.ranked(self._scopes.resolve(caller), Question(query=query, limit=limit))

    def list(self, caller: Caller, **asked: Any) -> RecallReply:
        """What is stored, newest first, a page at a time."""
        return self.recall(caller, "", **asked)

    def get(self, caller: Caller, ids: Sequence[str]) -> GetReply:
        """Memories in full, in the order asked for.

        Raises:
            InvalidInput: no ids, or too many.
        """
        if not ids or len(ids) > MAX_IDS:
            raise InvalidInput(f"{len(ids)} ids; name 1 to {MAX_IDS}")
        return self._reading.get(self._scopes.resolve(caller), ids)

    def update(
        self,
        caller: Caller,
        id: str,
        *,
        text: str | None = None,
        status: str | None = None,
        feedback: str | None = None,
        if_version: int | None = None,
    ) -> UpdateReply:
        """A new version, an undo, or a judgement; see `service.changing`."""
        scope = self._scopes.resolve(caller)
        reply = changing.update(
            scope,
            caller,
            id,
            text=text,
            status=status,
            feedback=feedback,
            if_version=if_version,
            clock=self._clock,
        )
        self._briefing.rewrite(scope, _holding(scope, [id]))
        return reply

    def promote(self, caller: Caller, ids: Sequence[str]) -> int:
        """How many memories of a branch now hold for the whole workspace; see `service.promotion`.

        Raises:
            ScopeError: there is no repository here.
        """
        scope = self._scopes.resolve(caller)
        if scope.store is None:
            raise ScopeError("there is no repository here; stand in one or name it with --workspace")
        promoted = promotion.promote(scope.store, ids, self._clock())
        self._briefing.rewrite(scope, [scope.store])
        return promoted

    def forget(self, caller: Caller, ids: Sequence[str], *, confirm: bool = False) -> ForgetReply:
        """Erase memories, edits and commits for good, after a dry run; see `service.forgetting`."""
        self._maintenance.drain()
        scope = self._scopes.resolve(caller)
        holding = _holding(scope, ids)
        reply = forgetting.forget(scope, ids, confirm=confirm)
        if confirm:
            self._briefing.erase(scope, holding)
        return reply

    def waiting(self, caller: Caller) -> WaitingReply:
        """What follows the person and waits for their word; see `service.confirming`."""
        return confirming.waiting(self._scopes.resolve(caller), self._clock)

    def confirm(self, caller: Caller, versions: Mapping[str, int]) -> ConfirmReply:
        """The person stands by memories, each in the version shown; see `service.confirming`. No tool calls this."""
        scope = self._scopes.resolve(caller)
        reply = confirming.confirm(scope, caller, versions, self._clock)
        self._briefing.write(scope)
        return reply

    def status(self, caller: Caller) -> StatusReply:
        """Where the caller stands, what is stored, what works."""
        self._maintenance.drain()
        return self._reporting.status(self._scopes.resolve(caller))

    def digest(self, caller: Caller) -> str:
        """A short text about the workspace, for the start of a session."""
        return as_text(digest(self._scopes.resolve(caller), self._clock()))

    def onboarding(self, caller: Caller) -> str:
        """What is known of the workspace before it is surveyed; see `service.reflecting`."""
        self._maintenance.drain()
        scope = self._scopes.resolve(caller)
        self._indexing.catch_up(scope, begin=True)
        return onboarding(scope, self._clock())

    def reflection(self, caller: Caller, about: str | None = None) -> str:
        """The memories that deserve a second look; see `service.reflecting`."""
        self._maintenance.drain()
        return self._reading.reflection(self._scopes.resolve(caller), about)


def _holding(scope: Scope, ids: Sequence[str]) -> builtins.list[Store]:
    """The stores of this scope that hold any of these: edits and commits are always the workspace's."""
    return [store for store in scope.stores() if store is scope.store or store.memories.get_many(ids)]


def _paths(files: object) -> tuple[str, ...]:
    return tuple(item for item in files if isinstance(item, str)) if isinstance(files, list | tuple) else ()


def _with_paths(caller: Caller, named: tuple[str, ...]) -> Caller:
    # Absolute paths among the arguments say which checkout a call is about.
    return replace(caller, paths=(*caller.paths, *named)) if named else caller
