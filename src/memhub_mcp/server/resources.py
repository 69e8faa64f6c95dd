"""What a host can read without calling a tool."""

from collections.abc import Callable
from functools import partial
from urllib.parse import unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memhub_mcp.capture.markers import fence
from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import InvalidInput, MemhubError, NotFound
from memhub_mcp.server.callers import Callers, Context
from memhub_mcp.server.door import Door
from memhub_mcp.server.surface import SURFACE
from memhub_mcp.server.tools import compact
from memhub_mcp.service.hub import Hub
from memhub_mcp.service.models import ModelShelf

_MEMORY = "memhub://memories/"
_HISTORY = "memhub://history/"
_KNOWN = (
    *(resource["uri"] for resource in SURFACE["resources"]),
    *(template["uriTemplate"] for template in SURFACE["resourceTemplates"]),
)
_NOT_FOUND_BEFORE_2026 = -32002
_SHOWN = 80  # characters of what was asked for that an error repeats


class Resources:
    """Lists and reads the resources of surface.json."""

    def __init__(self, door: Door, callers: Callers) -> None:
        self._door = door
        self._callers = callers
        self._listed = types.ListResourcesResult.model_validate({"resources": SURFACE["resources"]})
        self._templates = types.ListResourceTemplatesResult.model_validate(
            {"resourceTemplates": SURFACE["resourceTemplates"]}
        )

    async def list(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        """The resources with a fixed address."""
        return self._listed

    async def templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """The addresses with a part to fill in."""
        return self._templates

    async def read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """One resource, read now.

        Raises:
            MCPError: no such resource, or why it cannot be read.
        """
        uri = str(params.uri)
        try:
            reader = _reader(uri)
            caller = await self._callers.caller(ctx, {})
            mime_type, text = await self._door.run(caller, reader)
        except NotFound as error:
            raise _not_found(ctx, uri, str(error)) from None
        except InvalidInput as error:
            raise MCPError(code=types.INVALID_PARAMS, message=str(error), data={"uri": uri}) from error
        except MemhubError as error:
            raise MCPError(code=types.INTERNAL_ERROR, message=str(error)) from error
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=params.uri, mime_type=mime_type, text=text)]
        )


def _reader(uri: str) -> Callable[[Hub, Caller], tuple[str, str]]:
    if uri == "memhub://status":
        return _status
    if uri == "memhub://workspace":
        return _workspace
    if uri == "memhub://models":
        return _models
    if uri.startswith(_MEMORY):
        return partial(_memory, unquote(uri.removeprefix(_MEMORY)))
    if uri.startswith(_HISTORY):
        path = unquote(uri.removeprefix(_HISTORY))
        if not _is_inside(path):
            raise NotFound(f"{path[:_SHOWN]!r} is no path inside the repository, such as src/app.py")
        return partial(_history, path)
    raise NotFound(f"there are {', '.join(_KNOWN)}")


def _is_inside(path: str) -> bool:
    """Whether a path can only lead into the repository. What it names there is the service's to find."""
    parts = path.replace("\\", "/").split("/")
    return not ({"", ".", ".."} & set(parts) or ":" in parts[0])


def _status(hub: Hub, caller: Caller) -> tuple[str, str]:
    return "application/json", compact(hub.memories.status(caller))


def _workspace(hub: Hub, caller: Caller) -> tuple[str, str]:
    return "text/markdown", fence(hub.memories.digest(caller))


def _models(hub: Hub, caller: Caller) -> tuple[str, str]:
    return "application/json", compact(ModelShelf(hub.settings).list())


def _memory(memory_id: str, hub: Hub, caller: Caller) -> tuple[str, str]:
    reply = hub.memories.get(caller, [memory_id])
    if not reply["memories"]:
        raise NotFound(f"no memory {memory_id[:_SHOWN]!r} here; recall names the ids")
    return "application/json", compact(reply["memories"][0])


def _history(path: str, hub: Hub, caller: Caller) -> tuple[str, str]:
    return "application/json", compact(hub.history.code_history(caller, path=path))


def _not_found(ctx: Context, uri: str, why: str) -> MCPError:
    modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    code = types.INVALID_PARAMS if modern else _NOT_FOUND_BEFORE_2026
    return MCPError(code=code, message=f"Resource not found: {why}", data={"uri": uri})
