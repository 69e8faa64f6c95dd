"""Several processes of one data directory share one model in memory, whatever happens to the one that holds it."""

import json
import os
import secrets
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.models.member import Member

from memhub_mcp.errors import ModelError
from memhub_mcp.models.address import _folders
from memhub_mcp.models.guest import Guest, read_card
from memhub_mcp.models.lock import ProcessLock

TEXTS = ["the retry limit is five", "部署", ""]

Start = Callable[..., Member]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a process of the test's data directory; all are gone afterwards."""
    with ExitStack() as members:
        yield lambda **settings: members.enter_context(Member(tmp_path, **settings))


def run_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def test_four_processes_share_one_model(start: Start):
    members = [start() for _ in range(4)]
    replies = [member.embed(*TEXTS) for member in members]
    assert [reply["state"] for reply in replies] == ["ready"] * 4
    assert [reply["heavy"] for reply in replies] == [True, False, False, False]
    assert all(reply["vectors"] == replies[0]["vectors"] for reply in replies)


def test_processes_that_start_together_agree_on_one_owner(start: Start):
    members = [start() for _ in range(4)]
    for member in members:
        member.say(do="embed", texts=TEXTS, wait_s=60)
    replies = [member.hear() for member in members]
    assert sum(reply["heavy"] for reply in replies) == 1
    assert all(reply["vectors"] == replies[0]["vectors"] for reply in replies)


def test_a_guest_gets_everything_the_owner_can_do(start: Start):
    long = "The deploy script runs at night. " * 200
    owner, guest = start(), start()
    owner.embed("first")
    for command in (
        {"do": "encode", "texts": [*TEXTS, "Who changed HTTPAdapter.send()?", long]},
        {"do": "encode", "texts": []},
        {"do": "cut", "text": long},
        {"do": "cut", "text": "修复登录错误"},
    ):
        here, there = owner.do(**command), guest.do(wait_s=60, **command)
        assert (here.pop("heavy"), there.pop("heavy")) == (True, False)
        assert here.pop("pid") != there.pop("pid")
        assert here == there


def test_when_the_owner_ends_the_next_one_takes_over_unnoticed(start: Start):
    owner, guest, other = start(), start(), start()
    expected = owner.embed(*TEXTS)["vectors"]
    assert guest.embed(*TEXTS)["heavy"] is False
    assert other.embed(*TEXTS)["heavy"] is False
    assert owner.end() == 0
    reply = guest.embed(*TEXTS)
    assert (reply["heavy"], reply["vectors"]) == (True, expected)
    reply = other.embed(*TEXTS)
    assert (reply["heavy"], reply["vectors"]) == (False, expected)


def test_a_killed_owner_leaves_nothing_that_holds_others_up(start: Start):
    owner, guest = start(), start()
    expected = owner.embed(*TEXTS)["vectors"]
    guest.embed(*TEXTS)
    owner.kill()
    reply = guest.embed(*TEXTS)
    assert (reply["heavy"], reply["vectors"]) == (True, expected)


def test_an_owner_killed_in_the_middle_of_a_call_fails_that_call_only(start: Start):
    owner, guest = start(), start()
    owner.embed(*TEXTS)
    guest.embed(*TEXTS)
    guest.say(do="embed", texts=["a long story about deploys and retries. " * 40] * 400, wait_s=0)
    wait_until_busy(owner.pid)
    owner.kill()
    said = guest.hear()["failed"]
    assert "has ended" in said and "()" not in said
    assert guest.embed(*TEXTS)["heavy"] is True


def wait_until_busy(pid: int) -> None:
    process = psutil.Process(pid)
    before = process.cpu_times().user
    wait_until(lambda: process.cpu_times().user > before + 0.1)


def wait_until(condition: Callable[[], bool]) -> None:
    pause, deadline = threading.Event(), time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        pause.wait(0.01)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGSTOP")
def test_an_owner_that_stands_still_is_given_up_and_asked_again_later(start: Start):
    owner, guest, newcomer = start(), start(), start()
    owner.embed(*TEXTS)
    guest.embed(*TEXTS)
    os.kill(owner.pid, signal.SIGSTOP)
    assert "does not answer" in guest.embed(*TEXTS)["failed"]
    assert guest.embed(*TEXTS)["state"] == "off"
    reply = newcomer.embed(*TEXTS)
    assert reply["state"] == "off"
    assert f"process {owner.pid}" in reply["why"]
    os.kill(owner.pid, signal.SIGCONT)
    assert owner.embed(*TEXTS)["state"] == "ready"


