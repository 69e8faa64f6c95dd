"""What becomes of branch memories once the default branch has them, or a person says it should."""

from collections.abc import Collection, Sequence
from datetime import datetime

from memhub_mcp.domain.memory import Status
from memhub_mcp.errors import NotFound
from memhub_mcp.store.file import Store


def supersede_on_default(store: Store, anchors: Collection[int], now: datetime) -> int:
    """Of active memories with one subject that the default branch sees, the latest supersedes the others; how many."""
    pairs = store.landings.rivals(anchors)
    if not pairs:
        return 0
    with store.write() as tx:
        for latest, older in pairs:
            store.memories.set_status(tx, older, Status.SUPERSEDED, now)
            store.memories.link(tx, latest, older, "supersedes")
    return len(pairs)


def promote(store: Store, ids: Sequence[str], now: datetime) -> int:
    """Branch memories become the workspace's, seen from every branch; how many were not before.

    Of two on one subject the one promoted stays.

    Raises:
        NotFound: one of the ids is not here; nothing was changed.
    """
    found = store.memories.get_many(ids)
    missing = [memory_id for memory_id in ids if memory_id not in found]
    if missing:
        raise NotFound(f"no memory {missing[0]!r} in this workspace; `memhub-mcp list --branch '*'` shows all of them")
    promoted = [memory for memory in found.values() if memory.anchor is not None]
    if promoted:
        with store.write() as tx:
            older = store.landings.promote(tx, [memory.seq for memory in promoted])
            for latest, one in older:
                store.memories.set_status(tx, one, Status.SUPERSEDED, now)
                store.memories.link(tx, latest, one, "supersedes")
    return len(promoted)
