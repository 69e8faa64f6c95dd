"""Long work that a person may interrupt without losing what is done."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stopping_softly() -> Generator[threading.Event]:
    """Ctrl-C sets the event; what is done so far is kept. A second one interrupts as usual."""
    stopped = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, former)

    former = signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, former)
