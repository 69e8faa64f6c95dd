"""The SDK behind a transport: streams in, streams out, one hub."""

import math
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
import mcp_types as types
from anyio import to_thread
from anyio.abc import TaskStatus
from anyio.from_thread import BlockingPortal
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.errors import MemhubError
from memhub_mcp.server.app import build_server
from memhub_mcp.server.door import Door
from memhub_mcp.server.exchange import INVALID_REQUEST, Exchange, Message, error_answer, kind_of
from memhub_mcp.server.hook_answers import HookAnswers
from memhub_mcp.server.lifetime import Lifetime
from memhub_mcp.server.prelude import Prelude
from memhub_mcp.settings import Settings, load_settings, standing_in


def serve_wire(
    exchange: Exchange, prelude: Prelude, lifetime: Lifetime, home: str | None, workspace: str | None
) -> None:
    """Takes a conversation over from the prelude and leads it until the process ends."""
    load = partial(load_settings, home=home, workspace=workspace)
    door = Door(lambda: open_hub(load()))
    lifetime.close_with(door.close)
    hooks: HookAnswers | None = None
    try:
        settings = load()
        hooks = HookAnswers(door, settings.home)
        lifetime.close_with(partial(_close, door, hooks))
    except MemhubError:  # each call is told why, until the person has corrected it
        settings = Settings(home=Path(), cwd=standing_in(), person_home=Path.home())
    anyio.run(_serve, build_server(door, settings), door, hooks, exchange, prelude)


async def _serve(
    server: Server[Any], door: Door, hooks: HookAnswers | None, exchange: Exchange, prelude: Prelude
) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(door.keep_house)
        if hooks is not None:
            tasks.start_soon(hooks.serve)
        tasks.start_soon(converse, server, exchange, prelude)


def _close(door: Door, hooks: HookAnswers) -> None:
    hooks.close()
    door.close()


async def converse(
    server: Server[Any],
    exchange: Exchange,
    prelude: Prelude,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Lets `server` answer what the prelude kept and everything after it, until cancelled."""
    inbox, messages = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
    async with BlockingPortal() as portal, anyio.create_task_group() as tasks:
        tasks.start_soon(server.run, messages, _Outgoing(exchange), server.create_initialization_options())

        def put(message: Message) -> None:
            portal.start_task_soon(_put, exchange, inbox, message)

        await to_thread.run_sync(prelude.hand_over, put)
        task_status.started()


def _put(exchange: Exchange, inbox: MemoryObjectSendStream[SessionMessage | Exception], message: Message) -> None:
    try:
        inbox.send_nowait(SessionMessage(types.jsonrpc_message_adapter.validate_python(message, by_name=False)))
    except ValidationError:
        if kind_of(message) == "request":  # an answer to an answer would look like one to a question of the host's
            exchange.send(error_answer(message["id"], INVALID_REQUEST, "Invalid Request"))


class _Outgoing:
    """The SDK's write stream: its messages go out by the same wire as the prelude's."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def send(self, item: SessionMessage, /) -> None:
        self._exchange.send(item.message.model_dump(by_alias=True, exclude_unset=True))

    async def aclose(self) -> None:
        """The wire stays open: the lifetime of the process decides."""

    async def __aenter__(self) -> Self:
        """The stream itself."""
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        """See `aclose`."""
