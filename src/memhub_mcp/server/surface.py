"""What this server is and offers, from surface.json. Standard library only: the fast start answers from it."""

import json
import os
from typing import Any

from memhub_mcp import __version__

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Protocol revisions that open with `initialize`, oldest first."""

STATELESS_VERSION = "2026-07-28"
"""The protocol revision whose requests each carry who asks and how."""

LIST_TTL_MS = 300_000
"""How long a host may keep a list: the lists are constants of a release."""

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
"""List method → the key of its result, which is also the key in surface.json."""

# Not pathlib: its import is a tenth of the time until the first answer.
with open(os.path.join(os.path.dirname(__file__), "surface.json"), encoding="utf-8") as _file:  # noqa: PTH118, PTH120, PTH123
    SURFACE: dict[str, Any] = json.load(_file)

NAME: str = SURFACE["server"]["name"]
TITLE: str = SURFACE["server"]["title"]
INSTRUCTIONS: str = SURFACE["server"]["instructions"]
TOOLS: dict[str, dict[str, Any]] = {tool["name"]: tool for tool in SURFACE["tools"]}

_SERVER_INFO = {"name": NAME, "title": TITLE, "version": __version__}

# No list ever changes while we run, and nothing can be subscribed to: a host that is told otherwise
# waits for a subscription before it lists the tools.
_CAPABILITIES = {
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}


def initialize_result(requested_version: str) -> dict[str, Any]:
    """The answer to `initialize`: the revision asked for when we speak it, else our newest."""
    version = requested_version if requested_version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
    return {
        "protocolVersion": version,
        "capabilities": _CAPABILITIES,
        "serverInfo": _SERVER_INFO,
        "instructions": INSTRUCTIONS,
    }


def discover_result() -> dict[str, Any]:
    """The answer to `server/discover`."""
    return _stateless(
        {
            "supportedVersions": [STATELESS_VERSION],
            "capabilities": _CAPABILITIES,
            "instructions": INSTRUCTIONS,
        }
    )


def list_result(method: str, *, stateless: bool) -> dict[str, Any]:
    """The answer to one of `LISTS`, whole, in one page."""
    result = {LISTS[method]: SURFACE[LISTS[method]]}
    return _stateless(result) if stateless else result


def _stateless(result: dict[str, Any]) -> dict[str, Any]:
    return {
        **result,
        "resultType": "complete",
        "ttlMs": LIST_TTL_MS,
        "cacheScope": "public",
        "_meta": {"io.modelcontextprotocol/serverInfo": _SERVER_INFO},
    }
