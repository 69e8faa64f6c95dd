"""`models pull`: whatever the network does, a model is complete and right, or not there."""

import hashlib
import importlib.util
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from tests.models import hub as hubs
from tests.models.hub import Hub, running_hub

from memhub_mcp.errors import ModelError
from memhub_mcp.models.fetch import Fetcher
from memhub_mcp.models.files import ModelFiles, free_bytes
from memhub_mcp.models.lock import ProcessLock
from memhub_mcp.models.manifest import PinnedFile, PinnedModel

GRAPH = bytes(range(256)) * 512
TOKENIZER = b'{"version": "1.0"}'


def pin(source: str, content: bytes) -> PinnedFile:
    return PinnedFile(source=source, size=len(content), sha256=hashlib.sha256(content).hexdigest())


ROOT = Path(__file__).parents[2]

MODEL = PinnedModel(
    name="tiny",
    kind="embedder",
    repository="someone/tiny",
    revision="a" * 40,
    licence="MIT",
    quantisation="float32",
    graph=pin("onnx/model.onnx", GRAPH),
    tokenizer=pin("tokenizer.json", TOKENIZER),
)
GRAPH_PATH = f"/someone/tiny/resolve/{'a' * 40}/onnx/model.onnx"
TOKENIZER_PATH = f"/someone/tiny/resolve/{'a' * 40}/tokenizer.json"


@pytest.fixture
def hub() -> Iterator[Hub]:
    with running_hub({GRAPH_PATH: GRAPH, TOKENIZER_PATH: TOKENIZER}) as running:
        yield running


@pytest.fixture
def files(tmp_path: Path) -> ModelFiles:
    return ModelFiles(tmp_path / "models", [MODEL])


PULL = (
    "import sys; from tests.models.test_fetch import *;"
    " Fetcher(ModelFiles(Path(sys.argv[1]), [MODEL]), mirror=sys.argv[2]).pull(MODEL)"
)


class Pull:
    """One pull with everything that can be observed of it."""

    def __init__(self, files: ModelFiles, hub: Hub, *, stalled_s: float = 30) -> None:
        self.waits: list[float] = []
        self.seen: list[tuple[str, int, int]] = []
        self.reasons: list[str] = []
        self._fetcher = Fetcher(
            files,
            mirror=hub.url,
            progress=lambda name, done, total: self.seen.append((name, done, total)),
            waiting=lambda reason, seconds: self.reasons.append(reason),
            stalled_s=stalled_s,
            sleep=self.waits.append,
        )

    def __call__(self) -> Path:
        return self._fetcher.pull(MODEL)


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


COMPLETE = {"model.onnx": GRAPH, "tokenizer.json": TOKENIZER}


def test_a_pull_brings_every_file_and_says_how_far_it_is(files: ModelFiles, hub: Hub):
    pull = Pull(files, hub)
    folder = pull()
    assert content_of(folder) == COMPLETE
    assert folder == files.root / "tiny" / ("a" * 40)
    assert pull.seen[-1] == ("model.onnx", len(GRAPH), len(GRAPH))
    assert files.state(MODEL) == "present"


def test_a_second_pull_asks_for_nothing(files: ModelFiles, hub: Hub):
    Pull(files, hub)()
    before = list(hub.asked)
    Pull(files, hub)()
    assert hub.asked == before


def test_a_broken_transfer_goes_on_where_it_stopped(files: ModelFiles, hub: Hub):
    hub.next = [lambda *_: False, hubs.breaks_off(50_000)]
    assert content_of(Pull(files, hub)()) == COMPLETE
    assert hub.asked[-1] == (GRAPH_PATH, "bytes=50000-")


def test_a_killed_pull_is_resumed_by_the_next_one(files: ModelFiles, hub: Hub):
    folder = files.folder(MODEL)
    folder.mkdir(parents=True)
    (folder / "model.onnx.part").write_bytes(GRAPH[:1_000])
    assert files.state(MODEL) == "partial"
    assert content_of(Pull(files, hub)()) == COMPLETE
    assert hub.asked[-1] == (GRAPH_PATH, "bytes=1000-")


