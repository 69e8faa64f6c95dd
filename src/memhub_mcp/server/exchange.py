"""The JSON-RPC side of a conversation over a wire: what is no message, batches, what is still unanswered.

Standard library only: the fast start uses it before the SDK is there.
"""

from collections.abc import Callable
from threading import Condition
from typing import Any, Literal, cast

from memhub_mcp.server.wire import Wire, decode

PARSE_ERROR, INVALID_REQUEST = -32700, -32600

Message = dict[str, Any]


class Exchange:
    """Hands each message of a line on, and sends answers, those of a batch together. Safe to use from any thread."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._changed = Condition()
        self._unanswered: set[str] = set()
        self._unheard: set[str] = set()
        self._batches: list[_Batch] = []

    def read(self, line: bytes, receive: Callable[[Message], None]) -> None:
        """Passes the messages of one line to `receive`; answers at once what is no message."""
        if not line.strip():
            return
        try:
            value = decode(line)
        except ValueError as error:
            self._wire.send(error_answer(None, PARSE_ERROR, f"Parse error: {error}"))
            return
        if not isinstance(value, list):
            self._accept(value, receive, None)
            return
        entries = cast("list[object]", value)
        if not entries:
            self._wire.send(error_answer(None, INVALID_REQUEST, "Invalid Request: an empty batch"))
            return
        batch = _Batch(entries)
        with self._changed:
            self._batches.append(batch)
        for entry in entries:
            self._accept(entry, receive, batch)
        self._settle(batch)

    def send(self, message: Message) -> None:
        """Sends a message to the host; an answer nobody asked for through `hide` stays here."""
        if kind_of(message) != "response":
            self._wire.send(message)
            return
        key = _key(message.get("id"))
        with self._changed:
            if key in self._unheard:
                self._unheard.discard(key)
                return
            batch = next((batch for batch in self._batches if key in batch.waiting), None)
            if batch is None:
                self._wire.send(message)
            else:
                batch.answer(key, message)
            self._unanswered.discard(key)
            self._changed.notify_all()
        if batch is not None:
            self._settle(batch)

    def hide(self, request_id: str) -> None:
        """Keeps the answer to a request of our own from the host."""
        with self._changed:
            self._unheard.add(request_id)

    def wait_until_answered(self, timeout_s: float) -> bool:
        """Whether every request got its answer within the time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._unanswered, timeout_s)

    def _accept(self, value: object, receive: Callable[[Message], None], batch: "_Batch | None") -> None:
        kind = kind_of(value)
        if kind is None:
            answer = error_answer(_id_of(value), INVALID_REQUEST, "Invalid Request: not a JSON-RPC 2.0 message")
            if batch is None:
                self._wire.send(answer)
            else:
                batch.answers.append(answer)
            return
        message = cast(Message, value)
        with self._changed:
            if kind == "request":
                self._unanswered.add(_key(message["id"]))
            elif message.get("method") == "notifications/cancelled":
                self._cancel(message.get("params"))
        receive(message)

    def _cancel(self, params: object) -> None:
        """A cancelled request is never answered."""
        if isinstance(params, dict) and "requestId" in params:
            key = _key(cast(Message, params)["requestId"])
            self._unanswered.discard(key)
            for batch in self._batches:
                batch.waiting.discard(key)
            self._changed.notify_all()

    def _settle(self, batch: "_Batch") -> None:
        """Sends a batch's answers once the last one is there. A batch of notifications has none."""
        with self._changed:
            if batch.waiting or batch not in self._batches:
                return
            self._batches.remove(batch)
            if batch.answers:
                self._wire.send(batch.answers)


class _Batch:
    """Messages that came in one array: their answers go back in one array."""

    def __init__(self, entries: list[object]) -> None:
        self.waiting = {_key(cast(Message, entry)["id"]) for entry in entries if kind_of(entry) == "request"}
        self.answers: list[Message] = []

    def answer(self, key: str, message: Message) -> None:
        self.waiting.discard(key)
        self.answers.append(message)


def kind_of(value: object) -> Literal["request", "notification", "response"] | None:
    """What sort of JSON-RPC 2.0 message a value is; None for anything else."""
    if not isinstance(value, dict):
        return None
    message = cast(Message, value)
    if message.get("jsonrpc") != "2.0":
        return None
    if "method" in message:
        if not isinstance(message["method"], str) or not isinstance(message.get("params") or {}, dict):
            return None
        if "id" not in message:
            return "notification"
        return "request" if _is_id(message["id"]) else None
    if ("result" in message) == ("error" in message):
        return None
    return "response" if message.get("id") is None or _is_id(message["id"]) else None


def error_answer(request_id: str | int | None, code: int, text: str) -> Message:
    """An error response."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}


def _id_of(value: object) -> str | int | None:
    found = cast(Message, value).get("id") if isinstance(value, dict) else None
    return found if _is_id(found) else None


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _key(request_id: object) -> str:
    """An id as text: a host may cancel 7 as "7"."""
    return str(request_id)
