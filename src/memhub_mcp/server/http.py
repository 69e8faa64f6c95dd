"""One server for many hosts: Streamable HTTP or SSE, guarded by a token.

The path after the endpoint, or the header Memhub-Workspace, names the workspace: `/mcp/requests` by name,
`/mcp/home/me/requests` by folder. Without either a session has the person's memories and what its roots say.
"""

import contextlib
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any, Literal
from urllib.parse import unquote

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp, Receive, Scope, Send

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.errors import InvalidInput
from memhub_mcp.server.app import build_server
from memhub_mcp.server.callers import WORKSPACE_IN_SCOPE
from memhub_mcp.server.door import Door
from memhub_mcp.server.guard import Guard, answer, read_token
from memhub_mcp.service.home import prepare_home
from memhub_mcp.settings import Settings, load_settings

Transport = Literal["http", "sse"]

ENDPOINTS: dict[Transport, str] = {"http": "/mcp", "sse": "/sse"}
WORKSPACE_HEADER = b"memhub-workspace"
MAX_BODY_BYTES = 1 << 25
"""The largest request: 20 texts of 1 MiB, some characters escaped."""

SESSION_IDLE_S = 1_800.0
MAX_SESSIONS = 256
LAST_ANSWERS_S = 1

_MESSAGES = "/messages"


def serve_http(
    transport: Transport,
    *,
    host: str,
    port: int,
    names: tuple[str, ...] = (),
    home: str | None = None,
    workspace: str | None = None,
    build: Callable[[Door, Settings], Server[Any]] = build_server,
) -> None:
    """Answers hosts until the process is told to end; where, and with which token, is said on stderr.

    `build` makes what answers behind this door.

    Raises:
        HomeError: the data directory cannot be used.
        InvalidInput: the address cannot be bound.
    """
    settings = _without_a_place(load_settings(home=home, workspace=workspace))
    prepare_home(settings.home)
    token = read_token(settings.home)
    bound = _bind(host, port)
    door = Door(partial(open_hub, settings))
    application = Guard(_application(transport, build(door, settings)), token=token, bound_to=host, names=names)
    where = f"{_url(bound, host)}{ENDPOINTS[transport]}"
    print(f"memhub-mcp: {where}, token in {settings.home / 'run' / 'token'}", file=sys.stderr, flush=True)
    for name in ("SIGTERM", "SIGINT"):  # uvicorn ends on them, then raises them again
        signal.signal(getattr(signal, name), _already_ending)
    try:
        anyio.run(_serve, application, bound, door)
    finally:
        door.close()


async def _serve(application: ASGIApp, bound: socket.socket, door: Door) -> None:
    server = uvicorn.Server(
        uvicorn.Config(
            application,
            access_log=False,
            log_level="warning",
            timeout_graceful_shutdown=LAST_ANSWERS_S,
            server_header=False,
        )
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(door.keep_house)
        await server.serve(sockets=[bound])
        tasks.cancel_scope.cancel()


def _application(transport: Transport, server: Server[Any]) -> ASGIApp:
    return _StreamableHttp(server) if transport == "http" else _Sse(server)


class _StreamableHttp:
    """`/mcp`, both protocol eras. A session ends when its host ends it, or after half an hour without a request."""

    def __init__(self, server: Server[Any]) -> None:
        self._sessions = StreamableHTTPSessionManager(
            server,
            session_idle_timeout=SESSION_IDLE_S,
            max_sessions=MAX_SESSIONS,
            max_request_body_size=MAX_BODY_BYTES,
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

    def __init__(self, server: Server[Any]) -> None:
        self._server = server
        self._streams = SseServerTransport(_MESSAGES, max_request_body_size=MAX_BODY_BYTES)
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
        elif self._open >= MAX_SESSIONS:
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
    named = unquote(header.decode("utf-8", errors="replace")).strip() or _workspace_in_path(rest)
    return {**scope, WORKSPACE_IN_SCOPE: named}


def _workspace_in_path(rest: str) -> str | None:
    """A name, or below that a folder: `/requests`, `/home/me/requests`, `/C:/src/requests`."""
    inner = rest.strip("/")
    if not inner:
        return None
    return "/" + inner if "/" in inner and ":" not in inner.partition("/")[0] else inner


def _without_a_place(settings: Settings) -> Settings:
    """Where this process stands, and who started it, says nothing about the hosts it serves."""
    return replace(settings, project_dir=None, host_session=None, installed_workspace=None, cwd=settings.person_home)


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise InvalidInput(
            f"{host} port {port} cannot be used ({error}); choose another with --host or --port"
        ) from error


def _url(bound: socket.socket, host: str) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{bound.getsockname()[1]}"


def _already_ending(_number: int, _frame: FrameType | None) -> None:
    """A signal that was obeyed needs no traceback."""


async def _not_found(send: Send) -> None:
    await answer(send, 404, f"there is nothing here; try {' or '.join(ENDPOINTS.values())}")
