"""One server for many hosts: a process that listens, guarded by a token, until it is told to end."""

import os
import shlex
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from types import FrameType
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from starlette.types import ASGIApp

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.errors import InvalidInput
from memhub_mcp.server.app import build_server
from memhub_mcp.server.door import Door
from memhub_mcp.server.endpoints import ENDPOINTS, USUAL, Limits, Transport, endpoint
from memhub_mcp.server.guard import Guard, read_token, token_file
from memhub_mcp.server.hook_answers import HookAnswers
from memhub_mcp.server.lifetime import on_ending_signals
from memhub_mcp.service.home import prepare_home
from memhub_mcp.settings import Settings, load_settings

LAST_ANSWERS_S = 1
"""How long calls may take to be answered once the end has come."""

LONGEST_END_S = 3.0
"""How long the end may take."""


def serve_http(
    transport: Transport,
    *,
    host: str,
    port: int,
    names: tuple[str, ...] = (),
    home: str | None = None,
    workspace: str | None = None,
    build: Callable[[Door, Settings], Server[Any]] = build_server,
    limits: Limits = USUAL,
) -> None:
    """Answers hosts until the process is told to end, and ends it; where, and with which token, is said on stderr.

    `build` makes what answers behind this door.

    Raises:
        HomeError: the data directory cannot be used.
        InvalidInput: the address cannot be bound.
    """
    settings = _without_a_place(load_settings(home=home, workspace=workspace))
    notes = prepare_home(settings.home)
    token = read_token(settings.home)
    bound = _bind(host, port)
    door = Door(partial(open_hub, settings))
    guarded = Guard(
        endpoint(transport, build(door, settings), limits), token=token, names=(host, *names), address=_address(bound)
    )
    server = _server(guarded)
    on_ending_signals(server.handle_exit)  # the server takes them itself, once it runs
    _say(*_where(transport, host, bound, token_file(settings.home)), *notes)
    hooks = HookAnswers(door, settings.home)
    try:
        anyio.run(_serve, server, bound, door, hooks)
    finally:
        hooks.close()
        door.close()
    os._exit(0)  # a model that is loading or at work in a thread would take an orderly end for a crash


async def _serve(server: uvicorn.Server, bound: socket.socket, door: Door, hooks: HookAnswers) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(door.keep_house)
        tasks.start_soon(hooks.serve)
        await server.serve(sockets=[bound])
        tasks.cancel_scope.cancel()


class _Server(uvicorn.Server):
    """Ends soon after it was told to, whatever is at work: a database survives that."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ends, in order as far as the time allows."""
        if not self.should_exit:
            last = threading.Timer(LONGEST_END_S, os._exit, (0,))
            last.daemon = True
            last.start()
        super().handle_exit(sig, frame)


def _server(application: ASGIApp) -> _Server:
    config = uvicorn.Config(
        application,
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=LAST_ANSWERS_S,
        ws="none",
    )
    return _Server(config)


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


def _address(bound: socket.socket) -> str:
    return bound.getsockname()[0]


def _where(transport: Transport, host: str, bound: socket.socket, token: Path) -> tuple[str, ...]:
    """Where hosts find this server, and how one is told."""
    tail = f":{bound.getsockname()[1]}{ENDPOINTS[transport]}"
    where = f"http://{_bracketed(host)}{tail}, token in {token}"
    if sys.platform == "win32":
        return (where,)
    near = ("::1" if ":" in host else "127.0.0.1") if ip_address(_address(bound)).is_unspecified else host
    bearer = f'--header "Authorization: Bearer $(cat {shlex.quote(str(token))})"'
    return (
        where,
        f'in a repository: claude mcp add -t {transport} memhub "http://{_bracketed(near)}{tail}$PWD" {bearer}',
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _say(*lines: str) -> None:
    for line in lines:
        print(f"memhub-mcp: {line}", file=sys.stderr, flush=True)