def test_a_pull_that_is_killed_half_way_keeps_others_out_and_is_resumed(files: ModelFiles, hub: Hub):
    hub.next = [lambda *_: False, hubs.stalls(100_000)]
    part = files.folder(MODEL) / "model.onnx.part"
    with subprocess.Popen([sys.executable, "-c", PULL, str(files.root), hub.url], cwd=ROOT) as other:
        pause, until = threading.Event(), time.monotonic() + 60
        while not part.exists() or not part.stat().st_size:
            assert time.monotonic() < until
            pause.wait(0.01)
        with pytest.raises(ModelError, match="another process"):
            Pull(files, hub)()
        other.kill()
    assert content_of(Pull(files, hub)()) == COMPLETE
    assert hub.asked[-1][0] == GRAPH_PATH
    assert int((hub.asked[-1][1] or "bytes=0-")[6:-1]) > 0


@pytest.mark.parametrize("answer", [hubs.ignores_range, hubs.sends_another_range], ids=["all", "another"])
def test_a_server_without_ranges_starts_over(files: ModelFiles, hub: Hub, answer: hubs.Misbehaviour):
    hub.next = [lambda *_: False, hubs.breaks_off(50_000), answer]
    assert content_of(Pull(files, hub)()) == COMPLETE


def test_rests_of_another_file_are_noticed_and_fetched_anew(files: ModelFiles, hub: Hub):
    folder = files.folder(MODEL)
    folder.mkdir(parents=True)
    for rest in (b"x" * 1_000, b"x" * len(GRAPH), b"x" * (len(GRAPH) + 5)):
        (folder / "model.onnx").unlink(missing_ok=True)
        (folder / "model.onnx.part").write_bytes(rest)
        assert content_of(Pull(files, hub)()) == COMPLETE


def test_a_wrong_file_is_refused_and_not_kept(files: ModelFiles, hub: Hub):
    hub.content[GRAPH_PATH] = bytes(reversed(GRAPH))
    with pytest.raises(ModelError, match="digest differs"):
        Pull(files, hub)()
    assert content_of(files.folder(MODEL)) == {"tokenizer.json": TOKENIZER}


@pytest.mark.parametrize("body", [GRAPH + b"more", GRAPH[:-1], b"<html>please log in</html>"])
def test_a_file_of_another_size_is_refused_before_it_is_fetched(files: ModelFiles, hub: Hub, body: bytes):
    hub.next = [lambda *_: False, hubs.sends(body)]
    with pytest.raises(ModelError, match=f"has {len(body):,} bytes, not the pinned 131,072"):
        Pull(files, hub)()
    assert content_of(files.folder(MODEL)) == {"tokenizer.json": TOKENIZER}
    assert len(hub.asked) == 2


def test_a_file_that_turns_out_longer_than_pinned_is_not_kept(files: ModelFiles, hub: Hub):
    hub.next = [lambda *_: False, hubs.sends_without_length(GRAPH + b"more")]
    with pytest.raises(ModelError, match="longer than the pinned"):
        Pull(files, hub)()
    assert content_of(files.folder(MODEL)) == {"tokenizer.json": TOKENIZER}


def test_a_file_that_always_turns_out_shorter_is_given_up(files: ModelFiles, hub: Hub):
    hub.next = [lambda *_: False, *[hubs.sends_without_length(GRAPH[:-1])] * 4]
    with pytest.raises(ModelError, match=r"failed 4 times.*131,071 of 131,072"):
        Pull(files, hub)()
    assert "model.onnx" not in content_of(files.folder(MODEL))


def test_what_came_before_giving_up_is_used_by_the_next_pull(files: ModelFiles, hub: Hub):
    hub.next = [lambda *_: False, *[hubs.breaks_off(10_000)] * 4]
    with pytest.raises(ModelError, match="what was received stays"):
        Pull(files, hub)()
    assert content_of(Pull(files, hub)()) == COMPLETE
    assert hub.asked[-1] == (GRAPH_PATH, "bytes=40000-")


