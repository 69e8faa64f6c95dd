"""A lazy door: what stands behind it is loaded on first use, in a thread, and leaves memory when idle."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Generic, Literal, TypeVar

from memhub_mcp.errors import MemhubError
from memhub_mcp.models.heap import give_back

State = Literal["ready", "loading", "idle", "off"]
"""`idle`: not in memory, loads on the next use. `off`: cannot be had; `why` says the reason."""

RETRY_S = 30.0
"""A model that failed is not tried again before: what failed now mostly fails in a second, too."""

_ENDING_S = 0.25  # the end of a process waits no longer for a load that is under way

log = logging.getLogger(__name__)

Model = TypeVar("Model")


class Door(Generic[Model]):
    """Lends one thing. Ask anew for each use and do not keep it: what is kept cannot leave memory."""

    def __init__(
        self,
        load: Callable[[], Model],
        *,
        idle_s: float | None = None,
        left: Callable[[], None] | None = None,
    ) -> None:
        """`load` runs in a thread; what it raises becomes `why`. Without `idle_s` nothing leaves by itself.

        `left` is called, in a thread, when a load failed or the model was dropped for being idle.
        """
        self._load = load
        self._idle_s = idle_s
        self._left = left
        self._changed = threading.Condition()
        self._model: Model | None = None
        self._loader: threading.Thread | None = None
        self._failure: str | None = None
        self._retry_at = 0.0
        self._used_at = 0.0
        self._timer: threading.Timer | None = None
        self._closed = False

    @classmethod
    def holding(cls, model: Model) -> Door[Model]:
        """A door that lends `model` and is always ready."""
        door = cls(lambda: model)
        door._model = model
        return door

    def get(self, wait_s: float = 0.0) -> Model | None:
        """The model; None when it is not there after `wait_s`. The first call starts loading it."""
        with self._changed:
            if self._model is None and self._may_load():
                self._loader = threading.Thread(target=self._run, name="memhub-model", daemon=True)
                self._loader.start()
            if self._loader is not None and wait_s > 0:
                self._changed.wait_for(lambda: self._loader is None or self._closed, timeout=wait_s)
            self._used_at = time.monotonic()
            return self._model

    def peek(self) -> Model | None:
        """The model if it is there now; does not count as a use."""
        with self._changed:
            return self._model

    def state(self) -> State:
        """Where the model is now."""
        with self._changed:
            if self._closed:
                return "off"
            if self._model is not None:
                return "ready"
            if self._loader is not None:
                return "loading"
            return "idle" if self._failure is None else "off"

    def why(self) -> str | None:
        """One sentence on why the model is not ready; None when it is, or when nobody asked for it yet."""
        with self._changed:
            return "the model is being loaded" if self._loader is not None else self._failure

    def forget(self, why: str | None = None) -> None:
        """Let the model go; the next use loads it anew, after a pause when there is a reason `why`."""
        with self._changed:
            self._drop()
            self._failure = why
            self._retry_at = time.monotonic() + RETRY_S

    def close(self) -> None:
        """Let the model go and lend it no more."""
        with self._changed:
            self._closed = True
            self._drop()
            self._changed.notify_all()
            loader = self._loader
        if loader is not None and loader is not threading.current_thread():
            loader.join(_ENDING_S)

    def _may_load(self) -> bool:
        if self._closed or self._loader is not None:
            return False
        return self._failure is None or time.monotonic() >= self._retry_at

    def _run(self) -> None:
        model, failure = None, None
        try:
            model = self._load()
        except MemhubError as error:
            failure = str(error)
        except ImportError as error:
            failure = f"{error.name or 'a package'} is not installed or does not work here ({error})"
        except Exception as error:
            log.exception("loading a model failed")
            failure = f"the model failed to load ({type(error).__name__}: {error})"
        with self._changed:
            self._loader = None
            self._failure = failure
            self._retry_at = time.monotonic() + RETRY_S
            if model is not None and not self._closed:
                self._model = model
                self._used_at = time.monotonic()
                if self._idle_s is not None:
                    self._watch(self._idle_s)
            self._changed.notify_all()
        if failure is not None and self._left is not None:
            self._left()

    def _watch(self, seconds: float) -> None:
        self._timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), self._drop_when_idle)
        self._timer.daemon = True
        self._timer.start()

    def _drop_when_idle(self) -> None:
        with self._changed:
            left = self._used_at + (self._idle_s or 0) - time.monotonic()
            if self._model is None or self._closed:
                return
            if left > 0:
                self._watch(left)
                return
            self._drop()
        if self._left is not None:
            self._left()

    def _drop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._model is not None:
            self._model = None
            if self._idle_s is not None:  # what may leave by itself is large
                give_back()
