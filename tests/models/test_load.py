"""The lazy door: a model is there, on its way, or absent with a reason; never an exception."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memhub_mcp.errors import ModelError
from memhub_mcp.models.door import Door
from memhub_mcp.models.hash_embedder import HashEmbedder
from memhub_mcp.models.load import EmbedderDoor, Models
from memhub_mcp.settings import Settings


def settings(tmp_path: Path, **values: object) -> Settings:
    return Settings(home=tmp_path, cwd=tmp_path, person_home=tmp_path, **values)  # type: ignore[arg-type]


def test_the_embedded_model_is_ready_after_the_first_use(tmp_path: Path):
    models = Models(settings(tmp_path))
    assert models.embedder.state() == "idle"
    embedder = models.embedder.get(60)
    assert embedder is not None
    assert embedder.embed(["hello"]).shape == (1, embedder.space.dimension)
    assert (models.embedder.state(), models.embedder.why()) == ("ready", None)
    models.close()
    assert models.embedder.get(1) is None


def test_nothing_heavy_is_imported_before_the_first_use():
    code = (
        "import sys, memhub_mcp.models.load; "
        "print([name for name in ('numpy', 'onnxruntime', 'tokenizers') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize("missing", ["onnxruntime", "tokenizers"])
def test_a_missing_package_is_a_mode_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str):
    for name in [name for name in sys.modules if name.startswith("memhub_mcp.models.")]:
        if name != "memhub_mcp.models.load":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    door = Models(settings(tmp_path)).embedder
    assert door.get(60) is None
    assert door.state() == "off"
    assert missing in (door.why() or "")


def test_meaning_can_be_switched_off(tmp_path: Path):
    door = Models(settings(tmp_path, embedder="off")).embedder
    assert door.get(1) is None
    assert door.state() == "off"
    assert "switched off" in (door.why() or "")


def test_an_unknown_embedder_is_named_with_those_we_know(tmp_path: Path):
    door = Models(settings(tmp_path, embedder="gpt")).embedder
    assert door.get(1) is None
    assert "'gpt'" in (door.why() or "") and "minilm" in (door.why() or "")


def test_a_slow_load_is_waited_for_no_longer_than_asked():
    may_load = threading.Event()

    def load() -> HashEmbedder:
        may_load.wait(60)
        return HashEmbedder()

    door = Door(load, idle_s=60)
    assert door.get(0.01) is None
    assert door.state() == "loading"
    assert door.why() == "the model is being loaded"
    may_load.set()
    assert door.get(60) is not None
    assert door.state() == "ready"
    door.close()


def test_a_failed_load_says_why_and_is_not_tried_at_once_again():
    tries: list[int] = []

    def load() -> HashEmbedder:
        tries.append(1)
        raise ModelError("the model file is damaged; reinstall it")

    door = Door(load, idle_s=60)
    assert door.get(60) is None
    assert door.get(60) is None
    assert (door.state(), door.why()) == ("off", "the model file is damaged; reinstall it")
    assert len(tries) == 1


def test_an_unexpected_failure_is_a_reason_too():
    def load() -> HashEmbedder:
        raise RuntimeError("engine on fire")

    door = Door(load, idle_s=60)
    assert door.get(60) is None
    assert "engine on fire" in (door.why() or "")


def test_an_idle_model_leaves_memory_and_comes_back():
    left = threading.Event()

    class Watched(HashEmbedder):
        def __del__(self) -> None:
            left.set()

    door = Door(Watched, idle_s=0.01)
    assert door.get(60) is not None
    assert left.wait(60)
    assert door.get(60) is not None
    door.close()


def test_a_door_can_hold_a_model_that_is_there_already():
    embedder = HashEmbedder()
    door = EmbedderDoor.holding(embedder)
    assert (door.state(), door.get()) == ("ready", embedder)


def test_many_threads_load_once():
    loads: list[int] = []
    start = threading.Barrier(8)

    def load() -> str:
        loads.append(1)
        return "model"

    door: Door[str] = Door(load, idle_s=60)
    got: list[str | None] = []

    def ask() -> None:
        start.wait()
        got.append(door.get(60))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == ["model"] * 8
    assert len(loads) == 1
