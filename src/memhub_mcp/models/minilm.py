"""The embedder that arrives as a dependency: all-MiniLM-L6-v2, English, 384 dimensions."""

from memhub_mcp.models.engine import Engine
from memhub_mcp.models.files import read_embedded
from memhub_mcp.models.manifest import MINILM
from memhub_mcp.models.slim import pick_before_scaling
from memhub_mcp.models.transformer import Shape, TransformerEmbedder
from memhub_mcp.models.wordpiece import WordPieceVocabulary

SHAPE = Shape(window=254, overlap=32, pooling="mean")
"""With [CLS] and [SEP] 256 tokens, which is where the model's authors cut."""

_WORD_TABLE = "inner.embeddings.word_embeddings.weight"


def load_minilm(*, threads: int) -> TransformerEmbedder:
    """The embedded embedder.

    Raises:
        ModelError: weights or vocabulary are missing or damaged, or the engine cannot load them.
    """
    vocabulary = WordPieceVocabulary()
    engine = Engine(pick_before_scaling(read_embedded(), _WORD_TABLE), threads=threads)
    return TransformerEmbedder(MINILM.space, engine, vocabulary, SHAPE)
