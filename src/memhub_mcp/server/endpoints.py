"""What answers behind the guard: Streamable HTTP at `/mcp`, SSE at `/sse`.

The path after the endpoint, or the header Memhub-Workspace, names the workspace: `/mcp/requests` by name,
`/mcp/home/me/requests` by folder. Without either a session has the person's memories and what its roots say.
"""

import contextlib
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote

from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memhub_mcp.server.callers import WORKSPACE_IN_SCOPE
from memhub_mcp.server.guard import answer

Transport = Literal["http", "sse"]

ENDPOINTS: dict[Transport, str] = {"http": "/mcp", "sse": "/sse"}
WORKSPACE_HEADER = b"memhub-workspace"

_MESSAGES = "/messages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one server takes on."""

    body_bytes: int = 1 << 25
    """The largest request: 20 texts of 1 MiB, some characters escaped."""

    sessions: int = 256
    """How many conversations may be open at once."""

    session_idle_s: float = 1_800.0
    """After how long without a request a conversation over Streamable HTTP ends."""


USUAL = Limits()


def endpoint(transport: Transport, server: Server[Any], limits: Limits) -> ASGIApp:
    """The application that lets `server` talk over `transport`."""
    return _ending_in_form(_StreamableHttp(server, limits) if transport == "http" else _Sse(server, limits))


class _StreamableHttp:
    """`/mcp`, both protocol eras. A session ends when its host ends it, or after half an hour without a request."""

    def __init__(self, server: Server[Any], limits: Limits) -> None:
        self._sessions = StreamableHTTPSessionManager(
            server,
            session_idle_timeout=limits.session_idle_s,
            max_sessions=limits.sessions,
            max_request_body_size=limits.body_bytes,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(self._sessions.run(), receive, send)
        elif (rest := _after(ENDPOINTS["http"], scope)) is None:
            await _not_found(send)
        else:
            await self._sessions.handle_request(_with_workspace(scope, rest), receive, send)


class _Sse:
    """`/sse`, the transport of older hosts. A session ends when its stream is closed."""

    def __init__(self, server: Server[Any], limits: Limits) -> None:
        self._server = server
        self._streams = SseServerTransport(_MESSAGES, max_request_body_size=limits.body_bytes)
        self._most = limits.sessions
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(contextlib.nullcontext(), receive, send)
            return
        rest = _after(ENDPOINTS["sse"], scope)
        if rest is None:
            await _not_found(send)
        elif scope["method"] == "POST" and rest.endswith(_MESSAGES):
            scope = _with_workspace(scope, rest.removesuffix(_MESSAGES))
            await self._streams.handle_post_message(scope, receive, send)
        elif scope["method"] != "GET":
            await answer(send, 405, "open a stream with GET")
        elif self._open >= self._most:
            await answer(send, 503, "too many open sessions")
        else:
            await self._stream(scope, receive, send)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The host is told to post below the path it opened, so that each message names the workspace again.
        rooted = {**scope, "root_path": scope["path"]}
        self._open += 1
        try:
            async with self._streams.connect_sse(rooted, receive, send) as (incoming, outgoing):
                await self._server.run(incoming, outgoing, self._server.create_initialization_options())
        finally:
            self._open -= 1


def _ending_in_form(application: ASGIApp) -> ASGIApp:
    """Closes a stream that was left open, as all are when the server stops: hosts see an end, not a torn connection."""

    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        unfinished = False

        async def watch(message: Message) -> None:
            nonlocal unfinished
            unfinished = message["type"] == "http.response.start" or message.get("more_body", False)
            await send(message)

        await application(scope, receive, watch)
        if unfinished:
            await send({"type": "http.response.body"})

    return run


async def _live(running: contextlib.AbstractAsyncContextManager[None], receive: Receive, send: Send) -> None:
    """Answers the server's start and stop."""
    await receive()
    async with running:
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})


def _after(endpoint: str, scope: Scope) -> str | None:
    """What follows the endpoint in the path, None when it is another path."""
    path: str = scope["path"]
    return path.removeprefix(endpoint) if path == endpoint or path.startswith(endpoint + "/") else None


def _with_workspace(scope: Scope, rest: str) -> Scope:
    header = next((value for key, value in scope["headers"] if key == WORKSPACE_HEADER), b"")
    named = unquote(header.decode("utf-8", errors="replace")) or _workspace_in_path(rest)
    return {**scope, WORKSPACE_IN_SCOPE: named}


def _workspace_in_path(rest: str) -> str | None:
    """A name, or below that a folder: `/requests`, `/home/me/requests`, `/C:/src/requests`."""
    inner = rest.strip("/")
    if not inner:
        return None
    return "/" + inner if "/" in inner and ":" not in inner.partition("/")[0] else inner


async def _not_found(send: Send) -> None:
    await answer(send, 404, f"there is nothing here; try {' or '.join(ENDPOINTS.values())}")
