"""stdin and stdout as a line of JSON messages, out of reach of everything else. Standard library only."""

import json
import os
import select
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import Any

from memhub_mcp.errors import MemhubError

if sys.platform != "win32":
    import fcntl

MAX_LINE_BYTES = 1 << 27
"""The longest line that is read: 20 texts of 1 MiB, every character escaped, fit. A longer one is cut and refused."""

_STDIN, _STDOUT, _STDERR = 0, 1, 2


class Wire:
    """One host at the other end of two pipes. Messages are UTF-8 whatever the locale says, one a line."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._writer: Thread | None = None

    @classmethod
    def claim(cls) -> "Wire":
        """The process's own pipes, taken away from everybody else.

        Afterwards file descriptor 0 is empty and 1 is stderr, so that neither a stray print, nor a C library,
        nor a child can read a message or write between two of them.

        Raises:
            MemhubError: there is no stdin, or no stdout.
        """
        try:
            wire = cls(_above_standard(_STDIN), _above_standard(_STDOUT))
        except OSError as error:
            raise MemhubError("serve speaks over stdin and stdout, and one of them is closed") from error
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, _STDIN)
        try:
            os.dup2(_STDERR, _STDOUT)
        except OSError:  # a host may start us without stderr
            os.dup2(nothing, _STDOUT)
        os.close(nothing)
        return wire

    def lines(self) -> Iterator[bytes]:
        """Each line without its end, as it arrives, until the host closes the pipe."""
        line = bytearray()
        while chunk := self._read():
            *ended, rest = chunk.split(b"\n")
            for part in ended:
                line += part
                yield bytes(line)
                line.clear()
            if len(line) <= MAX_LINE_BYTES:
                line += rest
        if line:
            yield bytes(line)

    def send(self, message: object) -> None:
        """Puts one message on the way. Never waits for the host to read."""
        self._outbox.put(encode(message) + b"\n")

    def start_writing(self, on_gone: Callable[[], None]) -> None:
        """Begins to deliver; `on_gone` is called when the host no longer reads."""
        self._writer = Thread(target=self._deliver, args=(on_gone,), name="stdout", daemon=True)
        self._writer.start()

    def flush(self, timeout_s: float) -> None:
        """Waits until everything sent so far is out; nothing can be sent afterwards."""
        self._outbox.put(None)
        if self._writer is not None and self._writer is not current_thread():
            self._writer.join(timeout_s)

    def _read(self) -> bytes:
        while True:
            try:
                return os.read(self._incoming, 1 << 16)
            except BlockingIOError:  # a host may share a pipe that does not wait
                select.select([self._incoming], [], [])
            except OSError:  # the terminal or the pipe broke: nobody speaks any more
                return b""

    def _write(self, data: memoryview) -> int:
        while True:
            try:
                return os.write(self._outgoing, data)
            except BlockingIOError:
                select.select([], [self._outgoing], [])

    def _deliver(self, on_gone: Callable[[], None]) -> None:
        while (data := self._outbox.get()) is not None:
            rest = memoryview(data)
            try:
                while rest:
                    rest = rest[self._write(rest) :]
            except OSError:
                on_gone()
                return


def encode(message: object) -> bytes:
    """Compact JSON on one line, UTF-8; half a surrogate pair travels as an escape."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode()


def decode(line: bytes) -> Any:
    """The value a line stands for.

    Raises:
        ValueError: it is not JSON in UTF-8, or nested too deep to be read.
    """
    try:
        return json.loads(line.removeprefix(BOM_UTF8).decode(), parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _above_standard(descriptor: int) -> int:
    """A private copy that no child inherits and that does not land where a closed stderr was."""
    if sys.platform != "win32":
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _STDERR + 1)
    taken: list[int] = []
    while (copy := os.dup(descriptor)) <= _STDERR:
        taken.append(copy)
    for low in taken:
        os.close(low)
    return copy
