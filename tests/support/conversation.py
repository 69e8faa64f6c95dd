"""A host at the other end of a wire, inside the test's own process."""

import json
import os
from collections.abc import Callable
from typing import Any

from memhub_mcp.server.exchange import Exchange, Message
from memhub_mcp.server.prelude import Prelude
from memhub_mcp.server.wire import Wire

STATELESS_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test-host", "version": "1"},
}


def request(request_id: Any, method: str, params: dict[str, Any] | None = None) -> Message:
    message: Message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


def initialize(request_id: Any = 0, version: str = "2025-11-25", **capabilities: Any) -> Message:
    client = {"name": "test-host", "version": "1"}
    return request(
        request_id,
        "initialize",
        {"protocolVersion": version, "capabilities": capabilities, "clientInfo": client},
    )


def tool(request_id: Any, name: str, arguments: dict[str, Any]) -> Message:
    """A call of a tool."""
    return request(request_id, "tools/call", {"name": name, "arguments": arguments})


INITIALIZED: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Host:
    """Says lines to a prelude and reads what comes back."""

    def __init__(self) -> None:
        self._answers, outgoing = os.pipe()
        silent, self._silence = os.pipe()
        self.wire = Wire(silent, outgoing)
        self._ends = (silent, outgoing, self._silence)
        self.exchange = Exchange(self.wire)
        self.prelude = Prelude(self.exchange)
        self.wire.start_writing(on_gone=lambda: None)

    def say(self, *lines: bytes | Message | list[Any]) -> None:
        """Sends each line."""
        for line in lines:
            self.exchange.read(line if isinstance(line, bytes) else json.dumps(line).encode(), self.prelude.receive)

    def hand_over(self, take: Callable[[Message], None]) -> None:
        """Lets something take the conversation over."""
        self.prelude.hand_over(take)

    def heard(self) -> list[Any]:
        """Everything that was answered; ends the conversation."""
        self.wire.flush(10)
        for end in self._ends:
            os.close(end)
        with os.fdopen(self._answers, "rb") as answers:
            return [json.loads(line) for line in answers]
