"""What follows the person is told unasked in other workspaces only once the person stands by it.

Whoever writes it at a terminal does; what a tool wrote waits for `memhub-mcp confirm`. No tool confirms.
"""

from collections.abc import Mapping
from datetime import datetime

from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.memory import Memory
from memhub_mcp.domain.replies import ConfirmReply, WaitingReply
from memhub_mcp.domain.scope import Caller, Tier
from memhub_mcp.errors import Conflict, InvalidInput, NotFound
from memhub_mcp.service.describing import describe
from memhub_mcp.service.scope import Scope
from memhub_mcp.store.connection import Transaction
from memhub_mcp.store.file import Store

MOST_SHOWN = 50


def note_author(store: Store, tx: Transaction, memory: Memory, caller: Caller, now: datetime) -> None:
    """A memory that a person typed needs no other word of theirs."""
    if caller.is_person and memory.tier is Tier.USER:
        store.confirmations.confirm(tx, [memory], caller.source, now)


def waiting(scope: Scope, clock: Clock) -> WaitingReply:
    """What nobody confirmed yet, newest first, and how many more there are."""
    now = clock()
    seqs = scope.user.confirmations.waiting(now, MOST_SHOWN)
    found = scope.user.memories.by_seqs(seqs)
    more = scope.user.confirmations.count_waiting(now) - len(seqs)
    return WaitingReply(memories=[describe(found[seq]) for seq in seqs if seq in found], more=max(0, more))


def confirm(scope: Scope, caller: Caller, versions: Mapping[str, int], clock: Clock) -> ConfirmReply:
    """The person stands by these memories, each in the version that was shown to them.

    Raises:
        InvalidInput: no ids, or a memory that belongs to a workspace; nothing was confirmed.
        NotFound: one of them is not here.
        Conflict: one of them was changed after it was shown.
    """
    if not versions:
        raise InvalidInput("no ids; `memhub-mcp confirm` shows what waits")
    with scope.user.write() as tx:
        found = scope.user.memories.get_many(versions, reader=tx)
        for memory_id, version in versions.items():
            memory = found.get(memory_id)
            if memory is None:
                raise _not_there(scope, memory_id)
            if memory.tier is not Tier.USER:
                raise InvalidInput(f"{memory_id} does not follow you elsewhere; there is nothing to confirm")
            if memory.version != version:
                raise Conflict(f"{memory_id} was changed meanwhile; look at it again first")
        scope.user.confirmations.confirm(tx, list(found.values()), caller.source, clock())
    return ConfirmReply(confirmed=list(versions))


def _not_there(scope: Scope, memory_id: str) -> NotFound | InvalidInput:
    if scope.store is not None and scope.store.memories.get(memory_id) is not None:
        return InvalidInput(
            f"{memory_id} belongs to this repository and is told here only; there is nothing to confirm"
        )
    return NotFound(f"no memory {memory_id[:40]!r} follows you; `memhub-mcp confirm` shows what waits")
