"""What is worth telling an assistant that did not ask, when the person has just said what to do.

Few things are: the bar is higher than for a question, and nothing is better than noise.
"""

import re

from memhub_mcp.capture.markers import CLOSING_MARKER, OPENING_MARKER
from memhub_mcp.domain.replies import HitReply
from memhub_mcp.domain.scope import Caller, Tier
from memhub_mcp.service.memories import Memories

BUDGET_TOKENS = 400
MOST_HINTS = 3
BAR = 0.4
"""Of 50 questions wrapped in requests .4 keeps 38 to 74 % of the hints, 65 to 92 % of them right (.3: 86 to 98 %, 64 to
88 % right); of 24 everyday requests that 200 memories say nothing about, none gets one."""

_NAME = re.compile(r"[\w$]+(?:[./_:-]+[\w$]+)+|\b\w*[a-z]\w*[A-Z]\w*\b|\b[A-Z]+-?\d{2,}\b")


def hint(memories: Memories, caller: Caller, prompt: str) -> str | None:
    """A line for each memory that surely bears on `prompt`, None without any.

    What follows the person stays out: it may come from another workspace, and no person has confirmed it.
    """
    reply = memories.recall(caller, prompt, limit=MOST_HINTS, budget_tokens=BUDGET_TOKENS)
    names = set(_NAME.findall(prompt))
    told = [_line(hit) for hit in reply["hits"] if _surely_bears(hit, names)]
    return "\n".join(told) or None


def _surely_bears(hit: HitReply, names: set[str]) -> bool:
    if hit["type"] != "memory" or hit.get("tier") == Tier.USER:
        return False
    return hit["score"] >= BAR or any(name in hit["preview"] for name in names)


def _line(hit: HitReply) -> str:
    text = hit["preview"].removeprefix(OPENING_MARKER).removesuffix(CLOSING_MARKER)
    return f"- {hit['kind']} {hit['id']} ({hit['at'][:10]}, {hit['source']}): {' '.join(text.split())}"
