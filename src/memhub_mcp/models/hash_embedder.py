"""A small embedder for tests: fast, exact, the same everywhere. Never chosen on its own."""

import re
from collections.abc import Sequence
from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.domain.embedding import EmbeddingSpace
from memhub_mcp.models.arrays import unit
from memhub_mcp.models.protocols import Encoding, TokenVectors

_WORD = re.compile(r"\w+")


class HashEmbedder:
    """An Embedder that knows words by their hash: texts that share words are near, others are not."""

    window_tokens = 256

    def __init__(self, *, dimension: int = 64, model: str = "hash") -> None:
        self.space = EmbeddingSpace(model=model, revision="1", quantisation="none", dimension=dimension)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Unit vectors: the sum of the words' vectors; a text without words is one word of its own."""
        return self.encode(texts).vectors

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Encoding:
        """The vectors of `embed`, and one vector a word."""
        tokens = tuple(self._tokens(text) for text in texts)
        sums = [
            token.vectors.sum(axis=0) if token.words else self._vector(text)
            for token, text in zip(tokens, texts, strict=True)
        ]
        return Encoding(unit(np.array(sums, dtype=np.float32).reshape(len(texts), self.space.dimension)), tokens)

    def split(self, text: str) -> list[str]:
        """`text` in pieces of at most `window_tokens` words."""
        words = list(_WORD.finditer(text))
        if len(words) <= self.window_tokens:
            return [text]
        starts = range(0, len(words), self.window_tokens)
        return [text[words[at].start() : words[min(at + self.window_tokens, len(words)) - 1].end()] for at in starts]

    def known_share(self, text: str) -> float:
        """1: every word has a hash."""
        return 1.0

    def _tokens(self, text: str) -> TokenVectors:
        words = tuple(word.lower() for word in _WORD.findall(text)[: self.window_tokens])
        vectors = np.array([self._vector(word) for word in words], dtype=np.float32)
        return TokenVectors(words, words, vectors.reshape(len(words), self.space.dimension))

    def _vector(self, word: str) -> NDArray[np.float32]:
        digest = shake_256(word.encode("utf-8", "surrogatepass")).digest(-(-self.space.dimension // 8))
        bits = np.unpackbits(np.frombuffer(digest, dtype=np.uint8))[: self.space.dimension]
        return unit(bits.astype(np.float32) * 2 - 1)
