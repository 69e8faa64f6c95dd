"""The installed server as a process of its own, as hosts start it, and real clients of it."""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from git_repository import GitRepository
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

ERAS = ("legacy", "2026-07-28")
"""The client's modes: with a handshake, and without."""

SNAPSHOTS = Path(__file__).parent.parent / "server" / "snapshots"


@dataclass(frozen=True)
class Site:
    """A machine in small: a data directory, a person's home, a repository."""

    root: Path
    repository: GitRepository
    more_env: dict[str, str] = field(default_factory=dict)

    @classmethod
    def create(cls, root: Path, name: str = "orbit") -> "Site":
        repository = GitRepository.create(root / name)
        repository.commit(f"Start {name}", {"README.md": f"# {name}\n"})
        (root / "person").mkdir()
        return cls(root, repository)

    @property
    def home(self) -> Path:
        return self.root / "data"

    def env(self) -> dict[str, str]:
        """What a careful host passes on."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
        return {**kept, "HOME": str(self.root / "person"), "MEMHUB_HOME": str(self.home), **self.more_env}

    def start(self, *words: str, cwd: Path | None = None, **pipes: Any) -> subprocess.Popen[bytes]:
        """A server with pipes."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **pipes}
        return subprocess.Popen(command(*words), env=self.env(), cwd=cwd or self.repository.root, **pipes)

    def talk(self, *messages: Any, **pipes: Any) -> list[Any]:
        """Everything a server says to a host that speaks and leaves at once."""
        process = self.start(**pipes)
        heard, errors = process.communicate(as_lines(*messages), timeout=120)
        assert process.returncode == 0, errors
        assert heard == b"" or heard.endswith(b"\n")
        return [json.loads(line) for line in heard.splitlines()]

    def without_model(self) -> None:
        """Words only: how long a model takes to load does not show in a reply."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.home / "config.toml").write_text('embedder = "off"\n')

    def init(self) -> None:
        """What a person does once in a repository."""
        where: dict[str, Any] = {"env": self.env(), "cwd": self.repository.root}
        subprocess.run([command()[0], "init"], **where, check=True, capture_output=True, timeout=60)

    @contextlib.asynccontextmanager
    async def assistant(
        self, mode: str = "legacy", name: str = "claude-code", cwd: Path | None = None, **options: Any
    ) -> AsyncIterator[Client]:
        """A real client of a server that was started for it."""
        server = StdioServerParameters(
            command=command()[0], args=command()[1:], env=self.env(), cwd=cwd or self.repository.root
        )
        info = types.Implementation(name=name, version="1")
        async with Client(server, mode=mode, client_info=info, **options) as client:
            yield client


@dataclass(frozen=True)
class WebServer:
    """A server that listens."""

    process: subprocess.Popen[bytes]
    url: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @contextlib.asynccontextmanager
    async def assistant(
        self,
        mode: str = "legacy",
        name: str = "claude-code",
        path: str = "",
        headers: dict[str, str] | None = None,
        **options: Any,
    ) -> AsyncIterator[Client]:
        """A real client over the network."""
        options = {"mode": mode, "client_info": types.Implementation(name=name, version="1"), **options}
        sent = {**self.headers, **(headers or {})}
        if self.url.endswith("/sse"):
            async with Client(sse_client(self.url + path, headers=sent), **options) as client:
                yield client
            return
        async with (
            httpx2.AsyncClient(headers=sent, timeout=30) as http,
            Client(streamable_http_client(self.url + path, http_client=http), **options) as client,
        ):
            yield client


@contextlib.contextmanager
def web_server(site: Site, transport: str, *words: str) -> Iterator[WebServer]:
    """A server on a free port of this machine."""
    process = site.start("--transport", transport, "--port", "0", *words, stdin=subprocess.DEVNULL)
    with listening(process, site) as server:
        yield server


@contextlib.contextmanager
def listening(process: subprocess.Popen[bytes], site: Site) -> Iterator[WebServer]:
    """The server that `process` is about to be; it ends with the block."""
    try:
        assert process.stderr is not None
        said = process.stderr.readline().decode()
        url = re.search(r"http://\S+?(?=,)", said)
        assert url, said
        yield WebServer(process, url[0], (site.home / "run" / "token").read_text().strip())
    finally:
        process.terminate()
        process.communicate(timeout=30)


def command(*words: str) -> list[str]:
    """The installed console script, told to serve."""
    return [str(Path(sys.executable).with_name("memhub-mcp")), "serve", *words]


def as_lines(*messages: Any) -> bytes:
    """Messages, or lines as they are, as a host writes them."""
    return b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in messages)


def reply_of(result: types.CallToolResult) -> dict[str, Any]:
    """The structured reply of a tool that did what it was asked."""
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    text = result.content[0]
    assert isinstance(text, types.TextContent)
    assert text.text == json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
    return result.structured_content


def complaint_of(result: types.CallToolResult) -> str:
    """The sentence a tool refused with."""
    assert result.is_error, result.structured_content
    text = result.content[0]
    assert isinstance(text, types.TextContent)
    return text.text


def assert_snapshot(name: str, value: object, known: dict[str, str]) -> None:
    """Compares with snapshots/<name>.json; `known` names what differs from run to run, numbers of ranking are left out.

    MEMHUB_SNAPSHOTS=write makes the files anew.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    for found, stands_for in known.items():
        text = text.replace(found, stands_for)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<time>", text)
    text = re.sub(r"\bm_[0-9a-f]{12}\b", "<another>", text)
    text = re.sub(r'("score": )[\d.]+', r"\1<score>", text)
    text = re.sub(r"\d+ %", "<share> %", text)
    file = SNAPSHOTS / f"{name}.json"
    if os.environ.get("MEMHUB_SNAPSHOTS") == "write":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if not file.exists():
        pytest.fail(f"{file} is missing; run once with MEMHUB_SNAPSHOTS=write")
    assert text == file.read_text(encoding="utf-8")
