"""The embedder that tests use where meaning is not the point."""

import subprocess
import sys

import numpy as np

from memhub_mcp.models.hash_embedder import HashEmbedder


def test_texts_that_share_words_are_near_and_others_are_not():
    vectors = HashEmbedder().embed(["the retry limit", "retry limit five", "yellow bananas"])
    assert vectors.shape == (3, 64)
    assert vectors[0] @ vectors[1] > 0.4 > vectors[0] @ vectors[2]


def test_the_same_text_has_the_same_vector_in_every_process():
    code = "from memhub_mcp.models.hash_embedder import *; print(HashEmbedder().embed(['naïve']).tobytes().hex())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert HashEmbedder().embed(["naïve"]).tobytes().hex() == other


def test_a_text_without_words_and_no_text_at_all_are_answered():
    assert np.allclose(np.linalg.norm(HashEmbedder(dimension=100).embed(["", "?!"]), axis=1), 1)
    assert HashEmbedder().encode([]).vectors.shape == (0, 64)


def test_token_vectors_stand_beside_the_texts():
    encoding = HashEmbedder().encode(["Retry limit", ""])
    assert [tokens.words for tokens in encoding.tokens] == [("retry", "limit"), ()]
    assert encoding.tokens[0].vectors.shape == (2, 64)


def test_long_texts_are_split():
    pieces = HashEmbedder().split("word " * 600)
    assert [len(piece.split()) for piece in pieces] == [256, 256, 88]
