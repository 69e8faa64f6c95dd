"""The MCP server: surface.json answered by handlers over one hub."""

from typing import Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server

from memhub_mcp import __version__
from memhub_mcp.server.callers import Callers
from memhub_mcp.server.door import Door
from memhub_mcp.server.prompts import Prompts
from memhub_mcp.server.resources import Resources
from memhub_mcp.server.surface import INSTRUCTIONS, LIST_TTL_MS, NAME, TITLE
from memhub_mcp.server.tools import Tools
from memhub_mcp.settings import Settings

_CONSTANT = CacheHint(ttl_ms=LIST_TTL_MS, scope="public")


def build_server(door: Door, settings: Settings) -> Server[Any]:
    """A server for any transport and both protocol eras.

    Nothing can be subscribed to: a host that is told otherwise waits for a subscription before it lists the tools.
    """
    callers = Callers(settings)
    tools, resources, prompts = Tools(door, callers), Resources(door, callers), Prompts(door, callers)
    server = Server[Any](
        NAME,
        version=__version__,
        title=TITLE,
        instructions=INSTRUCTIONS,
        cache_hints={
            "server/discover": _CONSTANT,
            "tools/list": _CONSTANT,
            "resources/list": _CONSTANT,
            "resources/templates/list": _CONSTANT,
            "prompts/list": _CONSTANT,
        },
        on_list_tools=tools.list,
        on_call_tool=tools.call,
        on_list_resources=resources.list,
        on_list_resource_templates=resources.templates,
        on_read_resource=resources.read,
        on_list_prompts=prompts.list,
        on_get_prompt=prompts.get,
    )
    server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, callers.forget_roots)
    return server
