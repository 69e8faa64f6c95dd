"""However a conversation ends, the server ends with it: nothing lost that was answered, nothing left behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from conversation import INITIALIZED, initialize, request, tool
from hubs import desk_in
from serving import Site, as_lines, command

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and inherited pipes are others there")

STARTER = """
import subprocess, sys
server = subprocess.Popen({command!r}, stdin=int(sys.argv[1]), stdout=int(sys.argv[2]), stderr=subprocess.DEVNULL)
print(server.pid, flush=True)
sys.stdin.read()
"""

OPENING = (initialize(0), INITIALIZED)


def remember(request_id: Any) -> dict[str, Any]:
    return tool(request_id, "remember", {"text": f"fact {request_id}"})


MOMENTS: dict[str, tuple[tuple[Any, ...], int]] = {
    "just started": ((initialize(0),), 1),
    "loading": ((*OPENING, request(1, "tools/list"), remember(2)), 2),
    "at work": ((*OPENING, *(remember(number) for number in range(1, 30))), 3),
    "waiting": ((*OPENING, remember(1)), 2),
}
"""When something happens: what the host has said until then, and how many answers it has heard."""


class Host:
    """One end of a conversation that may end at any moment."""

    def __init__(self, site: Site, process: subprocess.Popen[bytes], say: int, hear: int) -> None:
        self.site, self.process = site, process
        self.say, self.hear = os.fdopen(say, "wb", buffering=0), os.fdopen(hear, "rb")
        self.heard: list[Any] = []

    def until(self, moment: str) -> None:
        said, answers = MOMENTS[moment]
        self.say.write(as_lines(*said))
        self.heard += [json.loads(self.hear.readline()) for _ in range(answers)]

    def hear_the_rest(self) -> None:
        """All that still comes until nobody holds the other end."""
        self.heard += [json.loads(line) for line in self.hear]

    def assert_that_nothing_is_lost(self) -> None:
        """What was answered is stored, and the data directory serves the next one."""
        acknowledged = [answer for answer in self.heard if "structuredContent" in answer.get("result", {})]
        with desk_in(self.site.repository.root, home=self.site.home, embedder="off") as desk:
            status = desk.hub.memories.status(desk.caller)
        assert status["counts"]["workspace"].get("fact", 0) >= len(acknowledged)
        assert status["health"] == []
        assert not [file.name for file in (self.site.home / "run").glob("ask-*")]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site.create(tmp_path)
    site.without_model()
    return site


@pytest.fixture
def host(site: Site):
    """A host that started its server itself."""
    process = site.start()
    assert process.stdin and process.stdout and process.stderr
    yield Host(site, process, os.dup(process.stdin.fileno()), os.dup(process.stdout.fileno()))
    process.kill()
    process.wait(60)
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()


@pytest.mark.parametrize(
    ("name", "moment"), [*(("SIGTERM", moment) for moment in MOMENTS), ("SIGINT", "at work"), ("SIGHUP", "at work")]
)
def test_a_signal_ends_it_quietly_at_any_moment(host: Host, name: str, moment: str):
    host.until(moment)
    assert psutil.Process(host.process.pid).children(recursive=True) == []
    host.process.send_signal(getattr(signal, name))
    host.hear_the_rest()
    assert host.process.wait(60) == 0
    assert host.process.stderr and host.process.stderr.read() == b""
    host.assert_that_nothing_is_lost()


def test_a_hangup_is_ignored_when_the_person_asked_for_that(site: Site):
    asked = ["sh", "-c", 'trap "" HUP; exec "$0" "$@"', *command()]
    process = subprocess.Popen(
        asked, env=site.env(), cwd=site.repository.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin and process.stdout
    process.stdin.write(as_lines(initialize(0)))
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 0
    process.send_signal(signal.SIGHUP)
    heard, _ = process.communicate(as_lines(request(1, "ping")), timeout=60)
    assert (process.returncode, json.loads(heard)["id"]) == (0, 1)


@pytest.mark.parametrize("moment", MOMENTS)
def test_it_ends_when_the_host_no_longer_listens(host: Host, moment: str):
    host.until(moment)
    host.hear.close()
    assert host.process.stdout
    host.process.stdout.close()
    host.say.write(as_lines(request("after", "ping")))
    assert host.process.wait(60) == 0
    host.assert_that_nothing_is_lost()


@pytest.mark.parametrize("moment", MOMENTS)
def test_it_ends_when_its_parent_is_killed_although_the_pipe_stays_open(site: Site, moment: str):
    """As when a shell around it is killed, or a host whose other children hold the pipe."""
    to_server, say = os.pipe()
    hear, from_server = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", STARTER.format(command=command()), str(to_server), str(from_server)],
        env=site.env(),
        cwd=site.repository.root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=(to_server, from_server),
    )
    os.close(to_server)
    os.close(from_server)
    assert parent.stdout
    server = psutil.Process(int(parent.stdout.readline()))
    host = Host(site, parent, say, hear)
    host.until(moment)
    parent.kill()
    parent.communicate()
    host.hear_the_rest()  # ends only when the server has gone: we hold our ends of both pipes
    psutil.wait_procs([server], timeout=60)
    assert not server.is_running() or server.status() == psutil.STATUS_ZOMBIE
    host.assert_that_nothing_is_lost()


@pytest.mark.parametrize("moment", MOMENTS)
def test_every_request_before_the_end_of_stdin_is_answered(host: Host, moment: str):
    host.until(moment)
    host.say.close()
    assert host.process.stdin
    host.process.stdin.close()
    host.hear_the_rest()
    asked = [message["id"] for message in MOMENTS[moment][0] if "id" in message]
    assert sorted(answer["id"] for answer in host.heard) == asked
    assert host.process.wait(60) == 0
    host.assert_that_nothing_is_lost()


def test_a_host_that_reads_only_after_it_has_closed_stdin_still_hears_everything(site: Site):
    """A megabyte of answers: more than a pipe holds."""
    process = site.start()
    assert process.stdin and process.stdout
    process.stdin.write(as_lines(*OPENING, *(request(number, "tools/list") for number in range(1, 200))))
    process.stdin.close()
    assert [json.loads(process.stdout.readline())["id"] for _ in range(2)] == [0, 1]
    with pytest.raises(subprocess.TimeoutExpired):  # it waits for us
        process.wait(2)
    assert [json.loads(line)["id"] for line in process.stdout] == [*range(2, 200)]
    assert process.wait(60) == 0
    process.stdout.close()
    assert process.stderr and process.stderr.read() == b""
    process.stderr.close()


def test_ten_restarts_in_the_middle_of_a_call_leave_one_server_and_every_answer(site: Site):
    acknowledged = 0
    started: list[psutil.Process] = []
    for round in range(10):
        process = site.start()
        started.append(psutil.Process(process.pid))
        assert process.stdin and process.stdout
        process.stdin.write(as_lines(*OPENING, *(remember(f"{round}-{number}") for number in range(20))))
        process.stdin.flush()
        process.stdout.readline()
        acknowledged += [bool(process.stdout.readline()) for _ in range(round % 4 == 3)].count(True)
        process.send_signal(signal.SIGKILL if round % 2 else signal.SIGTERM)
        process.communicate(timeout=60)
    assert not [server for server in started if server.is_running()]
    assert not [one for one in psutil.process_iter() if str(site.home) in one_environment(one)]
    reply = site.talk(*OPENING, tool(1, "memory_status", {}))[1]["result"]["structuredContent"]
    assert acknowledged <= reply["counts"]["workspace"]["fact"] <= 200
    assert reply["health"] == []
    assert not [file.name for file in (site.home / "run").glob("ask-*")]


def one_environment(process: psutil.Process) -> str:
    try:
        return process.environ().get("MEMHUB_HOME", "")
    except psutil.Error:
        return ""


def test_an_assistant_goes_on_when_the_one_that_holds_the_model_is_killed(tmp_path: Path):
    site = Site.create(tmp_path)
    holder, other = site.start(), site.start()
    try:
        ask = tool("ask", "recall", {"query": "which port does the queue use"})
        modes: list[str] = []
        for process in (holder, other, other):
            if len(modes) == 2:
                holder.kill()
                holder.wait(60)
            modes.append(mode_of(process, ask))
        assert modes == ["on", "on", "on"]
    finally:
        for process in (holder, other):
            process.kill()
            process.communicate()


def mode_of(process: subprocess.Popen[bytes], ask: Any) -> str:
    """How a server searched, asked until its model has loaded."""
    assert process.stdin and process.stdout
    process.stdin.write(as_lines(initialize(0), INITIALIZED))
    while True:
        process.stdin.write(as_lines(ask))
        process.stdin.flush()
        while (answer := json.loads(process.stdout.readline()))["id"] != "ask":
            pass
        dense = answer["result"]["structuredContent"]["mode"]["dense"]
        if dense != "loading":
            return dense