def test_a_stalled_transfer_is_noticed_and_resumed(files: ModelFiles, hub: Hub):
    hub.next = [lambda *_: False, hubs.stalls(10_000)]
    assert content_of(Pull(files, hub, stalled_s=0.5)()) == COMPLETE
    assert hub.asked[-1] == (GRAPH_PATH, "bytes=10000-")


def test_a_redirect_is_followed_with_the_range(files: ModelFiles, hub: Hub):
    with running_hub({"/blob": GRAPH}) as store:
        go = hubs.redirects(f"{store.url}/blob")
        hub.next = [lambda *_: False, go, go]
        store.next = [hubs.breaks_off(70_000)]
        assert content_of(Pull(files, hub)()) == COMPLETE
        assert store.asked == [("/blob", None), ("/blob", "bytes=70000-")]


def test_a_redirect_that_leads_nowhere_is_given_up(files: ModelFiles, hub: Hub):
    for to in (hub.url + TOKENIZER_PATH, "ftp://127.0.0.1/x", "http://:::", "/elsewhere"):
        hub.next = [hubs.redirects(to)] * 100
        with pytest.raises(ModelError, match=r"failed 4 times|404"):
            Pull(files, hub)()


def test_passwords_and_signatures_of_addresses_are_not_shown(files: ModelFiles, hub: Hub):
    secret = hub.url.replace("http://", "http://me:pass-word@")
    for answer in (hubs.redirects("/elsewhere?signature=abc"), hubs.sends(b"x" * len(TOKENIZER))):
        hub.next = [answer]
        with pytest.raises(ModelError) as refused:
            Fetcher(files, mirror=secret).pull(MODEL)
        assert "pass-word" not in str(refused.value)
        assert "signature=" not in str(refused.value)


def test_a_busy_server_is_waited_for_as_long_as_it_asks(files: ModelFiles, hub: Hub):
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    hub.next = [hubs.says(429, Retry_After="7"), hubs.says(503, Retry_After=soon), hubs.says(500)]
    pull = Pull(files, hub)
    assert content_of(pull()) == COMPLETE
    assert pull.waits[0] == 7
    assert 50 < pull.waits[1] <= 60
    assert pull.waits[2] == 8
    assert pull.reasons == [f"tokenizer.json: status {status}" for status in (429, 503, 500)]


@pytest.mark.parametrize("when", ["soon", "Mon, 30 Nov 2026 00:00:00 +9999999999999", "-5"])
def test_a_wait_that_is_no_time_is_not_believed(files: ModelFiles, hub: Hub, when: str):
    hub.next = [hubs.says(429, Retry_After=when)]
    pull = Pull(files, hub)
    assert content_of(pull()) == COMPLETE
    assert pull.waits == [2]


def test_a_wait_of_an_hour_is_refused(files: ModelFiles, hub: Hub):
    hub.next = [hubs.says(429, Retry_After="3600")]
    with pytest.raises(ModelError, match="3,600 s"):
        Pull(files, hub)()


def test_a_missing_file_is_not_asked_for_again(files: ModelFiles, hub: Hub):
    del hub.content[TOKENIZER_PATH]
    with pytest.raises(ModelError, match=r"404.*MEMHUB_MODEL_MIRROR"):
        Pull(files, hub)()
    assert len(hub.asked) == 1


def test_no_server_at_all_is_one_sentence(files: ModelFiles, hub: Hub):
    waits: list[float] = []
    with pytest.raises(ModelError, match="failed 4 times"):
        Fetcher(files, mirror="http://127.0.0.1:9", sleep=waits.append).pull(MODEL)
    assert waits == [2, 4, 8]


