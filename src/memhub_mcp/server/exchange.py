"""The JSON-RPC side of a conversation over a wire: what is no message, batches, what is still unanswered.

Standard library only: the fast start uses it before the SDK is there.
"""

from collections.abc import Callable
from threading import Condition
from typing import Any, Literal, TypeGuard, cast

from memhub_mcp.server.wire import MAX_LINE_BYTES, Wire, decode

PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603

Message = dict[str, Any]
Id = str | int | None
"""What a request is known by: 1 and "1" are two. None only in an answer to what had no readable id."""


class Exchange:
    """Hands each message of a line on, and sends answers, those of a batch together. Safe to use from any thread."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._changed = Condition()
        self._unanswered = _Ids()
        self._unheard: set[Id] = set()
        self._batches: list[_Batch] = []

    def read(self, line: bytes, receive: Callable[[Message], None]) -> None:
        """Passes the messages of one line to `receive`; answers at once what is no message."""
        if not line.strip():
            return
        if len(line) > MAX_LINE_BYTES:
            self._wire.send(error_answer(None, PARSE_ERROR, f"Parse error: a line over {MAX_LINE_BYTES >> 20} MiB"))
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
        with self._changed:
            batch.is_read = True
            self._settle(batch)

    def send(self, message: Message) -> None:
        """Sends a message to the host; an answer nobody asked for through `hide` stays here."""
        if kind_of(message) != "response":
            self._wire.send(message)
            return
        answered = message.get("id")
        with self._changed:
            if answered in self._unheard:
                self._unheard.discard(answered)
                return
            self._unanswered.remove(answered)
            batch = next((batch for batch in self._batches if batch.waiting.remove(answered)), None)
            if batch is None:
                self._wire.send(message)
            else:
                batch.answers.append(message)
                self._settle(batch)
            self._changed.notify_all()

    def hide(self, request_id: str) -> None:
        """Keeps the answer to a request of our own from the host."""
        with self._changed:
            self._unheard.add(request_id)

    def refuse_unanswered(self, cause: str) -> None:
        """Answers every request that still waits with an error: nobody else will."""
        with self._changed:
            for request_id in self._unanswered.all():
                self.send(error_answer(request_id, INTERNAL_ERROR, cause))

    def wait_until_answered(self, timeout_s: float) -> bool:
        """Whether every request got its answer within the time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._unanswered.all(), timeout_s)

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
                self._unanswered.add(message["id"])
            elif message.get("method") == "notifications/cancelled":
                self._cancel(message.get("params"))
        receive(message)

    def _cancel(self, params: object) -> None:
        """A cancelled request is never answered."""
        cancelled = cast(Message, params).get("requestId") if isinstance(params, dict) else None
        if not _is_id(cancelled):
            return
        self._unanswered.cancel(cancelled)
        for batch in [*self._batches]:
            batch.waiting.cancel(cancelled)
            self._settle(batch)
        self._changed.notify_all()

    def _settle(self, batch: "_Batch") -> None:
        """Sends a batch's answers once the last one is there. A batch of notifications has none."""
        if batch.is_read and not batch.waiting.all():
            self._batches.remove(batch)
            if batch.answers:
                self._wire.send(batch.answers)


class _Ids:
    """Requests that wait, by id. A host may use one id for several at a time."""

    def __init__(self) -> None:
        self._ids: list[Id] = []

    def all(self) -> list[Id]:
        return [*self._ids]

    def add(self, request_id: Id) -> None:
        self._ids.append(request_id)

    def remove(self, request_id: Id) -> bool:
        """Whether one of that id waited."""
        if request_id not in self._ids:
            return False
        self._ids.remove(request_id)
        return True

    def cancel(self, request_id: Id) -> None:
        """As `remove`, but a host may cancel 7 as "7"."""
        if not self.remove(request_id):
            self.remove(next((waiting for waiting in self._ids if str(waiting) == str(request_id)), None))


class _Batch:
    """Messages that came in one array: their answers go back in one array."""

    def __init__(self, entries: list[object]) -> None:
        self.is_read = False
        self.waiting = _Ids()
        self.answers: list[Message] = []
        for entry in entries:
            if kind_of(entry) == "request":
                self.waiting.add(cast(Message, entry)["id"])


def kind_of(value: object) -> Literal["request", "notification", "response"] | None:
    """What sort of JSON-RPC 2.0 message a value is; None for anything else."""
    if not isinstance(value, dict):
        return None
    message = cast(Message, value)
    if message.get("jsonrpc") != "2.0":
        return None
    if "method" in message:
        if not isinstance(message["method"], str) or not isinstance(message.get("params"), dict | None):
            return None
        if "id" not in message:
            return "notification"
        return "request" if _is_id(message["id"]) else None
    if ("result" in message) == ("error" in message):
        return None
    return "response" if message.get("id") is None or _is_id(message["id"]) else None


def error_answer(request_id: Id, code: int, text: str) -> Message:
    """An error response."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}


def _id_of(value: object) -> Id:
    found = cast(Message, value).get("id") if isinstance(value, dict) else None
    return found if _is_id(found) else None


def _is_id(value: object) -> TypeGuard[str | int]:
    return isinstance(value, str | int) and not isinstance(value, bool)
