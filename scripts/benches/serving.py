"""A real server over real stdio, spoken to in raw JSON-RPC so that no client library is measured."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

COMMAND = [str(Path(sys.executable).parent / "memhub-mcp"), "serve"]


class Server:
    """One server process on a data directory of its own, or on `home`."""

    def __init__(
        self, command: list[str] | None = None, *, home: Path | None = None, environ: dict[str, str] | None = None
    ) -> None:
        self._own = tempfile.TemporaryDirectory(prefix="memhub-bench-")
        self._home = home or Path(self._own.name) / "home"
        self._command = command or COMMAND
        self._environ = environ or {}
        self._last = 0

    def __enter__(self) -> Self:
        environ = {**os.environ, "MEMHUB_HOME": str(self._home), **self._environ}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        self.process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
            cwd=self._own.name,
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(20)
        self._own.cleanup()

    def send(self, method: str, params: dict[str, Any], *, number: int | None) -> None:
        """One request, or one notification when `number` is None."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The response to one request."""
        self._last += 1
        self.send(method, params, number=self._last)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._last and "method" not in answer:
                return answer
        raise RuntimeError(f"the server ended before it answered {method}")

    def initialize(self) -> None:
        """The handshake of 2025-06-18, which every server under test knows."""
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.ask("initialize", client)
        self.send("notifications/initialized", {}, number=None)

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The result of one tool call."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]

    def cpu_s(self) -> float:
        """CPU seconds of the process and its children so far."""
        times = psutil.Process(self.process.pid).cpu_times()
        return times.user + times.system + times.children_user + times.children_system

    def pss_mb(self) -> float:
        """Memory of the process, shared pages divided among those that share them."""
        return psutil.Process(self.process.pid).memory_full_info().pss / 1e6
