"""What becomes of branch memories once the default branch has them, or a person says it should."""

from collections.abc import Collection
from datetime import datetime

from memhub_mcp.domain.memory import Status
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