def test_a_stale_lock_that_names_another_process_holds_nobody_up(start: Start, tmp_path: Path):
    card = {"protocol": 1, "pid": 1, "version": "0", "address": "/nowhere/models.sock", "key": "00"}
    (run_dir(tmp_path) / "models.lock").write_text(json.dumps(card))
    assert start().embed(*TEXTS)["heavy"] is True


@pytest.mark.skipif(sys.platform == "win32", reason="pipes leave no files")
def test_a_stale_socket_is_cleared_away(start: Start, tmp_path: Path):
    stale = run_dir(tmp_path) / "models-0.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(stale))
    assert stale.exists()
    member = start()
    assert member.embed(*TEXTS)["heavy"] is True
    assert not stale.exists()
    assert member.end() == 0
    assert list((tmp_path / "run").glob("*.sock")) == []


def hold_as(tmp_path: Path, card: dict[str, Any] | None) -> ProcessLock:
    """Hold the lock, as a process that says `card` of itself does."""
    lock = ProcessLock.try_acquire(run_dir(tmp_path) / "models.lock")
    assert lock is not None
    if card is not None:
        lock.write(json.dumps({"pid": os.getpid(), "version": "0.0.1", "address": "", "key": "", **card}))
    return lock


def test_beside_an_owner_of_another_protocol_the_small_model_is_loaded_twice(start: Start, tmp_path: Path):
    lock = hold_as(tmp_path, {"protocol": 0})
    assert start().embed(*TEXTS)["heavy"] is True
    lock.release()


def test_beside_an_owner_of_another_protocol_a_large_model_is_off_with_a_reason(start: Start, tmp_path: Path):
    lock = hold_as(tmp_path, {"protocol": 99})
    reply = start(embedder="bge-m3").embed(*TEXTS)
    assert reply["state"] == "off"
    assert f"process {os.getpid()} (memhub 0.0.1)" in reply["why"]
    lock.release()


def test_an_owner_that_never_listens_is_not_waited_for(start: Start, tmp_path: Path):
    lock = hold_as(tmp_path, None)
    member = start()
    reply = member.embed(*TEXTS)
    assert (reply["state"], reply["heavy"]) == ("off", False)
    assert "does not answer" in reply["why"]
    lock.release()


@pytest.mark.parametrize("answer", [b"", b"\x00\x00\x00\x05hello", b"x" * 70_000])
def test_an_owner_that_talks_nonsense_is_one_sentence(start: Start, tmp_path: Path, answer: bytes):
    address = str(run_dir(tmp_path) / "models-x.sock")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        lock = hold_as(tmp_path, {"protocol": 1, "address": address, "key": "00"})

        def talk() -> None:
            while True:
                try:
                    line, _ = listening.accept()
                except OSError:
                    return
                with line:
                    line.sendall(answer)

        threading.Thread(target=talk, daemon=True).start()
        reply = start().embed(*TEXTS)
        assert (reply["state"], reply["heavy"]) == ("off", False)
        assert reply["why"]
        listening.shutdown(socket.SHUT_RDWR)
    lock.release()


def test_only_who_knows_the_key_is_answered(start: Start, tmp_path: Path):
    owner, guest = start(), start()
    owner.embed(*TEXTS)
    path = tmp_path / "run" / "models.lock"
    card = json.loads(path.read_text())
    path.write_text(json.dumps(card | {"key": secrets.token_hex(32)}))
    reply = guest.embed(*TEXTS)
    assert (reply["state"], reply["heavy"]) == ("off", False)
    path.write_text(json.dumps(card))
    assert owner.embed(*TEXTS)["state"] == "ready"


@pytest.mark.skipif(sys.platform == "win32", reason="permission bits")
def test_what_lies_in_the_run_folder_is_the_persons_alone(start: Start, tmp_path: Path):
    member = start()
    member.embed(*TEXTS)
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "run" / "models.lock").stat().st_mode) == 0o600


def test_a_client_that_stands_still_holds_up_nobody(start: Start, tmp_path: Path):
    owner, guest = start(), start()
    owner.embed(*TEXTS)
    address = json.loads((tmp_path / "run" / "models.lock").read_text())["address"]
    with ExitStack() as silent:
        for _ in range(10):
            silent.enter_context(socket.socket(socket.AF_UNIX)).connect(address)
        assert guest.embed(*TEXTS)["state"] == "ready"
        assert owner.end() == 0


def test_a_data_directory_with_a_long_path_is_shared_too(tmp_path: Path):
    home = tmp_path / ("long name " * 12)
    home.mkdir()
    with Member(home) as owner, Member(home) as guest:
        assert owner.embed(*TEXTS)["heavy"] is True
        reply = guest.embed(*TEXTS)
        assert (reply["state"], reply["heavy"]) == ("ready", False)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have no paths")
