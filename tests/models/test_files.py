"""Model files on disk: listed, checked, taken from elsewhere."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.models.test_fetch import COMPLETE, GRAPH, MODEL, ROOT, TOKENIZER, content_of

from memhub_mcp.errors import ModelError
from memhub_mcp.models.files import ModelFiles, packaged_state, verify_packaged
from memhub_mcp.models.manifest import MINILM, MINILM_VOCABULARY, MODELS, PACKAGED


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
    taken = files.add(prepared, progress=lambda name, done, total: seen.append(name))
    assert [(model, file.name) for model, file in taken] == [(MODEL, "tokenizer.json"), (MODEL, "model.onnx")]
    assert content_of(files.checked(MODEL)) == COMPLETE
    assert not any(path.is_symlink() for path in files.folder(MODEL).iterdir())
    assert set(seen) == {"model.onnx", "tokenizer.json"}


def test_files_may_come_one_by_one(files: ModelFiles, prepared: Path):
    files.add(prepared / "main" / "onnx" / "renamed.onnx")
    assert files.state(MODEL) == "partial"
    files.add(prepared / "main" / "onnx" / "tokenizer.json")
    assert files.state(MODEL) == "present"


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
    assert files.state(MODEL) == "present"


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
    files.add(prepared)
    assert content_of(files.checked(MODEL)) == COMPLETE


def test_a_model_may_be_named_when_files_are_taken(files: ModelFiles, prepared: Path, tmp_path: Path):
    other = replace(MODEL, name="other", tokenizer=replace(MODEL.tokenizer, sha256="0" * 64))
    both = ModelFiles(tmp_path / "models", [other, MODEL])
    both.add(prepared, only=MODEL)
    assert (both.state(MODEL), both.state(other)) == ("present", "absent")
    with pytest.raises(ModelError, match="holds none"):
        both.add(files.folder(MODEL) / "tokenizer.json", only=other)


def test_what_an_interrupted_fetch_left_can_be_taken(files: ModelFiles, prepared: Path):
    files.add(prepared)
    graph = files.folder(MODEL) / "model.onnx"
    graph.rename(graph.with_name("model.onnx.part"))
    assert files.state(MODEL) == "partial"
    files.add(files.root)
    assert content_of(files.folder(MODEL))["model.onnx"] == GRAPH


def test_files_are_not_taken_while_another_process_writes_them(files: ModelFiles, prepared: Path):
    with files.writing(MODEL), pytest.raises(ModelError, match="another process"):
        files.add(prepared)
    (files.folder(MODEL) / "model.onnx.copy").write_bytes(b"left by an add that was killed")
    files.add(prepared)
    assert content_of(files.folder(MODEL)) == COMPLETE


@pytest.mark.skipif(sys.platform == "win32", reason="no limits")
def test_files_that_do_not_fit_leave_nothing_behind(files: ModelFiles, prepared: Path):
    code = (
        "import resource, sys; from tests.models.test_fetch import *;"
        " resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000));"
        " ModelFiles(Path(sys.argv[1]), [MODEL]).add(Path(sys.argv[2]))"
    )
    failed = subprocess.run(
        [sys.executable, "-c", code, str(files.root), str(prepared)], cwd=ROOT, capture_output=True, text=True
    )
    assert "ModelError" in failed.stderr and "cannot be copied to" in failed.stderr
    assert content_of(files.folder(MODEL)) == {"tokenizer.json": TOKENIZER}


def test_models_that_arrive_in_packages_are_checked_too():
    for model in PACKAGED:
        installed = packaged_state(model) == "present"
        assert all((report.problem is None) is installed for report in verify_packaged(model))
    assert packaged_state(MINILM) == "present"
    damaged = replace(MINILM, files={"memhub_mcp.models": replace(MINILM_VOCABULARY, sha256="0" * 64)})
    assert [report.problem for report in verify_packaged(damaged)] == [
        "minilm_vocab.txt does not have the pinned digest"
    ]
    absent = replace(MINILM, files={"no_such_package": MINILM_VOCABULARY})
    assert packaged_state(absent) == "absent"
    assert "not installed" in (verify_packaged(absent)[0].problem or "")


def test_each_pin_is_complete():
    for model in MODELS:
        assert len(model.revision) == 40
        assert model.size > 500_000_000
        assert all(len(bytes.fromhex(file.sha256)) == 32 and file.size > 1_000_000 for file in model.files)
        assert len({file.name for file in model.files}) == len(model.files)
