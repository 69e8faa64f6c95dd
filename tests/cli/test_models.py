"""`models`: what there is, fetched, taken from disk, verified.

The installed script knows the real models alone, which no test fetches: with small ones of the same shape its function
is called instead.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import SCRIPT, Memhub
from tests.models import hub as hubs
from tests.models import tiny
from tests.models.hub import Hub, running_hub

from memhub_mcp.cli.models import run
from memhub_mcp.errors import InvalidInput, MemhubError, ModelError, NotFound
from memhub_mcp.models.load import Models
from memhub_mcp.models.manifest import BGE_M3, PinnedModel
from memhub_mcp.settings import load_settings

Command = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[PinnedModel]]:
    root = tmp_path_factory.mktemp("made")
    return root, tiny.make_models(root)


@pytest.fixture
def hub(made: tuple[Path, list[PinnedModel]]) -> Iterator[Hub]:
    root, pins = made
    content = {
        f"/{model.repository}/resolve/{model.revision}/{file.source}": (
            root / model.name / "r1" / file.name
        ).read_bytes()
        for model in pins
        for file in model.files
    }
    with running_hub(content) as running:
        yield running


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "memhub"


@pytest.fixture
def models(
    made: tuple[Path, list[PinnedModel]],
    hub: Hub,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    """Exit code and reply of one `models … --json` that knows the small models."""
    for name in ("MEMHUB_MODELS_DIR", "MEMHUB_OFFLINE", "HF_HUB_OFFLINE", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMHUB_MODEL_MIRROR", hub.url)

    def command(*words: str) -> tuple[int, Any]:
        code = run(["--home", str(home), *words, "--json"], pinned=made[1])
        said = capsys.readouterr()
        assert said.err == ""  # no progress where there is no terminal
        return code, json.loads(said.out)

    return command


def states(reply: Any) -> dict[str, str]:
    return {model["name"]: model["state"] for model in reply["models"]}


def test_a_model_is_pulled_listed_verified_and_used(
    models: Command, made: tuple[Path, list[PinnedModel]], home: Path, hub: Hub
):
    assert states(models("list")[1])["bge-m3"] == "absent"
    code, pulled = models("pull", "bge-m3")
    assert (code, states(pulled)) == (0, {"bge-m3": "present"})
    assert pulled["notes"] == [f'to use it, write embedder = "bge-m3" in {home / "config.toml"}']
    (home / "config.toml").write_text('embedder = "bge-m3"\n')
    asked = list(hub.asked)
    assert models("pull", "bge-m3") == (0, {"models": [{**pulled["models"][0], "chosen": True}]})
    assert hub.asked == asked
    listed = models()[1]
    assert [model["name"] for model in listed["models"] if model["chosen"]] == ["bge-m3"]
    code, checked = models("verify")
    assert (code, checked["ok"]) == (0, True)
    assert {"minilm", "bge-m3"} <= {model["name"] for model in checked["models"]}
    loaded = Models(load_settings(home=home), pinned=made[1])
    embedder = loaded.embedder.get(60)
    assert embedder is not None
    assert embedder.embed(["hello"]).shape == (1, tiny.DIMENSION)
    loaded.close()


@pytest.mark.skipif(os.name == "nt", reason="modes mean nothing there")
def test_what_is_pulled_is_the_persons_alone(models: Command, home: Path):
    models("pull", "bge-m3")
    assert all(path.stat().st_mode & 0o077 == 0 for path in (home, *home.rglob("*")))


def test_a_pull_that_broke_off_goes_on(models: Command, hub: Hub):
    hub.next = [hubs.breaks_off(1_000), *[hubs.says(404)]]
    with pytest.raises(ModelError, match=r"404.*models add PATH"):
        models("pull", "bge-reranker-v2-m3")
    reply = models("list")[1]
    assert states(reply)["bge-reranker-v2-m3"] == "partial"
    assert models("verify")[0] == 1
    assert models("pull", "bge-reranker-v2-m3")[0] == 0
    assert "bytes=1000-" in [wanted for _, wanted in hub.asked]


def test_a_chosen_model_that_is_not_here_is_noted(models: Command, home: Path):
    home.mkdir()
    (home / "config.toml").write_text('embedder = "bge-m3"\n')
    assert models("list")[1]["notes"] == ["bge-m3 is chosen and not here; run `memhub-mcp models pull bge-m3`"]
    assert models("verify")[0] == 1


def test_files_on_disk_are_taken(models: Command, made: tuple[Path, list[PinnedModel]], hub: Hub):
    root, _ = made
    folder = root / "bge-reranker-v2-m3" / "r1"
    code, reply = models("add", "bge-reranker-v2-m3", str(folder / "model.onnx"))
    assert (code, states(reply)) == (0, {"bge-reranker-v2-m3": "partial"})
    assert reply["notes"] == [
        "found model.onnx of bge-reranker-v2-m3",
        "bge-reranker-v2-m3 is not complete yet; run `memhub-mcp models pull bge-reranker-v2-m3`",
    ]
    code, reply = models("add", str(root))
    assert (code, states(reply)) == (0, {"bge-m3": "present", "bge-reranker-v2-m3": "present"})
    assert hub.asked == []
    assert models("verify")[0] == 0


def test_a_damaged_file_is_found_and_fetched_again(models: Command, home: Path):
    models("pull", "bge-m3")
    graph = home / "models" / "bge-m3" / "r1" / "model.onnx"
    graph.write_bytes(bytes(graph.stat().st_size))
    code, reply = models("verify", "bge-m3")
    assert (code, reply["ok"]) == (1, False)
    problems = [file["problem"] for file in reply["models"][0]["files"] if "problem" in file]
    assert problems == ["model.onnx does not have the pinned digest"]
    assert models("pull", "bge-m3")[0] == 0
    assert models("verify", "bge-m3")[0] == 0


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        (["pull", "gpt"], NotFound, "known: minilm, multilingual, bge-m3, bge-reranker-v2-m3"),
        (["verify", "gpt"], NotFound, "known: minilm"),
        (["add", "gpt", "."], NotFound, "known: minilm"),
        (["add", "minilm", "."], InvalidInput, "comes with a package"),
        (["add", "/nowhere/at/all"], ModelError, "not a file or folder"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(models: Command, words: list[str], kind: type[MemhubError], said: str):
    with pytest.raises(kind, match=said):
        models(*words)


def test_on_a_terminal_a_bar_shows_how_far_it_is(
    models: Command, made: tuple[Path, list[PinnedModel]], home: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
):
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        run(["--home", str(home), "pull", "bge-reranker-v2-m3"], pinned=made[1])
        terminal.flush()
        shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert "tokenizer.json" in shown and "model.onnx" in shown
    assert "100%" in shown


# The installed script.


def test_the_models_of_this_installation_are_listed(memhub: Memhub, tmp_path: Path):
    listed = memhub("models", "list", "--json")
    assert (listed.returncode, listed.stderr) == (0, "")
    found = {model["name"]: model for model in json.loads(listed.stdout)["models"]}
    assert list(found) == ["minilm", "multilingual", "bge-m3", "bge-reranker-v2-m3"]
    assert found["minilm"]["state"] == "present" and found["minilm"]["chosen"]
    assert (found["bge-m3"]["licence"], found["bge-m3"]["size_bytes"]) == ("MIT", 585_539_515)
    assert not (tmp_path / "memhub").exists()
    shown = memhub("models").stdout
    assert "minilm  embedder  chosen" in shown
    assert "not here: run `memhub-mcp models pull bge-m3`" in shown


def test_the_model_that_came_with_the_package_is_verified(memhub: Memhub):
    checked = memhub("models", "verify", "minilm")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "model.onnx is right\n  minilm_vocab.txt is right" in checked.stdout
    assert memhub("models", "verify").returncode == 0
    assert memhub("models", "pull", "minilm").returncode == 0


def test_prepared_files_that_are_not_the_model_fail(memhub: Memhub, tmp_path: Path):
    assert memhub("models", "verify", "bge-m3").returncode == 1
    prepared = tmp_path / "prepared" / "bge-m3" / BGE_M3.revision
    prepared.mkdir(parents=True)
    (prepared / "model_int8.onnx").write_bytes(b"abc")
    checked = memhub("models", "verify", "--json", MEMHUB_MODELS_DIR=str(tmp_path / "prepared"))
    assert checked.returncode == 1
    assert "model_int8.onnx has 3 bytes, not 568,456,694" in checked.stdout


def refused(reply: subprocess.CompletedProcess[str], code: int = 1) -> str:
    """The one sentence that a command was refused with."""
    assert (reply.returncode, reply.stdout) == (code, "")
    assert reply.stderr.startswith("memhub-mcp: ")
    assert reply.stderr.count("\n") == 1
    return reply.stderr


@pytest.mark.parametrize("name", ["MEMHUB_OFFLINE", "HF_HUB_OFFLINE"])
def test_offline_nothing_is_fetched(memhub: Memhub, name: str):
    said = refused(memhub("models", "pull", "bge-m3", **{name: "1"}))
    assert "switched off" in said and "models add PATH" in said


@pytest.mark.parametrize("name", ["MEMHUB_MODEL_MIRROR", "HF_ENDPOINT"])
def test_the_mirror_is_asked(memhub: Memhub, hub: Hub, name: str):
    assert "answered 404" in refused(memhub("models", "pull", "bge-m3", **{name: hub.url}))
    assert hub.asked == [(f"/Xenova/bge-m3/resolve/{BGE_M3.revision}/tokenizer.json", None)]
    assert "not an http(s) address" in refused(memhub("models", "pull", "bge-m3", **{name: "hf-mirror.example"}))


def test_unknown_names_and_actions_are_refused(memhub: Memhub, tmp_path: Path):
    assert "there is no model 'gpt'" in refused(memhub("models", "pull", "gpt"))
    (tmp_path / "model.onnx").write_bytes(b"another model")
    assert "holds none of the pinned model files" in refused(memhub("models", "add", str(tmp_path / "model.onnx")))
    for words in (["pull"], ["fetch", "bge-m3"], ["add"], ["list", "bge-m3"], ["verify", "a", "b"]):
        wrong = memhub("models", *words)
        assert wrong.returncode == 2
        assert "say list, pull NAME" in wrong.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of Posix")
def test_an_interrupted_pull_keeps_what_came(environment: dict[str, str], hub: Hub, tmp_path: Path):
    path = f"/Xenova/bge-m3/resolve/{BGE_M3.revision}/tokenizer.json"
    hub.content[path] = bytes(BGE_M3.tokenizer.size)
    hub.next = [hubs.stalls(50_000)]
    part = tmp_path / "memhub" / "models" / "bge-m3" / BGE_M3.revision / "tokenizer.json.part"
    with subprocess.Popen(
        [SCRIPT, "models", "pull", "bge-m3"],
        env={**environment, "MEMHUB_MODEL_MIRROR": hub.url},
        stderr=subprocess.PIPE,
        text=True,
    ) as pulling:
        pause, until = threading.Event(), time.monotonic() + 60
        while not part.exists() or not part.stat().st_size:
            assert time.monotonic() < until
            pause.wait(0.01)
        pulling.send_signal(signal.SIGINT)
        _, said = pulling.communicate(timeout=60)
    assert (pulling.returncode, said) == (130, "memhub-mcp: interrupted\n")
    assert part.stat().st_size == 50_000
