"""Model files on disk: listed, checked, taken from elsewhere."""

from pathlib import Path

import pytest
from tests.models.test_fetch import COMPLETE, GRAPH, MODEL, TOKENIZER, content_of

from memhub_mcp.errors import ModelError, NotFound
from memhub_mcp.models.files import ModelFiles
from memhub_mcp.models.manifest import MODELS, pinned


@pytest.fixture
def files(tmp_path: Path) -> ModelFiles:
    return ModelFiles(tmp_path / "models", [MODEL])


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """A folder as a model hub's cache keeps it: names are links to blobs."""
    blobs, snapshot = tmp_path / "cache" / "blobs", tmp_path / "cache" / "snapshots" / "main" / "onnx"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for blob, name, content in (("b1", "renamed.onnx", GRAPH), ("b2", "tokenizer.json", TOKENIZER)):
        (blobs / blob).write_bytes(content)
        (snapshot / name).symlink_to(blobs / blob)
    return tmp_path / "cache" / "snapshots"


def test_files_from_disk_are_recognised_by_their_content(files: ModelFiles, prepared: Path):
    seen: list[str] = []
    assert files.add(prepared, progress=lambda name, done, total: seen.append(name)) == [MODEL]
    assert content_of(files.checked(MODEL)) == COMPLETE
    assert not any(path.is_symlink() for path in files.folder(MODEL).iterdir())
    assert set(seen) == {"model.onnx", "tokenizer.json"}


def test_files_may_come_one_by_one(files: ModelFiles, prepared: Path):
    assert files.add(prepared / "main" / "onnx" / "renamed.onnx") == []
    assert files.on_disk()[0].state == "partial"
    assert files.add(prepared / "main" / "onnx" / "tokenizer.json") == [MODEL]


def test_other_files_are_refused_with_what_is_expected(files: ModelFiles, tmp_path: Path):
    (tmp_path / "model.onnx").write_bytes(b"another model")
    with pytest.raises(ModelError, match=r"model\.onnx \(131,072 bytes\)"):
        files.add(tmp_path)
    with pytest.raises(ModelError, match="not a file or folder"):
        files.add(tmp_path / "nowhere")


def test_a_folder_prepared_by_hand_is_used_as_it_is(files: ModelFiles):
    by_hand = files.root / "tiny"
    by_hand.mkdir(parents=True)
    for name, content in COMPLETE.items():
        (by_hand / name).write_bytes(content)
    assert files.checked(MODEL) == by_hand
    assert files.on_disk()[0].state == "present"


def test_what_is_missing_or_damaged_is_said(files: ModelFiles, prepared: Path):
    with pytest.raises(ModelError, match=r"is missing .* models pull tiny"):
        files.checked(MODEL)
    files.add(prepared)
    files.checked(MODEL)
    graph = files.folder(MODEL) / "model.onnx"
    graph.write_bytes(GRAPH[:-1] + b"?")
    assert {report.name: report.problem for report in files.verify(MODEL)} == {
        "model.onnx": "model.onnx does not have the pinned digest",
        "tokenizer.json": None,
    }
    with pytest.raises(ModelError, match="pinned digest"):
        files.checked(MODEL)
    graph.write_bytes(GRAPH[:-1])
    assert files.verify(MODEL)[1].problem == "model.onnx has 131,071 bytes, not 131,072"


def test_a_damaged_file_is_replaced_by_adding_it_again(files: ModelFiles, prepared: Path):
    files.add(prepared)
    (files.folder(MODEL) / "model.onnx").write_bytes(bytes(len(GRAPH)))
    assert files.add(prepared) == [MODEL]
    assert content_of(files.checked(MODEL)) == COMPLETE


def test_an_unknown_model_is_answered_with_the_known_ones():
    assert pinned("bge-m3").repository == "Xenova/bge-m3"
    with pytest.raises(NotFound, match="bge-m3, bge-reranker-v2-m3"):
        pinned("gpt")


def test_each_pin_is_complete():
    for model in MODELS:
        assert len(model.revision) == 40
        assert model.size > 500_000_000
        assert all(len(bytes.fromhex(file.sha256)) == 32 and file.size > 1_000_000 for file in model.files)
        assert len({file.name for file in model.files}) == len(model.files)
