"""Memories as the replies show them."""

from memhub_mcp.domain.memory import Memory
from memhub_mcp.domain.replies import MemoryReply
from memhub_mcp.retrieval.packing import moment


def describe(memory: Memory, *, full: bool = True) -> MemoryReply:
    """One memory as a reply object, empty fields left out."""
    reply = MemoryReply(
        id=memory.id,
        kind=memory.kind.value,
        tier=memory.tier.value,
        status=memory.status.value,
        version=memory.version,
        text=memory.text,
        source=memory.source,
        at=moment(memory.created_at),
    )
    if memory.updated_at != memory.created_at:
        reply["updated"] = moment(memory.updated_at)
    if memory.origin_workspace:
        reply["workspace"] = memory.origin_workspace
    if memory.subject:
        reply["subject"] = memory.subject
    if memory.branch:
        reply["branch"] = memory.branch
    if memory.commit:
        reply["commit"] = memory.commit[:12]
    if memory.files:
        reply["files"] = list(memory.files)
    if memory.symbols:
        reply["symbols"] = list(memory.symbols)
    if full and memory.search_keys:
        reply["search_keys"] = list(memory.search_keys)
    if memory.solution:
        reply["solution"] = memory.solution
    if memory.environment:
        reply["environment"] = memory.environment
    if memory.valid_until:
        reply["valid_until"] = moment(memory.valid_until)
    return reply
