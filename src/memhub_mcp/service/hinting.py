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
BAR, WORDS_BAR = 0.4, 0.2
"""With meaning and by words alone. 50 questions on 200 bench memories, wrapped in requests in three ways: at .4 46 to
86 % get a hint, 72 to 95 % of those the right one; by words alone at .2 2 to 54 %, 78 to 100 % right. Of 24 everyday
requests one gets a hint: "run the tests", from a memory of how they are run."""

_NAME = re.compile(r"[\w$]+(?:[./_:-]+[\w$]+)+|\b\w*[a-z]\w*[A-Z]\w*\b|\b[A-Z]+-?\d{2,}\b")


def hint(memories: Memories, caller: Caller, prompt: str) -> str | None:
    """A line for each memory that surely bears on `prompt`, None without any.

    What follows the person stays out: it may come from another workspace, and no person has confirmed it. A model that
    is not in memory is not waited for, since the hook that asks does not wait either: the next request has it.
    """
    reply = memories.recall(caller, prompt, limit=MOST_HINTS, budget_tokens=BUDGET_TOKENS, wait_s=0.0)
    names = set(_NAME.findall(prompt))
    bar = BAR if reply["mode"]["dense"] == "on" else WORDS_BAR
    told = [_line(hit) for hit in reply["hits"] if _surely_bears(hit, names, bar)]
    return "\n".join(told) or None


def _surely_bears(hit: HitReply, names: set[str], bar: float) -> bool:
    if hit["type"] != "memory" or hit.get("tier") == Tier.USER:
        return False
    return hit["score"] >= bar or any(name in hit["preview"] for name in names)


def _line(hit: HitReply) -> str:
    text = hit["preview"].removeprefix(OPENING_MARKER).removesuffix(CLOSING_MARKER)
    return f"- {hit['kind']} {hit['id']} ({hit['at'][:10]}, {hit['source']}): {' '.join(text.split())}"