def test_a_long_temporary_folder_keeps_nobody_from_sharing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home, temporary = tmp_path / ("h" * 90), tmp_path / ("t" * 90)
    home.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with Member(home) as owner, Member(home) as guest:
        assert owner.embed(*TEXTS)["heavy"] is True
        folder = Path(json.loads((home / "run" / "models.lock").read_text())["address"]).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert guest.embed(*TEXTS)["heavy"] is False
        assert owner.end() == 0
        assert not folder.exists()
        assert guest.embed(*TEXTS)["heavy"] is True
        assert guest.end() == 0
        assert not folder.exists()


def test_the_temporary_folder_of_a_mac_is_short_enough(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", "/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T")
    assert all(len(str(folder / "models-00000000.sock")) <= 100 for folder in _folders(Path("/x" * 200))[1:])


@pytest.mark.parametrize("name", ["käse 数据", os.fsdecode(b"latin \xe9")])
def test_a_data_directory_may_have_any_name(tmp_path: Path, name: str):
    home = tmp_path / name
    try:
        home.mkdir()
    except OSError:
        pytest.skip("not a name here")
    with Member(home) as owner, Member(home) as guest:
        assert owner.embed(*TEXTS)["heavy"] is True
        assert guest.embed(*TEXTS)["heavy"] is False


def test_twelve_processes_at_once_agree_and_outlive_their_owner(start: Start):
    members = [start() for _ in range(12)]
    for _ in range(2):
        for member in members:
            member.say(do="embed", texts=TEXTS, wait_s=60)
        replies = [member.hear() for member in members]
        assert sum(reply["heavy"] for reply in replies) == 1
        assert all("vectors" in reply for reply in replies)
        owner = next(member for member, reply in zip(members, replies, strict=True) if reply["heavy"])
        owner.kill()
        members.remove(owner)


def test_a_request_that_makes_no_sense_is_answered_and_harms_nobody(start: Start, tmp_path: Path):
    owner, guest = start(), start()
    owner.embed(*TEXTS)
    card = read_card(tmp_path / "run" / "models.lock")
    assert card is not None
    asking = Guest(card, lambda why: None)
    for request in (
        {"ask": "score", "model": "minilm", "query": "x", "passages": ["y"]},
        {"ask": "embed", "model": "minilm", "texts": [7], "query": False},
        {"ask": "embed", "model": "gpt"},
        {"ask": "dance", "model": "minilm"},
        {},
    ):
        with pytest.raises(ModelError, match=r"not understood|failed"):
            asking.ask(request)
    assert guest.embed(*TEXTS)["state"] == "ready"


@pytest.mark.skipif(sys.platform != "linux", reason="the C library of Linux")
def test_an_owner_that_was_asked_by_many_at_once_is_small_again(start: Start):
    owner, *guests = (start() for _ in range(9))
    owner.embed(*TEXTS)
    before = psutil.Process(owner.pid).memory_info().rss
    for _ in range(3):
        for guest in guests:
            guest.say(do="embed", texts=["a long story about deploys and retries. " * 40] * 3, wait_s=60)
        assert all("vectors" in guest.hear() for guest in guests)
    assert psutil.Process(owner.pid).memory_info().rss - before < 80_000_000


def test_where_nothing_can_be_shared_each_has_its_own(tmp_path: Path):
    (tmp_path / "run").write_text("a file where the folder should be")
    with Member(tmp_path) as first, Member(tmp_path) as second:
        assert first.embed(*TEXTS)["heavy"] is True
        assert second.embed(*TEXTS)["heavy"] is True


def test_an_idle_owner_lets_the_model_and_the_lock_go(start: Start, tmp_path: Path):
    owner = start(model_idle_s=0.05)
    expected = owner.embed(*TEXTS)["vectors"]
    path = run_dir(tmp_path) / "models.lock"
    wait_until(lambda: released(path))
    assert owner.do(do="state")["state"] == "idle"
    guest = start()
    reply = guest.embed(*TEXTS)
    assert (reply["heavy"], reply["vectors"]) == (True, expected)


def released(path: Path) -> bool:
    lock = ProcessLock.try_acquire(path)
    if lock is not None:
        lock.release()
    return lock is not None


def test_ending_leaves_no_child_and_no_thread_behind(start: Start):
    owner, guest = start(), start()
    owner.embed(*TEXTS)
    guest.embed(*TEXTS)
    assert psutil.Process(owner.pid).children() == []
    assert guest.end() == 0
    assert owner.end() == 0
