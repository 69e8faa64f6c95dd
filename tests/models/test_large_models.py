"""The models that are pulled: configured, loaded, shared; made small here, with real digests."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.models import tiny

from memhub_mcp.models.load import Models
from memhub_mcp.models.manifest import MINILM, PinnedModel
from memhub_mcp.settings import Settings

QUESTION, PASSAGES = "why did the retry limit change", ["the retry limit is five", "night", "部署脚本在夜间运行"]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[PinnedModel]]:
    """A folder of models and the pins that they match."""
    root = tmp_path_factory.mktemp("models")
    return root, tiny.make_models(root)


class Process:
    """What one process would hold: several of them share one home here."""

    def __init__(self, home: Path, prepared: tuple[Path, list[PinnedModel]], **settings: object) -> None:
        root, pins = prepared
        values = {"embedder": "bge-m3", "reranker": "bge-reranker-v2-m3", "models_dir": root} | settings
        self.models = Models(Settings(home=home, cwd=home, person_home=home, **values), pinned=pins)  # type: ignore[arg-type]


@pytest.fixture
def owner(tmp_path: Path, prepared: tuple[Path, list[PinnedModel]]) -> Iterator[Models]:
    models = Process(tmp_path, prepared).models
    yield models
    models.close()


@pytest.fixture
def guest(tmp_path: Path, prepared: tuple[Path, list[PinnedModel]]) -> Iterator[Models]:
    models = Process(tmp_path, prepared).models
    yield models
    models.close()


def test_embedder_and_reranker_are_served_to_a_guest_as_they_are(owner: Models, guest: Models):
    embedder, reranker = owner.embedder.get(60), owner.reranker.get(60)
    assert embedder is not None and reranker is not None
    remote_embedder, remote_reranker = guest.embedder.get(60), guest.reranker.get(60)
    assert remote_embedder is not None and remote_reranker is not None
    assert type(remote_embedder) is not type(embedder)
    assert remote_embedder.space == embedder.space
    assert remote_reranker.name == reranker.name == "bge-reranker-v2-m3"
    assert np.array_equal(remote_embedder.embed(PASSAGES), embedder.embed(PASSAGES))
    assert np.array_equal(remote_reranker.score(QUESTION, PASSAGES), reranker.score(QUESTION, PASSAGES))
    assert remote_reranker.score(QUESTION, []).shape == (0,)


def test_embedder_and_reranker_share_one_vocabulary(owner: Models):
    embedder, reranker = owner.embedder.get(60), owner.reranker.get(60)
    assert embedder._vocabulary is reranker._vocabulary  # type: ignore[union-attr]


def test_vectors_name_the_space_they_belong_to(owner: Models):
    embedder = owner.embedder.get(60)
    assert embedder is not None
    assert embedder.space == owner.space_wanted()
    assert embedder.space.name.startswith("bge-m3@r1/float32-")
    assert embedder.space.name.endswith("/1024")


def test_while_the_space_changes_the_old_one_can_still_be_asked(owner: Models):
    old = owner.embedder_of(MINILM.space.name)
    assert old is not None
    new_embedder, old_embedder = owner.embedder.get(60), old.get(60)
    assert new_embedder is not None and old_embedder is not None
    assert old_embedder.embed(["hello"]).shape == (1, 384)
    assert new_embedder.embed(["hello"]).shape == (1, 1_024)
    assert owner.embedder_of(new_embedder.space.name) is owner.embedder
    assert owner.embedder_of("unknown@1/none/64") is None


def test_a_model_that_was_not_pulled_says_how_to_get_it(tmp_path: Path, prepared: tuple[Path, list[PinnedModel]]):
    models = Process(tmp_path, prepared, models_dir=tmp_path / "empty").models
    assert models.embedder.get(60) is None
    assert models.reranker.get(60) is None
    assert models.embedder.state() == models.reranker.state() == "off"
    assert "memhub-mcp models pull bge-m3" in (models.embedder.why() or "")
    assert "memhub-mcp models pull bge-reranker-v2-m3" in (models.reranker.why() or "")
    models.close()


def test_a_guest_hears_why_the_owner_cannot(tmp_path: Path, prepared: tuple[Path, list[PinnedModel]], owner: Models):
    assert owner.embedder_of(MINILM.space.name).get(60) is not None  # type: ignore[union-attr]
    for file in (owner._files.root / "bge-m3" / "r1").glob("*.onnx"):  # type: ignore[attr-defined]
        moved = file.rename(file.with_name("moved"))
    guest = Process(tmp_path, prepared).models
    assert guest.embedder.get(60) is None
    assert "model.onnx is missing" in (guest.embedder.why() or "")
    moved.rename(file)
    guest.close()


@pytest.mark.parametrize(("name", "words"), [("gpt", "known: bge-reranker-v2-m3"), (None, "no reranker")])
def test_a_reranker_we_do_not_have_is_a_reason(
    tmp_path: Path, prepared: tuple[Path, list[PinnedModel]], name: str | None, words: str
):
    door = Process(tmp_path, prepared, reranker=name).models.reranker
    assert (door.get(1), door.state()) == (None, "off")
    assert words in (door.why() or "")
