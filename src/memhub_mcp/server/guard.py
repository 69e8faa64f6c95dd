"""Who may speak to us over HTTP: who names us, comes from no foreign page and holds the data directory's token."""

import hmac
import json
import os
import secrets
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from memhub_mcp.errors import HomeError
from memhub_mcp.store.folders import make_private, publish

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_TOKEN_BYTES = 32


def token_file(home: Path) -> Path:
    """Where the token of a data directory lies; only its owner can read the file."""
    return home / "run" / "token"


def read_token(home: Path) -> str:
    """The bearer token of a data directory, made on first use; it stays, so that hosts keep working.

    Raises:
        HomeError: it can be neither read nor made.
    """
    file = token_file(home)
    try:
        if not file.exists():
            _make_token(file)
        token = file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError as error:
        raise HomeError(f"{file} cannot be used ({error.strerror}); check the data directory") from error
    if len(token) < _TOKEN_BYTES or not token.isascii():
        raise HomeError(f"{file} holds no token; remove it and start again")
    return token


def _make_token(file: Path) -> None:
    """Two servers may start at once: the token appears whole, and the first one stays."""
    make_private(file.parent)
    draft = file.with_name(f".token.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as made:
            made.write(secrets.token_urlsafe(_TOKEN_BYTES) + "\n")
        publish(draft, file)
    finally:
        draft.unlink(missing_ok=True)


class Guard:
    """Lets a request through to the application, or says why not; the same on loopback as anywhere.

    Host and Origin keep out web pages (DNS rebinding, cross-site requests), the token everybody else.
    """

    def __init__(self, application: ASGIApp, *, token: str, names: Iterable[str], address: str) -> None:
        """`address` is where it listens; listening everywhere it is reached by any address, and by `names`."""
        self._application = application
        self._token = token.encode()
        self._names = _LOOPBACK_NAMES | {address} | {name.lower() for name in names}
        self._any_address = ip_address(address).is_unspecified

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One ASGI request."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        headers = _Headers(scope["headers"])
        if not self._is_us(headers.one(b"host")):
            await answer(send, 421, "this Host is not served here; use the address memhub-mcp printed")
        elif not self._is_welcome(headers.all(b"origin")):
            await answer(send, 403, "requests from web pages are not accepted")
        elif not self._knows_token(headers.one(b"authorization")):
            await answer(send, 401, "send the token in <home>/run/token as `Authorization: Bearer TOKEN`")
        else:
            await self._application(scope, receive, send)

    def _is_us(self, host: bytes | None) -> bool:
        name = _host_name(host) if host else None
        return name is not None and (name in self._names or (self._any_address and _is_address(name)))

    def _is_welcome(self, origins: list[bytes]) -> bool:
        return all(
            scheme in (b"http", b"https") and self._is_us(host)
            for scheme, _, host in (origin.partition(b"://") for origin in origins)
        )

    def _knows_token(self, authorization: bytes | None) -> bool:
        kind, _, token = (authorization or b"").partition(b" ")
        return hmac.compare_digest(token.strip(), self._token) and kind.lower() == b"bearer"


class _Headers:
    def __init__(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self._headers = list(headers)

    def all(self, name: bytes) -> list[bytes]:
        return [value for key, value in self._headers if key.lower() == name]

    def one(self, name: bytes) -> bytes | None:
        """The value of a header that must not stand twice."""
        values = self.all(name)
        return values[0] if len(values) == 1 else None


def _host_name(host: bytes) -> str | None:
    """The name in a Host header, lower-case, without port and brackets; None when it is no such header."""
    try:
        parts = urlsplit(b"//" + host)
        plain = parts.netloc == host and b"@" not in host and parts.port != 0
        return parts.hostname.decode("ascii") if plain and parts.hostname else None
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


async def answer(send: Send, status: int, why: str) -> None:
    """An answer that is not the application's."""
    body = json.dumps({"error": why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
