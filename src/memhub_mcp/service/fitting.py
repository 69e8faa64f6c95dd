"""Memories in full, as many as one reply may hold."""

import json
from typing import Any

from memhub_mcp.domain.replies import GetReply, MemoryReply
from memhub_mcp.retrieval.packing import FRAME_TOKENS, MAX_BUDGET_TOKENS, PREVIEW_CHARACTERS, estimate_tokens
from memhub_mcp.retrieval.previews import preview


def fit(reply: GetReply) -> GetReply:
    """`reply` within the largest budget: the first memory always whole, others as far as they fit, the rest named.

    Of what a memory was before, wordings that do not fit are shown by their beginning.
    """
    room = MAX_BUDGET_TOKENS - FRAME_TOKENS
    kept: list[MemoryReply] = []
    left_out: list[str] = []
    shortened: list[str] = []
    for memory in reply["memories"]:
        cost = _tokens({**memory, "versions": []})
        if kept and cost > room:
            left_out.append(memory["id"])
            continue
        kept.append(memory)
        room -= cost
        for version in reversed(memory.get("versions", [])):
            cost = _tokens(version)
            if cost > room:
                version["text"] = preview(version["text"], set(), PREVIEW_CHARACTERS)
                shortened.append(memory["id"])
                cost = _tokens(version)
            room -= cost
    notes = list(reply.get("notes", ()))
    if left_out:
        notes.append(f"too long for one reply, ask for them one at a time: {', '.join(left_out)}")
    for memory_id in dict.fromkeys(shortened):
        notes.append(f"wordings of {memory_id} are shortened; memhub://memories/{memory_id} holds them whole")
    return {**reply, "memories": kept, "notes": notes} if notes else reply


def _tokens(value: Any) -> int:
    return estimate_tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
