"""When and how a server process ends. Standard library only."""

import os
import signal
import sys
from collections.abc import Callable
from threading import Event, Lock, Thread
from types import FrameType

from memhub_mcp.server.wire import Wire

LAST_WORDS_S = 0.2
CLOSING_S = 0.5
PARENT_CHECK_S = 1.0


class Lifetime:
    """Ends the process within a second, once, whichever thread asks."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._ending = Lock()
        self._close: Callable[[], None] = _nothing

    def close_with(self, close: Callable[[], None]) -> None:
        """What is to be closed before the process ends."""
        self._close = close

    def end(self) -> None:
        """Sends what is on its way, closes what is open, and ends the process.

        What hangs is left behind: a database survives that, and the host is not kept waiting.
        """
        if not self._ending.acquire(blocking=False):
            return
        try:
            self._wire.flush(LAST_WORDS_S)
            closing = Thread(target=self._close, name="closing", daemon=True)
            closing.start()
            closing.join(CLOSING_S)
        finally:
            os._exit(0)

    def end_on_signals(self) -> None:
        """Lets the signals that end a process do it by `end`. To be called in the main thread."""
        on_ending_signals(self._end_on_signal)

    def _end_on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.end()

    def watch_parent(self) -> None:
        """Ends the process when its parent dies, also when somebody else keeps the pipe open."""
        Thread(target=self._outlive, args=(os.getppid(),), name="parent", daemon=True).start()

    def _outlive(self, parent: int) -> None:
        if sys.platform == "win32":
            _wait_for_process(parent)
        else:
            while os.getppid() == parent:
                Event().wait(PARENT_CHECK_S)
        self.end()


def on_ending_signals(handle: Callable[[int, FrameType | None], None]) -> None:
    """Lets `handle` take the signals that end a process. To be called in the main thread."""
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):  # Windows has no SIGHUP
        number = getattr(signal, name, None)
        if number is not None and not (name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN):
            signal.signal(number, handle)  # who starts with `nohup` wants a hangup ignored


def _nothing() -> None:
    """There is nothing to close before the hub is opened."""


if sys.platform == "win32":
    import ctypes

    _SYNCHRONIZE, _INFINITE = 0x00100000, 0xFFFFFFFF

    def _wait_for_process(process: int) -> None:
        """Returns when the process has ended. An id may be reused, a handle is not."""
        kernel = ctypes.WinDLL("kernel32")
        kernel.OpenProcess.restype = ctypes.c_void_p
        kernel.WaitForSingleObject.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
        handle = kernel.OpenProcess(_SYNCHRONIZE, False, process)
        if not handle:
            Event().wait()  # it may not be watched: the end of the pipe has to do
        kernel.WaitForSingleObject(handle, _INFINITE)
