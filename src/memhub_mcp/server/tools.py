"""The seven tools: arguments in, a use case in a worker thread, a compact reply out."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import MemhubError
from memhub_mcp.server.callers import Callers, Context
from memhub_mcp.server.door import Door
from memhub_mcp.server.lenient import read_arguments
from memhub_mcp.server.surface import TOOLS
from memhub_mcp.service.drafts import read_moment
from memhub_mcp.service.fitting import fit
from memhub_mcp.service.hub import Hub

Arguments = dict[str, Any]
Reply = Mapping[str, Any]


def _recall(hub: Hub, caller: Caller, given: Arguments) -> Reply:
    for name in ("since", "until"):
        given[name] = read_moment(given.get(name), name)
    return hub.memories.recall(caller, given.pop("query"), **given)


def _remember(hub: Hub, caller: Caller, given: Arguments) -> Reply:
    return hub.memories.remember(caller, given.pop("memories"), **given)


def _code_history(hub: Hub, caller: Caller, given: Arguments) -> Reply:
    return hub.history.code_history(caller, **given)


def _get_memories(hub: Hub, caller: Caller, given: Arguments) -> Reply:
    return fit(hub.memories.get(caller, given["ids"]))


def _update_memory(hub: Hub, caller: Caller, given: Arguments) -> Reply:
    return hub.memories.update(caller, given.pop("id"), **given)


def _forget(hub: Hub, caller: Caller, given: Arguments) -> Reply:
    return hub.memories.forget(caller, given["ids"], confirm=given.get("confirm", False))


def _memory_status(hub: Hub, caller: Caller, given: Arguments) -> Reply:
    return hub.memories.status(caller)


_RUN: Mapping[str, Callable[[Hub, Caller, Arguments], Reply]] = {
    "recall": _recall,
    "remember": _remember,
    "code_history": _code_history,
    "get_memories": _get_memories,
    "update_memory": _update_memory,
    "forget": _forget,
    "memory_status": _memory_status,
}

_WITHOUT = {"recall": {"query": ""}}
"""What is meant when a required argument is missing and nothing is lost by going on."""


class Tools:
    """Lists and calls the tools of surface.json."""

    def __init__(self, door: Door, callers: Callers) -> None:
        self._door = door
        self._callers = callers
        self._listed = types.ListToolsResult.model_validate({"tools": list(TOOLS.values())})

    async def list(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """All tools, in the order of the surface, in one page."""
        return self._listed

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """The reply of one tool; what cannot be done is told in a sentence the model can act on.

        Raises:
            MCPError: there is no such tool.
        """
        if params.name not in TOOLS:
            known = ", ".join(TOOLS)
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool: {params.name}; there are {known}")
        try:
            arguments, notes = read_arguments(
                TOOLS[params.name]["inputSchema"], params.arguments or {}, _WITHOUT.get(params.name)
            )
            caller = await self._callers.caller(ctx, arguments)
            arguments.pop("workspace", None)
            reply = await self._door.run(caller, partial(_answer, params.name, arguments))
        except MemhubError as error:
            return types.CallToolResult(content=[_text(str(error))], is_error=True)
        if notes:
            reply = {**reply, "notes": [*reply.get("notes", ()), *notes]}
        return types.CallToolResult(content=[_text(compact(reply))], structured_content=dict(reply))


def _answer(name: str, arguments: Arguments, hub: Hub, caller: Caller) -> Reply:
    return _RUN[name](hub, caller, arguments)


def compact(value: object) -> str:
    """JSON without a wasted character, as hosts show it to the model."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)
