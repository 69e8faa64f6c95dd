"""Text becomes numbers here: embedders and rerankers."""
