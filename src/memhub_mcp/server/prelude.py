"""The fast start: the host's first questions answered from surface.json while the SDK loads.

Importing the SDK takes longer than some hosts wait before their first turn. Here the standard library alone answers
`initialize`, `server/discover`, `ping` and the lists, when they are asked in the plain way; everything else is kept in
order and handed to the SDK, which is also told of what opened the conversation.
"""

import contextlib
import gc
import os
import sys
from collections.abc import Callable
from importlib import import_module
from threading import Event, Lock, Thread
from types import ModuleType
from typing import Any, cast

from memhub_mcp.server.exchange import INTERNAL_ERROR, Exchange, Message, error_answer, kind_of
from memhub_mcp.server.lifetime import Lifetime
from memhub_mcp.server.surface import (
    LISTS,
    STATELESS_VERSION,
    discover_result,
    initialize_result,
    list_result,
)
from memhub_mcp.server.wire import Wire

LOAD_AFTER_S = 0.3
"""How long after the tools were listed the SDK is loaded though nobody needs it yet: the host is starting too."""

LAST_ANSWERS_S = 30.0
"""How long calls that came before the pipe was closed may take to be answered, and the answers to be read."""

_META = "io.modelcontextprotocol/"
_TEXTS_OF_A_CLIENT = frozenset({"name", "version", "title", "description", "websiteUrl"})
_OPEN_CAPABILITIES = frozenset({"elicitation", "sampling", "experimental", "extensions"})


class Prelude:
    """Answers or keeps what arrives, until something takes over."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._lock = Lock()
        self._kept: list[Message] = []
        self._take: Callable[[Message], None] | None = None
        self._era: str | None = None
        self._initialized = False
        self._sdk_decides = False
        self._wanted, self._urgent = Event(), Event()

    def receive(self, message: Message) -> None:
        """Answers a message, keeps it, or passes it on."""
        with self._lock:
            if self._take is not None:
                self._take(message)
                return
            result = None if self._sdk_decides or kind_of(message) != "request" else self._answer(message)
            if result is None:
                self._keep(message)
                return
        self._exchange.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        if message["method"] == "tools/list":
            self._wanted.set()

    def wait_until_wanted(self) -> None:
        """Returns when a message needs the SDK, or soon will."""
        self._wanted.wait()
        self._urgent.wait(LOAD_AFTER_S)

    def hand_over(self, take: Callable[[Message], None]) -> None:
        """Gives `take` everything kept, in order, and from now on everything that arrives."""
        with self._lock:
            for message in self._kept:
                take(message)
            self._kept.clear()
            self._take = take

    def refuse(self, cause: str) -> None:
        """Answers every request, kept, taken or to come, with the reason why there is no server."""

        def answer(message: Message) -> None:
            if kind_of(message) == "request":
                self._exchange.send(error_answer(message["id"], INTERNAL_ERROR, cause))

        self.hand_over(answer)
        self._exchange.refuse_unanswered(cause)

    def _keep(self, message: Message) -> None:
        self._kept.append(message)
        if kind_of(message) == "request":
            # Whatever this request does to the state of the conversation, only the SDK knows.
            self._sdk_decides = self._sdk_decides or not self._initialized
            self._wanted.set()
            self._urgent.set()

    def _answer(self, message: Message) -> dict[str, Any] | None:
        """The result of a request asked in the plain way, or None."""
        method = message["method"]
        params = cast("dict[str, Any]", message.get("params") or {})
        if method == "initialize":
            if self._initialized or not _plain_handshake(params):
                return None
            self._open(message, "handshake", initialized=True)
            return initialize_result(params["protocolVersion"])
        if set(params) - {"_meta"} or not _is_plain_meta(params.get("_meta", {})):
            return None
        envelope = cast("dict[str, Any]", params.get("_meta", {}))
        if _META + "protocolVersion" in envelope:
            if self._era == "handshake" or not _plain_envelope(envelope):
                return None
            result = _stateless_result(method)
            if result is not None and self._era is None:
                self._open(message, "stateless", initialized=True)
            return result
        if self._era == "stateless":
            return None
        if method == "ping":
            if self._era is None:
                self._open(message, "handshake", initialized=False)
            return {}
        return list_result(method, stateless=False) if method in LISTS and self._initialized else None

    def _open(self, message: Message, era: str, *, initialized: bool) -> None:
        """Notes what opens the conversation; the SDK will hear it under an id of ours, its answer is not sent."""
        self._era, self._initialized = era, initialized
        replayed = f"memhub-{os.urandom(8).hex()}"  # no host uses this one
        self._exchange.hide(replayed)
        self._kept.append({**message, "id": replayed})


def serve_stdio(home: str | None = None, workspace: str | None = None) -> None:
    """Answers one assistant over stdin and stdout; ends the process when it leaves."""
    wire = Wire.claim()
    lifetime = Lifetime(wire)
    exchange = Exchange(wire)
    prelude = Prelude(exchange)
    wire.start_writing(on_gone=lifetime.end)
    lifetime.watch_parent()
    lifetime.end_on_signals()

    def read() -> None:
        try:
            for line in wire.lines():
                exchange.read(line, prelude.receive)
            exchange.wait_until_answered(LAST_ANSWERS_S)
            wire.flush(LAST_ANSWERS_S)
        finally:
            lifetime.end()

    Thread(target=read, name="stdin", daemon=True).start()
    prelude.wait_until_wanted()
    try:
        transports = _load("memhub_mcp.server.transports")
        transports.serve_wire(exchange, prelude, lifetime, home, workspace)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the installation, the host must hear it
        prelude.refuse(f"memhub cannot start: {type(error).__name__}: {error}")
        with contextlib.suppress(OSError):  # a host may have closed stderr
            print(f"memhub-mcp: {error!r}", file=sys.stderr, flush=True)
        Event().wait()  # until the host leaves


def serve_http(transport: str, **options: Any) -> None:
    """`http.serve_http`, loaded only when somebody wants it: stdio must not wait for a web server's imports."""
    _load("memhub_mcp.server.http").serve_http(transport, **options)


