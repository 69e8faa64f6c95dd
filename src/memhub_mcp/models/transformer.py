"""Embedders that are a transformer in an ONNX file: one class, made different by its parts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.domain.embedding import EmbeddingSpace
from memhub_mcp.errors import ModelError
from memhub_mcp.models.arrays import batches, padded, unit
from memhub_mcp.models.engine import Engine
from memhub_mcp.models.protocols import Encoding, TokenVectors
from memhub_mcp.models.vocabulary import Vocabulary, split, tokenize

_SENTENCE_OUTPUTS = ("sentence_embedding", "dense_vecs")
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How a model reads a text: `window` and `overlap` in tokens, special tokens and prefix not counted."""

    window: int
    overlap: int
    pooling: Literal["mean", "first"]
    query_prefix: str = ""
    text_prefix: str = ""


class TransformerEmbedder:
    """An Embedder. A text over the window is cut: `split` it first."""

    def __init__(self, space: EmbeddingSpace, engine: Engine, vocabulary: Vocabulary, shape: Shape) -> None:
        """Check by a first run that the graph gives what `space` says.

        Raises:
            ModelError: the graph has no usable output, or one of another dimension.
        """
        self.space = space
        self.window_tokens = shape.window
        self._engine = engine
        self._vocabulary = vocabulary
        self._shape = shape
        self._prefixes = {
            query: vocabulary.ids(tokenize(vocabulary, prefix)) if prefix else []
            for query, prefix in ((True, shape.query_prefix), (False, shape.text_prefix))
        }
        self._sentence, self._tokens = _outputs(engine, space)
        self.embed(["ready?"])

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Unit vectors of `texts`, shape (len(texts), space.dimension), in the same order."""
        vectors = np.zeros((len(texts), self.space.dimension), dtype=np.float32)
        rows = [self._row(self._ids(text), query) for text in texts]
        for positions, pooled, _ in self._forward(rows, with_tokens=False):
            vectors[positions] = pooled
        return vectors

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Encoding:
        """The vectors of `embed` and the token vectors, from one pass."""
        vectors = np.zeros((len(texts), self.space.dimension), dtype=np.float32)
        encodings = [tokenize(self._vocabulary, text) for text in texts]
        rows = [self._row(self._vocabulary.ids(encoding), query) for encoding in encodings]
        tokens: dict[int, TokenVectors] = {}
        shift = 1 + len(self._prefixes[query])
        for positions, pooled, hidden in self._forward(rows, with_tokens=True):
            vectors[positions] = pooled
            if hidden is None:
                continue
            for row, position in enumerate(positions):
                words = self._vocabulary.words(encodings[position], texts[position])
                kept = [(place, word) for place, word in words if place < self.window_tokens]
                pieces = encodings[position].tokens
                tokens[position] = TokenVectors(
                    pieces=tuple(pieces[place] for place, _ in kept),
                    words=tuple(word for _, word in kept),
                    vectors=unit(hidden[row, [place + shift for place, _ in kept]]),
                )
        return Encoding(vectors, tuple(tokens[position] for position in sorted(tokens)))

    def split(self, text: str) -> list[str]:
        """`text` in pieces of at most `window_tokens`, neighbours sharing a few."""
        return split(self._vocabulary, text, window=self.window_tokens, overlap=self._shape.overlap)

    def known_share(self, text: str) -> float:
        """The share of `text` that the vocabulary stands for."""
        return self._vocabulary.known_share(text)

    def _ids(self, text: str) -> list[int]:
        return self._vocabulary.ids(tokenize(self._vocabulary, text))

    def _row(self, ids: list[int], query: bool) -> list[int]:
        return [self._vocabulary.first, *self._prefixes[query], *ids[: self.window_tokens], self._vocabulary.last]

    def _forward(
        self, rows: Sequence[Sequence[int]], *, with_tokens: bool
    ) -> Iterator[tuple[list[int], NDArray[np.float32], NDArray[np.float32] | None]]:
        """For each batch: positions, pooled unit vectors, hidden states where the graph gives them."""
        wanted = [self._sentence] if self._sentence and not with_tokens else [self._sentence, self._tokens]
        names = [name for name in wanted if name]
        for positions in batches([len(row) for row in rows]):
            ids, mask = padded([rows[position] for position in positions], pad=self._vocabulary.pad)
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            found = dict(zip(names, self._engine.run(feed, names), strict=True))
            hidden = found.get(self._tokens) if self._tokens else None
            pooled = found[self._sentence] if self._sentence else self._pooled(found[names[-1]], mask)
            if pooled.shape != (len(positions), self.space.dimension):
                raise ModelError(f"the model gave {pooled.shape}, not {self.space.dimension} numbers a text")
            yield positions, unit(pooled), hidden

    def _pooled(self, hidden: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        if hidden.ndim != 3:
            raise ModelError(f"the model gave an array of {hidden.ndim} dimensions where token vectors were expected")
        if self._shape.pooling == "first":
            return hidden[:, 0]
        weights = mask[:, :, None].astype(np.float32)
        return (hidden * weights).sum(axis=1) / weights.sum(axis=1)


def _outputs(engine: Engine, space: EmbeddingSpace) -> tuple[str | None, str | None]:
    """The graph's output that is a vector a text, and the one that is a vector a token; at least one."""
    sentence = next((name for name in _SENTENCE_OUTPUTS if name in engine.outputs), None)
    tokens = next((name for name in _TOKEN_OUTPUTS if name in engine.outputs), None)
    if sentence is None and tokens is None and len(engine.outputs) == 1:
        tokens = next(iter(engine.outputs))
    for name, rank in ((sentence, 2), (tokens, 3)):
        if name is not None:
            shape = engine.outputs[name]
            width = shape[-1] if shape else None
            if len(shape) != rank or (isinstance(width, int) and width != space.dimension):
                raise ModelError(
                    f"output {name!r} of {space.model} has the shape {shape}; expected {rank} dimensions,"
                    f" the last {space.dimension}"
                )
    if sentence is None and tokens is None:
        raise ModelError(f"{space.model} has none of the outputs we know; it has {', '.join(engine.outputs)}")
    return sentence, tokens
