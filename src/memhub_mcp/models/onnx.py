"""bge-m3 and bge-reranker-v2-m3 as ONNX files."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.domain.embedding import EmbeddingSpace
from memhub_mcp.errors import ModelError
from memhub_mcp.models.arrays import batches, padded
from memhub_mcp.models.engine import Engine
from memhub_mcp.models.transformer import Shape, TransformerEmbedder
from memhub_mcp.models.vocabulary import Vocabulary, tokenize

BGE_M3_SHAPE = Shape(window=510, overlap=64, pooling="first")
"""The model reads 8,192 tokens; a long text is found better, and in bearable time, by its pieces."""

PAIR_TOKENS = 512
_LEAST_PASSAGE = 64


def load_bge_m3(path: Path, vocabulary: Vocabulary, space: EmbeddingSpace, *, threads: int) -> TransformerEmbedder:
    """The bge-m3 embedder: first token, unit length, no prefixes.

    Raises:
        ModelError: the engine cannot load `path`, or it does not give what `space` says.
    """
    return TransformerEmbedder(space, Engine(path, threads=threads), vocabulary, BGE_M3_SHAPE)


class BgeReranker:
    """A Reranker: reads question and passage together and says how well they fit."""

    name = "bge-reranker-v2-m3"

    def __init__(self, path: Path, vocabulary: Vocabulary, *, threads: int) -> None:
        """Load the graph at `path` and try it.

        Raises:
            ModelError: the engine cannot load it, or it does not give one number a pair.
        """
        self._vocabulary = vocabulary
        self._engine = Engine(path, threads=threads)
        outputs = self._engine.outputs
        self._output = "logits" if "logits" in outputs else next(iter(outputs))
        self.score("ready?", ["ready"])

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """One score in 0..1 a passage, in the same order. Of a pair that is too long the passage is cut."""
        scores = np.zeros(len(passages), dtype=np.float32)
        rows = self._pairs(query, passages)
        for positions in batches([len(row) for row in rows]):
            ids, mask = padded([rows[position] for position in positions], pad=self._vocabulary.pad)
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            (logits,) = self._engine.run(feed, [self._output])
            if logits.shape not in ((len(positions), 1), (len(positions),)):
                raise ModelError(f"{self.name} gave {logits.shape}, not one number a pair; pull the model again")
            scores[positions] = 1 / (1 + np.exp(-logits.reshape(-1).astype(np.float64)))
        return scores

    def _pairs(self, query: str, passages: Sequence[str]) -> list[list[int]]:
        """`<s> query </s></s> passage </s>` for each passage."""
        first, last = self._vocabulary.first, self._vocabulary.last
        asked = self._ids(query)[: PAIR_TOKENS - 4 - _LEAST_PASSAGE]
        room = PAIR_TOKENS - 4 - len(asked)
        return [[first, *asked, last, last, *self._ids(passage)[:room], last] for passage in passages]

    def _ids(self, text: str) -> list[int]:
        return self._vocabulary.ids(tokenize(self._vocabulary, text))
