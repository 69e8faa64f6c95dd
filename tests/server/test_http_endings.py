"""Conversations over the network end, and so does the server: in order, soon, and with nothing lost."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import httpx2
import pytest
from conversation import initialize, tool
from serving import Site, WebServer, listening, reply_of, web_server

from memhub_mcp.hosts.asking import ask
from memhub_mcp.server.guard import read_token

JSON = {"Accept": "application/json, text/event-stream"}
PATIENCE_S = 30
TRIES = 5_000

LIMITED = """
from memhub_mcp.server.endpoints import Limits
from memhub_mcp.server.http import serve_http

serve_http({transport!r}, host="127.0.0.1", port=0, home={home!r}, limits=Limits({limits}))
"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site.create(tmp_path)
    site.without_model()
    return site


def host_of(server: WebServer) -> httpx2.Client:
    return httpx2.Client(headers={**server.headers, **JSON}, timeout=PATIENCE_S)


def limited(site: Site, transport: str, limits: str):
    """The product with other limits."""
    program = LIMITED.format(transport=transport, home=str(site.home), limits=limits)
    process = subprocess.Popen([sys.executable, "-c", program], env=site.env(), stderr=subprocess.PIPE)
    return listening(process, site)


def open_session(http: httpx2.Client, server: WebServer) -> dict[str, str]:
    return {"Mcp-Session-Id": http.post(server.url, json=initialize(1)).raise_for_status().headers["mcp-session-id"]}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
@pytest.mark.parametrize(
    ("transport", "name"), [("http", "SIGTERM"), ("http", "SIGINT"), ("http", "SIGHUP"), ("sse", "SIGTERM")]
)
def test_a_signal_closes_open_streams_in_form_and_ends_quietly(site: Site, transport: str, name: str):
    with web_server(site, transport) as server, host_of(server) as http:
        session = open_session(http, server) if transport == "http" else {}
        with http.stream("GET", server.url, headers=session) as stream:
            assert stream.status_code == 200
            server.process.send_signal(getattr(signal, name))
            stream.read()  # a torn stream would raise
        assert server.process.wait(PATIENCE_S) == 0
        assert server.process.stderr
        [registering] = server.process.stderr.read().decode().splitlines()
        assert registering.startswith("memhub-mcp: in a repository: ")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_a_signal_while_it_starts_is_not_lost(site: Site):
    with web_server(site, "http") as server:  # it has just said where it is
        server.process.terminate()
        assert server.process.wait(PATIENCE_S) == 0


async def test_it_ends_soon_while_the_model_reads_long_texts(tmp_path: Path):
    site = Site.create(tmp_path)
    with web_server(site, "http") as server:
        async with server.assistant("2026-07-28", path=site.repository.root.as_posix()) as client:
            long = [{"text": f"Chapter {number}. {'word ' * 100_000}"} for number in range(10)]
            reply_of(await client.call_tool("remember", {"memories": long}))
            reply_of(await client.call_tool("recall", {"query": "the chapter with the word"}))
        server.process.terminate()
        assert server.process.wait(PATIENCE_S) == 0


async def test_after_a_restart_hosts_go_on_with_the_same_token(site: Site):
    with web_server(site, "http") as server:
        async with server.assistant(path=site.repository.root.as_posix()) as client:
            reply_of(await client.call_tool("remember", {"text": "The gateway is called otter"}))
        port = str(httpx2.URL(server.url).port)
    with web_server(site, "http", "--port", port) as again:
        assert (again.url, again.token) == (server.url, server.token)
        async with again.assistant(path=site.repository.root.as_posix()) as client:
            assert len(reply_of(await client.call_tool("recall", {"query": "gateway otter"}))["hits"]) == 1


def test_a_conversation_ends_when_nobody_says_anything_for_a_while(site: Site):
    with limited(site, "http", "session_idle_s=2, sessions=1") as server, host_of(server) as http:
        first = open_session(http, server)
        with http.stream("GET", server.url, headers=first):  # a host that listens is there
            assert http.post(server.url, json=initialize(1)).status_code == 503
        again = (http.post(server.url, json=initialize(1)).status_code for _ in range(TRIES))
        assert 200 in again
        listed = http.post(server.url, json=tool(2, "memory_status", {}), headers=first)
        assert listed.status_code == 404  # the sign for a host to begin anew


def test_a_conversation_over_sse_ends_when_its_host_is_gone(site: Site):
    with limited(site, "sse", "sessions=1") as server, host_of(server) as http:
        with http.stream("GET", server.url) as first:
            assert first.status_code == 200
            assert http.get(server.url).status_code == 503
        for _ in range(TRIES):
            with http.stream("GET", server.url) as second:
                if second.status_code == 200:
                    return
        pytest.fail("the first stream still counts")


def test_servers_that_start_at_once_agree_on_the_token(tmp_path: Path):
    together = Barrier(4)

    def read(home: Path) -> str:
        together.wait()
        return read_token(home)

    with ThreadPoolExecutor(4) as servers:
        for number in range(25):
            home = tmp_path / str(number)
            assert len(set(servers.map(read, [home] * 4))) == 1
            assert [file.name for file in (home / "run").iterdir()] == ["token"]


async def test_hooks_are_answered_by_a_server_of_the_network_too(site: Site):
    with web_server(site, "http") as server:
        async with server.assistant(path=site.repository.root.as_posix()) as client:
            limit = "The retry limit of uploads is 5 because the proxy cuts off the sixth"
            reply_of(await client.call_tool("remember", {"text": limit}))
        prompt = {
            "source": "claude-code",
            "cwd": str(site.repository.root),
            "prompt": "raise the retry limit of uploads",
        }
        told = ask(str(site.home), prompt, PATIENCE_S)
        assert told is not None
        assert told.endswith(limit)
    assert not list((site.home / "run").glob("ask-*"))
