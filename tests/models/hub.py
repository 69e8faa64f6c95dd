"""A model hub on loopback that behaves as badly as it is told to."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Misbehaviour = Callable[["Handler", bytes, int], bool]
"""Given the handler, the whole content and the first byte asked for: whether it answered itself."""


@dataclass
class Hub:
    """What the hub holds, by path, what it does next, and what it was asked for."""

    url: str
    content: dict[str, bytes]
    next: list[Misbehaviour] = field(default_factory=list)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


class Handler(BaseHTTPRequestHandler):
    """Answers GET with Range, as a hub does behind a redirect."""

    hub: Hub

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.hub.asked.append((self.path, wanted))
        content = self.hub.content.get(self.path)
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if self.hub.next and self.hub.next.pop(0)(self, content or b"", start):
            return
        if content is None:
            self.answer(404, b"no such file")
        elif start >= len(content):
            self.answer(416, b"")
        elif start:
            self.answer(206, content[start:], {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"})
        else:
            self.answer(200, content)

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        """Send status, headers and body; a header given here replaces the usual one."""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a test's output is its own."""


def breaks_off(after: int) -> Misbehaviour:
    """Promises everything, sends `after` bytes and hangs up."""

    def act(handler: Handler, content: bytes, start: int) -> bool:
        rest = content[start:]
        headers = {"Content-Length": str(len(rest))}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        handler.answer(206 if start else 200, rest[:after], headers)
        handler.close_connection = True
        return True

    return act


def ignores_range(handler: Handler, content: bytes, start: int) -> bool:
    """Sends all of it, whatever was asked."""
    handler.answer(200, content)
    return True


def sends_another_range(handler: Handler, content: bytes, start: int) -> bool:
    """Says 206 and sends from somewhere else."""
    handler.answer(206, content[1:], {"Content-Range": f"bytes 1-{len(content) - 1}/{len(content)}"})
    return True


def sends(body: bytes) -> Misbehaviour:
    """Sends something else, politely."""

    def act(handler: Handler, content: bytes, start: int) -> bool:
        handler.answer(200, body)
        return True

    return act


def sends_without_length(body: bytes) -> Misbehaviour:
    """Sends something else and does not say how long it is."""

    def act(handler: Handler, content: bytes, start: int) -> bool:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(body)
        return True

    return act


def says(status: int, **headers: str) -> Misbehaviour:
    """A status without a body."""

    def act(handler: Handler, content: bytes, start: int) -> bool:
        handler.answer(status, b"", {name.replace("_", "-"): value for name, value in headers.items()})
        return True

    return act


def stalls(after: int) -> Misbehaviour:
    """Sends `after` bytes, then nothing, and keeps the line open."""

    def act(handler: Handler, content: bytes, start: int) -> bool:
        breaks_off(after)(handler, content, start)
        handler.hub.released.wait(60)
        return True

    return act


def redirects(to: str) -> Misbehaviour:
    """Sends a redirect whose body has a length of its own, as the hub does."""

    def act(handler: Handler, content: bytes, start: int) -> bool:
        handler.answer(302, b"moved", {"Location": to})
        return True

    return act


@contextmanager
def running_hub(content: dict[str, bytes]) -> Iterator[Hub]:
    """A hub that serves `content` until the end of the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (Handler,), {}))
    hub = Hub(f"http://127.0.0.1:{server.server_port}", content)
    server.RequestHandlerClass.hub = hub  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        hub.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
