"""What an embedder and a reranker are, whatever engine serves them."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.domain.embedding import EmbeddingSpace


class Embedder(Protocol):
    """Turns texts into unit vectors of one space."""

    @property
    def space(self) -> EmbeddingSpace: ...

    @property
    def window_tokens(self) -> int:
        """The longest text, in tokens, that is embedded whole; longer ones are the caller's to split."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of `texts`, shape (len(texts), space.dimension), in the same order.

        Raises:
            ModelError: the model file is missing, damaged, or the engine failed.
        """
        ...

    def split(self, text: str) -> list[str]:
        """`text` cut into pieces that fit the window, in order; one piece when it fits."""
        ...

    def known_share(self, text: str) -> float:
        """The share of `text` that is in the model's vocabulary, 0 to 1. Below .5 dense search stays out."""
        ...


class Reranker(Protocol):
    """Scores how well each passage answers the query."""

    @property
    def name(self) -> str: ...

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """One score in 0..1 a passage, shape (len(passages),), in the same order.

        Raises:
            ModelError: the model file is missing, damaged, or the engine failed.
        """
        ...
