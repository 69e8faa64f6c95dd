"""One server for many hosts, and nobody else."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import anyio
import httpx2
import mcp_types as types
import pytest
from conversation import initialize, request
from git_repository import GitRepository
from mcp import MCPError
from serving import ERAS, Site, WebServer, reply_of, web_server

JSON = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = Site.create(tmp_path_factory.mktemp("http"))
    site.without_model()
    return site


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site.create(tmp_path_factory.mktemp("other"), "comet")


@pytest.fixture(scope="module")
def streamable(site: Site) -> Iterator[WebServer]:
    with web_server(site, "http") as running:
        yield running


@pytest.fixture(scope="module")
def sse(site: Site) -> Iterator[WebServer]:
    with web_server(site, "sse") as running:
        yield running


@pytest.fixture(params=["streamable", "sse"])
def server(request: pytest.FixtureRequest) -> WebServer:
    return request.getfixturevalue(request.param)


def stored(site: Site) -> str:
    """The path below the endpoint that names a repository by its folder."""
    return site.repository.root.as_posix()


@pytest.mark.parametrize("era", ERAS)
async def test_hosts_of_both_eras_remember_and_recall(server: WebServer, site: Site, other: Site, era: str):
    async with (
        server.assistant(era, "claude-code", path=stored(site)) as claude,
        server.assistant(era, "cursor-vscode", headers={"Memhub-Workspace": str(site.repository.root)}) as cursor,
        server.assistant(era, "codex-mcp-client", path=stored(other)) as elsewhere,
        server.assistant(era, "codex-mcp-client") as nowhere,
    ):
        assert len((await claude.list_tools()).tools) == 7
        await claude.call_tool("remember", {"text": "The gateway is called otter"})
        reply = reply_of(await cursor.call_tool("recall", {"query": "gateway otter"}))
        assert reply["scope"]["workspace"] == "orbit"
        assert [hit["source"] for hit in reply["hits"]] == ["claude-code"]
        assert reply_of(await elsewhere.call_tool("recall", {"query": "gateway otter"}))["hits"] == []
        alone = reply_of(await nowhere.call_tool("recall", {"query": "gateway otter"}))
        assert (alone["hits"], alone["scope"]["workspace"]) == ([], None)


async def test_the_roots_of_a_client_say_where_it_works(server: WebServer, site: Site):
    async def roots(_context: object) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=site.repository.root.as_uri())])

    async with server.assistant(list_roots_callback=roots) as client:
        assert reply_of(await client.call_tool("memory_status", {}))["scope"]["workspace"] == "orbit"


async def test_a_workspace_may_be_named_by_its_name(streamable: WebServer, site: Site):
    async with streamable.assistant(path=stored(site)) as client:
        await client.call_tool("memory_status", {})
    async with streamable.assistant("2026-07-28", path="/orbit") as client:
        assert reply_of(await client.call_tool("memory_status", {}))["scope"]["workspace"] == "orbit"


async def test_a_workspace_that_does_not_exist_is_told_to_the_model(streamable: WebServer):
    async with streamable.assistant(path="/no/such/folder") as client:
        result = await client.call_tool("memory_status", {})
    assert result.is_error
    assert "/no/such/folder" in result.content[0].text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic {token}"}, 401),
        ({"Authorization": "{token}"}, 401),
        ({"Authorization": "Bearer {token}x"}, 401),
        ({"Authorization": "Bearer x{token}"}, 401),
        ({"Authorization": "Bearer {token:.20}"}, 401),
        ({"Authorization": "Bearer {token} {token}"}, 401),
        ({"Host": "evil.test"}, 421),
        ({"Host": "evil.test:80"}, 421),
        ({"Host": "127.0.0.1.evil.test"}, 421),
        ({"Host": "user@127.0.0.1"}, 421),
        ({"Host": "0.0.0.0"}, 421),
        ({"Host": "[::2]"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "https://evil.test"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "file://"}, 403),
    ],
)
def test_strangers_are_turned_away_everywhere(server: WebServer, headers: dict[str, str], status: int):
    sent = {**server.headers, **{key: value.format(token=server.token) for key, value in headers.items()}}
    with httpx2.Client(headers=sent) as http:
        for path in ("", "/messages", "/../other", "/../"):
            for method in ("GET", "POST", "DELETE", "OPTIONS"):
                answer = http.request(method, server.url + path)
                assert answer.status_code == status
                assert server.token not in answer.text


def test_a_token_sent_twice_is_no_token(server: WebServer):
    with httpx2.Client(headers=[*server.headers.items(), *server.headers.items()]) as http:
        assert http.post(server.url, json=initialize(1)).status_code == 401


def test_no_page_may_read_what_is_answered(server: WebServer):
    origin = {"Origin": "http://localhost:5173", "Access-Control-Request-Method": "POST"}
    with httpx2.Client(headers={**JSON, **origin}) as http:
        for method in ("OPTIONS", "POST", "DELETE"):
            for sent in ({}, server.headers):
                answer = http.request(method, server.url, json=initialize(1), headers=sent)
                assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_pages_of_this_machine_with_the_token_are_welcome(streamable: WebServer):
    with httpx2.Client(headers={**streamable.headers, **JSON}) as http:
        for headers in ({"Origin": "http://localhost:5173"}, {"Host": "localhost"}, {"Host": "[::1]:80"}):
            assert http.post(streamable.url, json=initialize(1), headers=headers).status_code == 200


def test_a_session_ends_when_its_host_ends_it(streamable: WebServer):
    with httpx2.Client(headers={**streamable.headers, **JSON}) as http:
        opened = http.post(streamable.url, json=initialize(1))
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        assert http.delete(streamable.url, headers=session).status_code == 200
        assert http.delete(streamable.url, headers=session).status_code == 404
        listed = http.post(streamable.url, json={"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, headers=session)
        assert listed.status_code == 404


def test_other_paths_are_not_there(server: WebServer):
    with httpx2.Client(headers=server.headers) as http:
        for path in ("/", "/mcpx", "/ssey", "/memories"):
            assert http.get(httpx2.URL(server.url).copy_with(path=path)).status_code == 404


def test_an_oversized_request_is_refused(server: WebServer):
    path = "/messages?session_id=1" if server.url.endswith("/sse") else ""
    with httpx2.Client(headers={**server.headers, **JSON, "Content-Type": "application/json"}) as http:
        for content in (b"x" * (40 << 20), (b"x" * (1 << 20) for _ in range(40))):
            assert http.post(server.url + path, content=content).status_code == 413


async def test_long_texts_are_taken(server: WebServer, site: Site):
    texts = [f"Chapter {number}. {'word ' * 200_000}" for number in range(6)]
    async with server.assistant(path=stored(site)) as client:
        reply = reply_of(await client.call_tool("remember", {"memories": [{"text": text} for text in texts]}))
    assert len(reply["results"]) == 6


NO_MESSAGES = [
    b"",
    b"{",
    b"\xff",
    b"5",
    b"[]",
    b"[" * 100_000,
    b'{"a":' * 5_000,
    b'{"jsonrpc":"2.0"}',
    b'[{"jsonrpc":"2.0","id":1}]',
]


@pytest.mark.parametrize("body", NO_MESSAGES, ids=range(len(NO_MESSAGES)))
def test_what_is_no_message_is_refused_and_harms_nobody(streamable: WebServer, body: bytes):
    with httpx2.Client(headers={**streamable.headers, **JSON, "Content-Type": "application/json"}) as http:
        opened = http.post(streamable.url, json=initialize(1))
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        for era in (session, {"MCP-Protocol-Version": "2026-07-28"}, {}):
            answer = http.post(streamable.url, content=body, headers=era)
            assert (answer.status_code, answer.json()["error"]["code"] < 0) == (400, True)
        assert http.post(streamable.url, json=request(2, "ping"), headers=session).status_code == 200


@pytest.mark.parametrize("era", ERAS)
async def test_a_folder_may_have_any_name(server: WebServer, tmp_path: Path, era: str):
    repository = GitRepository.create(tmp_path / "my repo #1 100%41 ü")
    repository.commit("Start", {"a.txt": "a"})
    named = quote(repository.root.as_posix())
    for where in ({"path": named}, {"headers": {"Memhub-Workspace": named}}):
        async with server.assistant(era, **where) as client:
            reply = reply_of(await client.call_tool("memory_status", {}))
            assert reply["scope"]["workspace"] == repository.root.name


async def test_hosts_at_work_in_two_repositories_at_once_never_meet(server: WebServer, tmp_path: Path):
    seen: dict[str, set[str]] = {"mars": set(), "venus": set()}

    async def work(name: str, era: str, host: str) -> None:
        async def say(number: int) -> None:
            reply = reply_of(await client.call_tool("remember", {"text": f"{name} says {number} over {era}"}))
            assert reply["scope"]["workspace"] == name
            listed = reply_of(await client.call_tool("recall", {"query": "", "limit": 50}))
            assert listed["scope"]["workspace"] == name
            seen[name].update(f"{hit['source']}: {hit['preview']}" for hit in listed["hits"])

        async with (
            server.assistant(era, host, path=(tmp_path / name).as_posix()) as client,
            anyio.create_task_group() as calls,
        ):
            for number in range(8):
                calls.start_soon(say, number)

    for name in seen:
        GitRepository.create(tmp_path / name).commit("Start", {"name.txt": name})
    async with anyio.create_task_group() as hosts:
        for era in ERAS:
            hosts.start_soon(work, "mars", era, "claude-code")
            hosts.start_soon(work, "venus", era, "cursor-vscode")
    for name, host in (("mars", "claude-code"), ("venus", "cursor")):
        said = [line for line in seen[name] if " says " in line]
        assert len(said) == 16
        assert all(line.startswith(f"{host}: ") and f"{name} says" in line for line in said)


@pytest.mark.skipif(os.name != "posix", reason="permission bits")
def test_the_token_is_for_its_owner_alone(streamable: WebServer, site: Site):
    file = site.home / "run" / "token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert len(streamable.token) >= 32


def test_the_token_stays_the_same_so_that_hosts_keep_working(streamable: WebServer, sse: WebServer):
    assert streamable.token == sse.token


def test_a_damaged_token_or_a_taken_port_is_said_in_a_sentence(streamable: WebServer, tmp_path: Path):
    site = Site.create(tmp_path)
    taken = site.start("--transport", "http", "--port", str(httpx2.URL(streamable.url).port))
    _, said = taken.communicate(timeout=60)
    assert taken.returncode == 1
    assert b"cannot be used" in said
    (site.home / "run" / "token").write_text("")
    damaged = site.start("--transport", "http", "--port", "0")
    _, said = damaged.communicate(timeout=60)
    assert damaged.returncode == 1
    assert b"holds no token" in said
    assert b"Traceback" not in said


async def test_it_is_reached_by_the_names_it_was_told_and_by_address_when_it_listens_everywhere(site: Site):
    with web_server(site, "http", "--host", "0.0.0.0", "--allow-host", "hub.example") as everywhere:
        url = everywhere.url.replace("0.0.0.0", "127.0.0.1")
        with httpx2.Client(headers={**everywhere.headers, **JSON}) as http:
            for host, status in (("hub.example", 200), ("10.1.2.3:8626", 200), ("evil.test", 421)):
                assert http.post(url, json=initialize(1), headers={"Host": host}).status_code == status


async def test_an_unknown_tool_is_a_protocol_error(streamable: WebServer):
    async with streamable.assistant("2026-07-28") as client:
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("dream", {})
