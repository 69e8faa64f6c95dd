"""A running server answers hooks: they have milliseconds, and everything is in memory here. See `hosts/asking.py`."""

import contextlib
import hmac
import json
import os
import secrets
import sys
from pathlib import Path

import anyio
from anyio.abc import ByteStream, Listener
from anyio.streams.buffered import BufferedByteReceiveStream

from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import MemhubError
from memhub_mcp.hosts.hook_files import root_of, write_private
from memhub_mcp.server.door import Door
from memhub_mcp.service.hinting import hint
from memhub_mcp.service.hub import Hub
from memhub_mcp.store.folders import make_private

_LONGEST_SOCKET_PATH = 100  # bytes; systems allow 104 or 108
_LARGEST_QUESTION = 64 << 10
_PATIENCE_S = 5.0


class HookAnswers:
    """Listens for hooks of this person on this machine, as long as the process lives."""

    def __init__(self, door: Door, home: Path) -> None:
        self._door = door
        self._run = home / "run"
        self._pointer = self._run / f"ask-{os.getpid()}.json"
        self._socket = self._run / f"ask-{os.getpid()}.sock"
        self._key = secrets.token_hex(16)

    async def serve(self) -> None:
        """Answers until cancelled. Where nothing can listen or be written, hooks go without answers."""
        try:
            listener, address = await self._listen()
            write_private(str(self._pointer), {"address": address, "key": self._key})
        except OSError:
            return
        try:
            await listener.serve(self._answer)
        finally:
            self.close()

    def close(self) -> None:
        """Leave nothing behind."""
        for file in (self._pointer, self._socket):
            with contextlib.suppress(OSError):
                file.unlink()

    async def _listen(self) -> tuple[Listener[ByteStream], str | int]:
        make_private(self._run)  # the home too, when no call has made it yet
        self._sweep()
        if sys.platform != "win32" and len(os.fsencode(self._socket)) <= _LONGEST_SOCKET_PATH:
            return await anyio.create_unix_listener(self._socket, mode=0o600), str(self._socket)
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        return listener, listener.extra(anyio.abc.SocketAttribute.local_port)

    def _sweep(self) -> None:
        """Removes what servers left that were killed."""
        for file in self._run.glob("ask-*"):
            number = file.stem.removeprefix("ask-")
            if not number.isdigit() or int(number) == os.getpid() or not _is_alive(int(number)):
                with contextlib.suppress(OSError):
                    file.unlink()

    async def _answer(self, stream: ByteStream) -> None:
        async with stream:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.EndOfStream, anyio.IncompleteRead, ValueError):
                with anyio.move_on_after(_PATIENCE_S):
                    line = await BufferedByteReceiveStream(stream).receive_until(b"\n", _LARGEST_QUESTION)
                    answer = await self._told(json.loads(line))
                    await stream.send(json.dumps({"context": answer}).encode("ascii") + b"\n")

    async def _told(self, question: object) -> str | None:
        if not isinstance(question, dict) or not hmac.compare_digest(str(question.get("key")), self._key):
            return None
        source, cwd, prompt = (question.get(name) for name in ("source", "cwd", "prompt"))
        if not (isinstance(source, str) and isinstance(cwd, str) and isinstance(prompt, str)):
            return None
        root = root_of(cwd)
        if root is None:
            return None
        # Named, so that the answer is about the hook's repository, wherever this process works.
        caller = Caller(source=source, named=root, cwd=Path(cwd))

        def use(hub: Hub, caller: Caller) -> str | None:
            return hint(hub.memories, caller, prompt)

        try:
            return await self._door.run(caller, use)
        except MemhubError:
            return None  # whoever calls a tool is told; a hook has nothing to add


def _is_alive(process: int) -> bool:
    if sys.platform == "win32":
        return True  # a pointer to nobody costs a hook one refused connection
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
