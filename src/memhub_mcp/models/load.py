"""The lazy door to the models: nothing heavy is imported before the first use.

A model that cannot be had is a state with a sentence that says why, never an exception. Where another process of the
same data directory holds the model already, that one is asked.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from memhub_mcp.errors import ModelError
from memhub_mcp.models.door import Door, State
from memhub_mcp.models.files import model_files
from memhub_mcp.models.manifest import MINILM, MODELS, MULTILINGUAL, PACKAGED, PinnedModel

if TYPE_CHECKING:
    from pathlib import Path

    from memhub_mcp.domain.embedding import EmbeddingSpace
    from memhub_mcp.models.protocols import Embedder, Reranker
    from memhub_mcp.models.sharing import Sharing
    from memhub_mcp.models.xlmr import XlmRobertaVocabulary
    from memhub_mcp.settings import Settings

__all__ = ["EmbedderDoor", "Models", "RerankerDoor", "State"]

SMALL = frozenset(model.name for model in PACKAGED)
"""Models that may be in memory twice, where two versions of memhub cannot share."""

Model = TypeVar("Model")


class SharedDoor(Generic[Model]):
    """Lends one model, wherever it is in memory. Ask anew for each use and do not keep it."""

    def __init__(self, join: Callable[[Callable[[str | None], None]], Door[Model]], *, off: str | None = None) -> None:
        """`join` finds the door of the model, given what to call when it is the right one no longer.

        `off` is why there is no model at all.
        """
        self._off = off
        self._place: Door[Door[Model]] = Door(lambda: join(self._place.forget))

    @classmethod
    def holding(cls, model: Model) -> Self:
        """A door that lends `model` and is always ready."""
        door = cls(_nowhere, off=None)
        door._place = Door.holding(Door.holding(model))
        return door

    @classmethod
    def without(cls, why: str) -> Self:
        """A door that has nothing to lend, and says why."""
        return cls(_nowhere, off=why)

    def get(self, wait_s: float = 0.0) -> Model | None:
        """The model; None when it is not there after `wait_s`. The first call starts loading it."""
        if self._off is not None:
            return None
        until = time.monotonic() + wait_s
        for _ in range(2):
            place = self._place.get(max(0.0, until - time.monotonic()))
            model = None if place is None else place.get(max(0.0, until - time.monotonic()))
            if model is not None or place is None or self._place.peek() is place:
                return model
        return None  # the place changed twice meanwhile

    def state(self) -> State:
        """`ready`, `loading`, `idle` (loads on the next use) or `off` (cannot be had)."""
        return "off" if self._off is not None else self._now().state()

    def why(self) -> str | None:
        """One sentence on why the model is not ready; None when it is, or when nobody asked for it yet."""
        return self._off if self._off is not None else self._now().why()

    def close(self) -> None:
        """Let the model go and lend it no more."""
        self._place.close()

    def _now(self) -> Door[Any]:
        return self._place.peek() or self._place


class EmbedderDoor(SharedDoor["Embedder"]):
    """Lends the embedder."""


class RerankerDoor(SharedDoor["Reranker"]):
    """Lends the cross-encoder, where one is installed."""


def _nowhere(lost: Callable[[str | None], None]) -> Door[Any]:
    raise ModelError("the door was closed")


class Models:
    """The models of this process, each behind its door, shared with the other processes of the data directory."""

    def __init__(self, settings: Settings, *, pinned: Sequence[PinnedModel] = MODELS) -> None:
        self._settings = settings
        self._pinned = tuple(pinned)
        self._files = model_files(settings, self._pinned)
        self._vocabularies: weakref.WeakValueDictionary[str, XlmRobertaVocabulary] = weakref.WeakValueDictionary()
        self._reading = threading.Lock()
        self._changing = threading.Lock()
        self._sharing: Sharing | None = None
        self._closed = False
        self._spaces = {model.name: model.space for model in PACKAGED}
        self._spaces |= {model.name: model.space for model in self._pinned if model.kind == "embedder"}
        self._embedders: dict[str, EmbedderDoor] = {}
        self.embedder = self._embedder(settings.embedder)
        self.reranker = self._reranker(settings.reranker)

    def embedder_of(self, space: str) -> EmbedderDoor | None:
        """The door of the embedder whose vectors have the space of this name; None when none is known."""
        for name, own in self._spaces.items():
            if own.name == space:
                return self._embedder(name)
        return None

    def space_wanted(self) -> EmbeddingSpace | None:
        """The space that the settings ask for, without loading anything; None when meaning is off."""
        return self._spaces.get(self._settings.embedder)

    def close(self) -> None:
        """Let all models go, and serve no other process any more."""
        with self._changing:
            self._closed = True
            sharing = self._sharing
        for door in [*self._embedders.values(), self.embedder, self.reranker]:
            door.close()
        if sharing is not None:
            sharing.close()

    def _embedder(self, name: str) -> EmbedderDoor:
        if name not in self._embedders:
            off = None
            if name == "off":
                off = 'meaning is switched off (`embedder = "off"` in config.toml)'
            elif name not in self._spaces:
                off = f"unknown embedder {name!r} in config.toml; known: {', '.join(self._spaces)}, off"
            self._embedders[name] = EmbedderDoor(partial(self._join, name), off=off)
        return self._embedders[name]

    def _reranker(self, name: str | None) -> RerankerDoor:
        known = [model.name for model in self._pinned if model.kind == "reranker"]
        off = None
        if name is None or name == "off":
            off = "no reranker is configured"
        elif name not in known:
            off = f"unknown reranker {name!r} in config.toml; known: {', '.join(known)}"
        return RerankerDoor(partial(self._join, name or ""), off=off)

    def _join(self, name: str, lost: Callable[[str | None], None]) -> Door[Any]:
        from memhub_mcp.models.sharing import Sharing

        with self._changing:
            if self._closed:
                raise ModelError("memhub is ending")
            if self._sharing is None:
                loaders: dict[str, Callable[[], Any]] = {
                    MINILM.name: self._load_minilm,
                    MULTILINGUAL.name: self._load_multilingual,
                }
                loaders |= {model.name: partial(self._load_pinned, model) for model in self._pinned}
                idle_s = self._settings.model_idle_s
                self._sharing = Sharing(self._settings.home / "run", loaders, idle_s=idle_s, small=SMALL)
            sharing = self._sharing
        return sharing.join(name, lost)

    def _load_minilm(self) -> Embedder:
        from memhub_mcp.models.minilm import load_minilm

        return load_minilm(threads=self._settings.threads)

    def _load_multilingual(self) -> Embedder:
        from memhub_mcp.models.multilingual import MultilingualEmbedder

        return MultilingualEmbedder()

    def _load_pinned(self, model: PinnedModel) -> Embedder | Reranker:
        from memhub_mcp.models.onnx import BgeReranker, load_bge_m3

        folder = self._files.checked(model)
        vocabulary = self._xlmr(folder / model.tokenizer.name)
        graph = folder / model.graph.name
        if model.kind == "embedder":
            return load_bge_m3(graph, vocabulary, model.space, threads=self._settings.threads)
        return BgeReranker(graph, vocabulary, threads=self._settings.threads)

    def _xlmr(self, path: Path) -> XlmRobertaVocabulary:
        """The vocabulary that embedder and reranker share: 285 MB, once."""
        from memhub_mcp.models.xlmr import XlmRobertaVocabulary

        with self._reading:
            vocabulary = self._vocabularies.get("xlm-roberta")
            if vocabulary is None:
                vocabulary = self._vocabularies["xlm-roberta"] = XlmRobertaVocabulary(path)
            return vocabulary