def _load(module: str) -> ModuleType:
    """A heavy module, loaded without the garbage collector.

    What modules define stays: looking through it costs a third of the loading time, and later a pause now and then.
    """
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.freeze()
        gc.enable()


def _plain_handshake(params: dict[str, Any]) -> bool:
    return (
        isinstance(params.get("protocolVersion"), str)
        and _is_capabilities(params.get("capabilities"))
        and _is_client(params.get("clientInfo"))
        and not set(params) - {"protocolVersion", "capabilities", "clientInfo", "_meta"}
        and _is_plain_meta(params.get("_meta", {}))
    )


def _plain_envelope(meta: dict[str, Any]) -> bool:
    client = meta.get(_META + "clientInfo")
    return (
        meta[_META + "protocolVersion"] == STATELESS_VERSION
        and _is_capabilities(meta.get(_META + "clientCapabilities"))
        and (client is None or _is_client(client))
    )


def _is_client(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    fields = cast("dict[str, Any]", value)
    return {"name", "version"} <= set(fields) <= _TEXTS_OF_A_CLIENT and all(
        isinstance(field, str) for field in fields.values()
    )


def _is_plain_meta(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    meta = cast("dict[str, Any]", value)
    return _META + "logLevel" not in meta and type(meta.get("progressToken", 0)) in (str, int)


def _is_capabilities(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(inside, dict) and _is_capability(name, cast("dict[str, Any]", inside))
        for name, inside in cast("dict[str, Any]", value).items()
    )


def _is_capability(name: str, inside: dict[str, Any]) -> bool:
    """Whether it is one whose form is certain: the SDK looks inside some, and would refuse what is odd there."""
    if name == "roots":
        return not set(inside) - {"listChanged"} and isinstance(inside.get("listChanged", True), bool)
    return name in _OPEN_CAPABILITIES and all(isinstance(detail, dict) for detail in inside.values())


def _stateless_result(method: str) -> dict[str, Any] | None:
    if method == "server/discover":
        return discover_result()
    return list_result(method, stateless=True) if method in LISTS else None
