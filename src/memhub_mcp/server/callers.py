"""Who asks: the host's name and every hint about where it works."""

import re
import sys
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from memhub_mcp.domain.scope import Caller
from memhub_mcp.settings import Settings

Context = ServerRequestContext[Any, Any]

WORKSPACE_IN_SCOPE = "memhub.workspace"
"""Where the HTTP transports put the workspace that a host's configuration names, in the ASGI scope."""

_KNOWN = {"codex-mcp-client": "codex", "cursor-vscode": "cursor"}
_KNOWN_BY_BEGINNING = {"gemini-cli-mcp-client": "gemini-cli", "qwen-cli-mcp-client": "qwen-code"}
"""Clients that may add the name under which they know the server."""
_LONGEST_SOURCE = 40
_LONGEST_SESSION = 200
_ROOTS_DEADLINE_S = 2.0
_REMEMBERED_CONNECTIONS = 64


def source_name(client_name: str) -> str:
    """The host tag stored with a memory: `[a-z0-9-]`, at most 40 characters."""
    name = re.sub(r"\s*\(via [^)]*\)$", "", client_name.strip())  # what a bridge in between adds
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower())[:_LONGEST_SOURCE].strip("-")
    for beginning, source in _KNOWN_BY_BEGINNING.items():
        if plain.startswith(beginning):
            return source
    return _KNOWN.get(plain, plain) or "unknown"


class Callers:
    """Knows the host behind a request, in both protocol eras."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._roots: deque[tuple[types.InitializeRequestParams, tuple[Path, ...]]] = deque(
            maxlen=_REMEMBERED_CONNECTIONS
        )

    async def caller(self, ctx: Context, arguments: Mapping[str, Any]) -> Caller:
        """The caller of one request; `arguments` may name a workspace."""
        client = ctx.session.client_params
        return Caller(
            source=source_name(client.client_info.name) if client else "unknown",
            session=_session(ctx) or self._settings.host_session,
            workspace=arguments.get("workspace"),
            named=ctx.request.scope[WORKSPACE_IN_SCOPE] if ctx.request else None,
            roots=await self._client_roots(ctx, arguments),
        )

    async def forget_roots(self, ctx: Context, _params: object) -> None:
        """The person opened or closed a folder: the next call asks again."""
        for entry in [entry for entry in self._roots if entry[0] is ctx.session.client_params]:
            self._roots.remove(entry)

    async def _client_roots(self, ctx: Context, arguments: Mapping[str, Any]) -> tuple[Path, ...]:
        """The client's roots, asked for once a connection; none when something above them already answers."""
        client = ctx.session.client_params
        if (
            client is None
            or client.capabilities.roots is None
            or ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS
            or (ctx.request and ctx.request.scope[WORKSPACE_IN_SCOPE])
            or self._settings.workspace
            or self._settings.project_dir
        ):
            return ()
        for known, roots in self._roots:
            if known is client:
                return roots
        roots = await _ask_for_roots(ctx)
        self._roots.append((client, roots))
        return roots


def _session(ctx: Context) -> str | None:
    """The conversation a call belongs to, when the host says so (Codex does, with the name its hooks use)."""
    said = dict(ctx.meta or {}).get("sessionId")
    return said if isinstance(said, str) and 0 < len(said) <= _LONGEST_SESSION else None


async def _ask_for_roots(ctx: Context) -> tuple[Path, ...]:
    with anyio.move_on_after(_ROOTS_DEADLINE_S):
        try:
            answer = await ctx.session.send_request(
                types.ListRootsRequest(),
                types.ListRootsResult,
                metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
            )
        except (MCPError, ValidationError):
            return ()  # declared but not answered: the other hints decide
        return tuple(path for root in answer.roots if (path := _local_path(str(root.uri))) is not None)
    return ()


def _local_path(uri: str) -> Path | None:
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = url2pathname(parts.path)
    return Path(path) if sys.platform == "win32" or path.startswith("/") else None
