"""The lazy door: models are loaded on first use, in a thread, and leave memory when idle.

Nothing heavy is imported before the first use. A model that cannot be had is a state with a sentence that says why.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Literal, Self, TypeVar

from memhub_mcp.errors import ModelError

if TYPE_CHECKING:
    from memhub_mcp.models.protocols import Embedder, Reranker
    from memhub_mcp.settings import Settings

State = Literal["ready", "loading", "idle", "off"]
"""`idle`: not in memory, loads on the next use. `off`: cannot be had; `why` says the reason."""

RETRY_S = 30.0
"""A model that failed is not tried again before: what failed now mostly fails in a second, too."""

log = logging.getLogger(__name__)

Model = TypeVar("Model")


class Door(Generic[Model]):
    """Lends one model. Ask anew for each use and do not keep it: what is kept cannot leave memory."""

    def __init__(self, load: Callable[[], Model], *, idle_s: float, off: str | None = None) -> None:
        """`load` runs in a thread and may raise ModelError or ImportError; `off` is why there is no model at all."""
        self._load = load
        self._idle_s = idle_s
        self._never = off
        self._changed = threading.Condition()
        self._model: Model | None = None
        self._loader: threading.Thread | None = None
        self._failure: str | None = None
        self._retry_at = 0.0
        self._used_at = 0.0
        self._timer: threading.Timer | None = None
        self._closed = False

    @classmethod
    def holding(cls, model: Model) -> Self:
        """A door that lends `model` and is always ready."""
        door = cls(lambda: model, idle_s=float("inf"))
        door._model = model
        return door

    def get(self, wait_s: float = 0.0) -> Model | None:
        """The model; None when it is not there after `wait_s`. The first call starts loading it."""
        with self._changed:
            if self._model is None and self._may_load():
                self._loader = threading.Thread(target=self._run, name="memhub-model", daemon=True)
                self._loader.start()
            if self._loader is not None and wait_s > 0:
                self._changed.wait_for(lambda: self._loader is None, timeout=wait_s)
            self._used_at = time.monotonic()
            return self._model

    def state(self) -> State:
        """Where the model is now."""
        with self._changed:
            if self._never is not None or self._closed:
                return "off"
            if self._model is not None:
                return "ready"
            if self._loader is not None:
                return "loading"
            return "idle" if self._failure is None else "off"

    def why(self) -> str | None:
        """One sentence on why the model is not ready; None when it is, or when nobody asked for it yet."""
        with self._changed:
            if self._never is not None:
                return self._never
            return "the model is being loaded" if self._loader is not None else self._failure

    def close(self) -> None:
        """Let the model go and lend it no more."""
        with self._changed:
            self._closed = True
            self._drop()
            loader = self._loader
        if loader is not None:
            loader.join(1.0)

    def _may_load(self) -> bool:
        if self._closed or self._never is not None or self._loader is not None:
            return False
        return self._failure is None or time.monotonic() >= self._retry_at

    def _run(self) -> None:
        model, failure = None, None
        try:
            model = self._load()
        except ModelError as error:
            failure = str(error)
        except ImportError as error:
            failure = f"{error.name or error} is not installed or does not load here ({error}); search works by words"
        except Exception as error:
            log.exception("loading a model failed")
            failure = f"the model failed to load ({type(error).__name__}: {error}); search works by words"
        with self._changed:
            self._loader = None
            self._failure = failure
            self._retry_at = time.monotonic() + RETRY_S
            if not self._closed and model is not None:
                self._model = model
                self._used_at = time.monotonic()
                self._watch(self._idle_s)
            self._changed.notify_all()

    def _watch(self, seconds: float) -> None:
        if seconds < threading.TIMEOUT_MAX:
            self._timer = threading.Timer(seconds, self._drop_when_idle)
            self._timer.daemon = True
            self._timer.start()

    def _drop_when_idle(self) -> None:
        with self._changed:
            left = self._used_at + self._idle_s - time.monotonic()
            if left > 0 and not self._closed:
                self._watch(left)
            else:
                self._drop()

    def _drop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._model is not None:
            from memhub_mcp.models.heap import give_back

            self._model = self._timer = None
            give_back()


class EmbedderDoor(Door["Embedder"]):
    """Lends the embedder."""


class RerankerDoor(Door["Reranker"]):
    """Lends the cross-encoder, where one is installed."""


class Models:
    """The models that the settings ask for, each behind its door."""

    def __init__(self, settings: Settings) -> None:
        self.embedder = _embedder_door(settings)
        self.reranker = RerankerDoor(_nothing, idle_s=0, off="no reranker is configured")

    def close(self) -> None:
        """Let all models go."""
        self.embedder.close()
        self.reranker.close()


def _embedder_door(settings: Settings) -> EmbedderDoor:
    off = None
    if settings.embedder == "off":
        off = 'meaning is switched off (`embedder = "off"` in config.toml)'
    elif settings.embedder != "minilm":
        off = f"unknown embedder {settings.embedder!r} in config.toml; known: minilm, off"
    return EmbedderDoor(lambda: _minilm(settings.threads), idle_s=settings.model_idle_s, off=off)


def _minilm(threads: int) -> Embedder:
    from memhub_mcp.models.minilm import load_minilm

    return load_minilm(threads=threads)


def _nothing() -> Reranker:
    raise ModelError("no reranker is configured")
