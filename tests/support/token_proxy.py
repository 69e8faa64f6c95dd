"""A way into a server of ours for clients that cannot be told a token: every request gets it on the way."""

import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Iterator

import anyio
import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

METHODS = ["GET", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"]
OF_ONE_HOP = {"connection", "keep-alive", "transfer-encoding", "date"}


@contextlib.contextmanager
def with_token(url: str, token: str) -> Iterator[str]:
    """The URL under which `url` answers as if the token had been sent. Host and Origin arrive as they were sent."""
    server = uvicorn.Server(
        uvicorn.Config(_forwarding_to(url, token), log_level="critical", timeout_graceful_shutdown=1)
    )
    bound = socket.create_server(("127.0.0.1", 0))
    path = httpx2.URL(url).path
    running = threading.Thread(target=anyio.run, args=(server.serve, [bound]))
    running.start()
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}{path}"
    finally:
        server.should_exit = True
        running.join()


def _forwarding_to(url: str, token: str) -> Starlette:
    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, httpx2.AsyncClient]]:
        async with httpx2.AsyncClient(base_url=httpx2.URL(url).join("/"), timeout=None) as behind:
            yield {"behind": behind}

    async def forward(request: Request) -> StreamingResponse:
        headers = [(name, value) for name, value in request.headers.items() if name not in OF_ONE_HOP]
        sent = request.state.behind.build_request(
            request.method,
            request.url.path,
            headers=[*headers, ("authorization", f"Bearer {token}")],
            content=await request.body(),
        )
        answer = await request.state.behind.send(sent, stream=True)
        kept = {name: value for name, value in answer.headers.items() if name not in OF_ONE_HOP}

        async def body() -> AsyncIterator[bytes]:
            try:
                async for piece in answer.aiter_raw():
                    yield piece
            finally:
                with anyio.CancelScope(shield=True):
                    await answer.aclose()

        return StreamingResponse(body(), answer.status_code, kept)

    return Starlette(routes=[Route("/{path:path}", forward, methods=METHODS)], lifespan=lifespan)