@pytest.mark.parametrize("mirror", ["file:///etc", "huggingface.co", "http://hub:port"])
def test_a_mirror_that_is_no_address_is_named(files: ModelFiles, mirror: str):
    with pytest.raises(ModelError, match="MEMHUB_MODEL_MIRROR"):
        Fetcher(files, mirror=mirror).pull(MODEL)


@pytest.mark.skipif(importlib.util.find_spec("socksio") is not None, reason="SOCKS works here")
def test_a_socks_proxy_is_one_sentence(files: ModelFiles, hub: Hub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    with pytest.raises(ModelError, match="SOCKS"):
        Pull(files, hub)()


@pytest.mark.parametrize(
    ("name", "value"), [("HTTPS_PROXY", "foo://bar"), ("HTTP_PROXY", ":::"), ("SSL_CERT_FILE", "/nowhere.pem")]
)
def test_settings_of_the_network_that_cannot_be_used_are_one_sentence(
    files: ModelFiles, hub: Hub, monkeypatch: pytest.MonkeyPatch, name: str, value: str
):
    monkeypatch.setenv(name, value)
    with pytest.raises(ModelError, match="proxy or certificate settings"):
        Pull(files, hub)()


def test_offline_nothing_is_asked_and_nothing_is_made(files: ModelFiles, hub: Hub):
    with pytest.raises(ModelError, match=r"switched off.*models add"):
        Fetcher(files, mirror=hub.url, offline=True).pull(MODEL)
    assert hub.asked == []
    assert not files.root.exists()


def test_what_was_prepared_by_hand_is_neither_fetched_nor_hidden(files: ModelFiles, hub: Hub):
    by_hand = files.root / "tiny"
    by_hand.mkdir(parents=True)
    for name, content in COMPLETE.items():
        (by_hand / name).write_bytes(content)
    assert Pull(files, hub)() == by_hand
    assert hub.asked == []
    (by_hand / "model.onnx").write_bytes(bytes(len(GRAPH)))
    assert Pull(files, hub)() == by_hand / MODEL.revision == files.folder(MODEL)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
def test_a_disk_that_is_full_is_one_sentence(files: ModelFiles, hub: Hub):
    folder = files.folder(MODEL)
    folder.mkdir(parents=True)
    (folder / "model.onnx.part").symlink_to("/dev/full")
    with pytest.raises(ModelError, match="No space left on device"):
        Pull(files, hub)()


def test_what_lies_on_the_disk_already_takes_no_further_room(tmp_path: Path, hub: Hub):
    size = free_bytes(tmp_path) + (1 << 40)
    model = replace(MODEL, graph=replace(MODEL.graph, size=size))
    files = ModelFiles(tmp_path, [model])
    with pytest.raises(ModelError, match="make room"):
        Fetcher(files, mirror=hub.url).pull(model)
    part = files.folder(model) / "model.onnx.part"
    part.parent.mkdir(parents=True)
    with part.open("wb") as file:
        file.truncate(size - 1)  # holes: it takes no room
    del hub.content[GRAPH_PATH]
    with pytest.raises(ModelError, match="404"):
        Fetcher(files, mirror=hub.url).pull(model)
    assert hub.asked[-1] == (GRAPH_PATH, f"bytes={size - 1}-")


def test_offline_a_complete_model_is_still_found(files: ModelFiles, hub: Hub):
    folder = Pull(files, hub)()
    assert Fetcher(files, mirror=hub.url, offline=True).pull(MODEL) == folder


def test_two_pulls_do_not_write_one_file(files: ModelFiles, hub: Hub):
    held = ProcessLock.try_acquire(files.folder(MODEL) / ".lock")
    assert held is not None
    with pytest.raises(ModelError, match="another process"):
        Pull(files, hub)()
    held.release()
    assert content_of(Pull(files, hub)()) == COMPLETE


def test_a_lock_file_left_behind_holds_nobody_up(files: ModelFiles, hub: Hub):
    folder = files.folder(MODEL)
    folder.mkdir(parents=True)
    (folder / ".lock").write_text("1\n")
    assert content_of(Pull(files, hub)()) == COMPLETE
