"""A hub on a data directory of its own, filled with sentences."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benches.measuring import sentences
from memhub_mcp.bootstrap import open_hub
from memhub_mcp.domain.embedding import EmbeddingSpace
from memhub_mcp.domain.scope import Caller
from memhub_mcp.models.load import EmbedderDoor, Models
from memhub_mcp.models.minilm import load_minilm
from memhub_mcp.models.protocols import Embedder, Encoding
from memhub_mcp.service.hub import Hub
from memhub_mcp.settings import Settings

CALLER = Caller(source="bench")
CHUNK = 20
EACH_EMBEDDED = 10_000  # above, sentences that differ in a number alone share one run of the model


class PatternEmbedder:
    """The embedded model, run once for each pattern of sentence; a little noise keeps the vectors apart.

    Filling 100,000 memories takes minutes instead of half an hour; questions are embedded as ever.
    """

    def __init__(self) -> None:
        self._model: Embedder = load_minilm(threads=2)
        self._known: dict[str, Encoding] = {}
        self._noise = np.random.default_rng(1)
        self.space: EmbeddingSpace = self._model.space
        self.window_tokens: int = self._model.window_tokens
        self.split = self._model.split
        self.known_share = self._model.known_share

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """The vectors of `encode`."""
        return self.encode(texts, query=query).vectors

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Encoding:
        """As the model's, for the pattern of each text."""
        if query:
            return self._model.encode(texts, query=True)
        found = [self._of_pattern(re.sub(r"\d+", "1000", text)) for text in texts]
        vectors = np.concatenate([encoding.vectors for encoding in found])
        vectors = vectors + self._noise.normal(scale=0.01, size=vectors.shape).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return Encoding(vectors, tuple(tokens for encoding in found for tokens in encoding.tokens))

    def _of_pattern(self, pattern: str) -> Encoding:
        if pattern not in self._known:
            self._known[pattern] = self._model.encode([pattern])
        return self._known[pattern]


@contextmanager
def empty_hub(embedder: str, size: int = 0) -> Iterator[Hub]:
    """A hub outside any repository for `size` memories; `embedder` as in config.toml."""
    with TemporaryDirectory(prefix="memhub-bench-") as folder:
        place = Path(folder)
        settings = Settings(home=place / "home", cwd=place, person_home=place / "nobody", embedder=embedder)
        models = Models(settings)
        if embedder != "off" and size > EACH_EMBEDDED:
            models.embedder = EmbedderDoor.holding(PatternEmbedder())
        hub = open_hub(settings, models=models)
        try:
            yield hub
        finally:
            hub.close()


def fill(hub: Hub, count: int) -> None:
    """Store `count` sentences and wait until each has its vectors."""
    texts = sentences(count)
    for start in range(0, count, CHUNK):
        hub.memories.remember(CALLER, [{"text": text} for text in texts[start : start + CHUNK]])
    while hub.maintenance.run_once():
        pass
