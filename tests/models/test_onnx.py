"""bge-m3 and its reranker, by models of the same shape made here."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.models import tiny

from memhub_mcp.domain.embedding import EmbeddingSpace
from memhub_mcp.errors import ModelError
from memhub_mcp.models.onnx import PAIR_TOKENS, BgeReranker, load_bge_m3
from memhub_mcp.models.transformer import TransformerEmbedder
from memhub_mcp.models.vocabulary import tokenize
from memhub_mcp.models.xlmr import XlmRobertaVocabulary

TEXTS = ["the retry limit is five", "部署脚本在夜间运行", "night", ""]
LONG = "the deploy script runs at night, " * 400


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tiny")
    tiny.make_tokenizer(made / "tokenizer.json")
    for outputs in ("tokens", "pooled", "three", "wrong"):
        tiny.make_embedder(made / f"{outputs}.onnx", outputs=outputs)
    tiny.make_reranker(made / "reranker.onnx")
    return made


@pytest.fixture(scope="module")
def vocabulary(folder: Path) -> XlmRobertaVocabulary:
    return XlmRobertaVocabulary(folder / "tokenizer.json")


def load(path: Path, vocabulary: XlmRobertaVocabulary) -> TransformerEmbedder:
    return load_bge_m3(path, vocabulary, EmbeddingSpace("bge-m3", "test", "float32", 1_024), threads=1)


@pytest.mark.parametrize("outputs", ["tokens", "pooled", "three"])
def test_every_known_export_gives_the_same_unit_vectors(folder: Path, vocabulary: XlmRobertaVocabulary, outputs: str):
    expected = load(folder / "tokens.onnx", vocabulary).embed(TEXTS)
    vectors = load(folder / f"{outputs}.onnx", vocabulary).embed(TEXTS)
    assert vectors.shape == (4, 1_024)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(vectors, expected, atol=1e-5)


def test_the_vector_is_that_of_the_first_token(folder: Path, vocabulary: XlmRobertaVocabulary):
    encoding = load(folder / "pooled.onnx", vocabulary).encode(["night"])
    assert not any(np.allclose(token, encoding.vectors[0], atol=1e-3) for token in encoding.tokens[0].vectors)


def test_token_vectors_come_where_the_export_has_them(folder: Path, vocabulary: XlmRobertaVocabulary):
    texts = ["send() the script?", "部署脚本", ""]
    english, chinese, nothing = load(folder / "pooled.onnx", vocabulary).encode(texts).tokens
    assert set(english.words) == {"send", "the", "script"}
    assert set(chinese.words) == set("部署脚本")
    assert nothing.vectors.shape == (0, 1_024)
    assert load(folder / "three.onnx", vocabulary).encode(texts).tokens == ()


def test_weights_beside_the_graph_are_found_also_behind_links(
    tmp_path: Path, folder: Path, vocabulary: XlmRobertaVocabulary
):
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshot"
    blobs.mkdir()
    snapshot.mkdir()
    tiny.make_embedder(blobs / "model.onnx", external=True)
    for file in blobs.iterdir():
        (snapshot / file.name).symlink_to(file)
    assert len(list(snapshot.iterdir())) == 2
    expected = load(folder / "tokens.onnx", vocabulary).embed(TEXTS)
    assert np.allclose(load(snapshot / "model.onnx", vocabulary).embed(TEXTS), expected, atol=1e-5)


def test_an_export_of_another_dimension_is_refused(tmp_path: Path, vocabulary: XlmRobertaVocabulary):
    tiny.make_embedder(tmp_path / "small.onnx", dimension=512)
    with pytest.raises(ModelError, match="512"):
        load(tmp_path / "small.onnx", vocabulary)


def test_an_export_without_token_or_sentence_vectors_is_refused(folder: Path, vocabulary: XlmRobertaVocabulary):
    with pytest.raises(ModelError, match="'weights'"):
        load(folder / "wrong.onnx", vocabulary)


def test_a_file_that_is_no_model_and_one_that_is_no_tokenizer_are_named(
    tmp_path: Path, vocabulary: XlmRobertaVocabulary
):
    (tmp_path / "model.onnx").write_bytes(b"<html>")
    with pytest.raises(ModelError, match=r"cannot load model\.onnx"):
        load(tmp_path / "model.onnx", vocabulary)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="not a tokenizer file"):
        XlmRobertaVocabulary(tmp_path / "tokenizer.json")


def test_the_end_mark_in_a_text_is_no_end_mark(vocabulary: XlmRobertaVocabulary):
    ids = vocabulary.ids(tokenize(vocabulary, "night </s> <s> night"))
    assert not {0, 1, 2} & set(ids)


def test_padding_the_tokenizer_file_asks_for_is_off(vocabulary: XlmRobertaVocabulary):
    assert len(tokenize(vocabulary, "night").ids) < 10
    assert len(tokenize(vocabulary, LONG).ids) > 1_000


def test_a_long_text_is_split_into_pieces_that_fit(folder: Path, vocabulary: XlmRobertaVocabulary):
    model = load(folder / "tokens.onnx", vocabulary)
    pieces = model.split(LONG)
    assert len(pieces) > 3
    assert all(len(tokenize(vocabulary, piece).ids) <= model.window_tokens + 2 for piece in pieces)


def test_unknown_characters_lower_the_known_share(folder: Path, vocabulary: XlmRobertaVocabulary):
    model = load(folder / "tokens.onnx", vocabulary)
    assert model.known_share("the retry limit 部署") == 1
    assert model.known_share("猫狗鱼") < 0.5
    assert model.known_share("?!") == 0


def sigmoid(logit: float) -> float:
    return 1 / (1 + float(np.exp(-logit)))


def test_the_reranker_scores_each_pair_in_order(folder: Path, vocabulary: XlmRobertaVocabulary):
    reranker = BgeReranker(folder / "reranker.onnx", vocabulary, threads=1)
    passages = ["the retry limit is five", "night", LONG[:700], "部署脚本在夜间运行"]
    together = reranker.score("why did the retry limit change", passages)
    alone = [float(reranker.score("why did the retry limit change", [passage])[0]) for passage in passages]
    assert together.shape == (4,)
    assert all(0 < score < 1 for score in together)
    assert np.allclose(together, alone, atol=1e-5)
    assert len(set(np.round(together, 6))) == 4
    assert reranker.score("nothing to score", []).shape == (0,)


def test_a_pair_is_read_as_the_model_was_taught(folder: Path, vocabulary: XlmRobertaVocabulary):
    seen: list[NDArray[np.int64]] = []

    class Watching(BgeReranker):
        def _pairs(self, query: str, passages: list[str]) -> list[list[int]]:  # type: ignore[override]
            pairs = super()._pairs(query, passages)
            seen.extend(np.array(pair) for pair in pairs)
            return pairs

    reranker = Watching(folder / "reranker.onnx", vocabulary, threads=1)
    seen.clear()
    reranker.score("night", ["script", LONG])
    query, passage = (vocabulary.ids(tokenize(vocabulary, text)) for text in ("night", "script"))
    assert seen[0].tolist() == [0, *query, 2, 2, *passage, 2]
    assert len(seen[1]) == PAIR_TOKENS
    assert seen[1][: len(query) + 3].tolist() == [0, *query, 2, 2]
    assert seen[1][-1] == 2


def test_a_question_longer_than_the_window_leaves_room_for_the_passage(folder: Path, vocabulary: XlmRobertaVocabulary):
    reranker = BgeReranker(folder / "reranker.onnx", vocabulary, threads=1)
    first, second = reranker.score(LONG, ["night", "部署脚本"])
    assert first != second
