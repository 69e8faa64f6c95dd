"""What an embedder and a reranker are, whatever engine serves them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.domain.embedding import EmbeddingSpace


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The tokens of one text that are words or parts of words, in order; punctuation is left out.

    `pieces` are the model's own tokens (`camel`, `##case`), `words` the lower-cased word that each one is part of
    (`camelcase`, `camelcase`), `vectors` their unit vectors in context, shape (len(pieces), dimension).
    """

    pieces: tuple[str, ...]
    words: tuple[str, ...]
    vectors: NDArray[np.float32]

    def without(self, words: Collection[str]) -> "TokenVectors":
        """The tokens of other words than these; all tokens when none would be left."""
        kept = [place for place, word in enumerate(self.words) if word not in words]
        if not kept or len(kept) == len(self.words):
            return self
        pieces, own = self.pieces, self.words
        return TokenVectors(tuple(pieces[i] for i in kept), tuple(own[i] for i in kept), self.vectors[kept])


@dataclass(frozen=True, slots=True)
class Encoding:
    """What one forward pass gives: a vector a text, and its tokens' vectors.

    `tokens` is empty when the model gives no token vectors.
    """

    vectors: NDArray[np.float32]
    tokens: tuple[TokenVectors, ...]


class Embedder(Protocol):
    """Turns texts into unit vectors of one space."""

    @property
    def space(self) -> EmbeddingSpace: ...

    @property
    def window_tokens(self) -> int:
        """The longest text, in tokens, that is embedded whole; longer ones are the caller's to split."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Unit vectors of `texts`, shape (len(texts), space.dimension), in the same order.

        `query` says that the texts are questions; some models embed those differently.

        Raises:
            ModelError: the model file is missing, damaged, or the engine failed.
        """
        ...

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Encoding:
        """The same vectors, and the token vectors for late interaction, from one pass.

        Raises:
            ModelError: the model file is missing, damaged, or the engine failed.
        """
        ...

    def split(self, text: str) -> list[str]:
        """`text` cut into pieces that fit the window, in order; one piece when it fits.

        Raises:
            ModelError: the process that holds the model does not answer.
        """
        ...

    def known_share(self, text: str) -> float:
        """The share of `text` that is in the model's vocabulary, 0 to 1. Below .5 dense search stays out.

        Raises:
            ModelError: the process that holds the model does not answer.
        """
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
