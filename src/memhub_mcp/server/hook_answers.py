"""A running server answers hooks: they have milliseconds, and everything is in memory here. See `hosts/asking.py`."""

import contextlib
import hmac
import json
import logging
import os
import secrets
import sys
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import anyio
from anyio.abc import ByteStream, Listener
from anyio.streams.buffered import BufferedByteReceiveStream

from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import MemhubError
from memhub_mcp.hosts.hook_files import root_of, write_private
from memhub_mcp.server.door import Door
from memhub_mcp.service.hinting import Hint, hints
from memhub_mcp.store.folders import make_private

_LONGEST_SOCKET_PATH = 100  # bytes; systems allow 104 or 108
_LARGEST_QUESTION = 64 << 10
_PATIENCE_S = 5.0
_CONVERSATIONS = 200  # whose hints are remembered; the one that was silent longest is forgotten first
_NO_QUESTION = (
    *(anyio.BrokenResourceError, anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound),
    *(ValueError, RecursionError),
)
"""What a stream brings that is no question of a hook's."""

_log = logging.getLogger(__name__)


class HookAnswers:
    """Listens for hooks of this person on this machine, as long as the process lives."""

    def __init__(self, door: Door, home: Path) -> None:
        self._door = door
        self._run = home / "run"
        self._pointer = self._run / f"ask-{os.getpid()}.json"
        self._socket = self._run / f"ask-{os.getpid()}.sock"
        self._key = secrets.token_hex(16)
        self._told = _Told()

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
            with contextlib.suppress(*_NO_QUESTION), anyio.move_on_after(_PATIENCE_S):
                line = await BufferedByteReceiveStream(stream).receive_until(b"\n", _LARGEST_QUESTION)
                question = self._read(json.loads(line))
                found = await self._found(question) if question is not None else _NOTHING
                await stream.send(json.dumps({"context": found.text}).encode("ascii") + b"\n")
                if question is not None:  # a hook that waited no longer has closed its end
                    self._told.note(question.conversation, found.hints)

    def _read(self, asked: object) -> "_Question | None":
        """A question of a hook of this person, about a repository."""
        if not isinstance(asked, dict):
            return None
        said = {name: text for name, text in cast("dict[str, object]", asked).items() if isinstance(text, str)}
        if not hmac.compare_digest(said.get("key", "").encode(), self._key.encode()):
            return None
        source, folder = said.get("source"), said.get("cwd")
        root = root_of(folder) if folder is not None else None
        if source is None or folder is None or root is None:
            return None
        # Named, so that the answer is about the hook's repository, wherever this process works.
        caller = Caller(source=source, session=said.get("session"), named=root, cwd=Path(folder))
        return _Question(caller, said.get("prompt"))

    async def _found(self, question: "_Question") -> "_Found":
        caller, prompt = question.caller, question.prompt
        try:
            if prompt is None:
                self._told.begin(question.conversation)
                return _Found(await self._door.run(caller, lambda hub, caller: hub.memories.digest(caller)))
            told = self._told.of(question.conversation)
            found = await self._door.run(caller, lambda hub, caller: hints(hub.memories, caller, prompt, told))
            return _Found("\n".join(hint.line for hint in found), tuple(found))
        except MemhubError:
            return _NOTHING  # whoever calls a tool is told; a hook has nothing to add
        except Exception:  # noqa: BLE001 - what goes wrong in a hint must not take the server away
            _log.exception("a hint failed")
            return _NOTHING


@dataclass(frozen=True, slots=True)
class _Question:
    """Who asks, about which repository, and what the person said; None when a session begins."""

    caller: Caller
    prompt: str | None

    @property
    def conversation(self) -> str:
        """One conversation in one host; a host that does not name it has one at a place."""
        return f"{self.caller.source}\0{self.caller.session or self.caller.cwd}"


@dataclass(frozen=True, slots=True)
class _Found:
    """What to tell, and which memories that is about."""

    text: str | None
    hints: tuple[Hint, ...] = ()


_NOTHING = _Found(None)


class _Told:
    """What each conversation heard of already: the same line before every request helps nobody."""

    def __init__(self) -> None:
        self._by_conversation: OrderedDict[str, set[tuple[str, int]]] = OrderedDict()

    def begin(self, conversation: str) -> None:
        """It begins, or goes on without what was said before."""
        self._by_conversation.pop(conversation, None)

    def of(self, conversation: str) -> frozenset[tuple[str, int]]:
        """Memories with their versions."""
        return frozenset(self._by_conversation.get(conversation, ()))

    def note(self, conversation: str, told: Iterable[Hint]) -> None:
        """The conversation heard of these."""
        self._by_conversation.setdefault(conversation, set()).update((hint.memory, hint.version) for hint in told)
        self._by_conversation.move_to_end(conversation)
        while len(self._by_conversation) > _CONVERSATIONS:
            self._by_conversation.popitem(last=False)


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
