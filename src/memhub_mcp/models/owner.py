"""The process that holds the models of a data directory serves those that do not.

Whoever holds `<home>/run/models.lock` is the owner; the lock file says where it listens and with which key. It is a
thread of an ordinary server, no process of its own: when that server ends, however it ends, the system releases the
lock and the next one that needs a model takes it.
"""

import json
import logging
import os
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener, answer_challenge, deliver_challenge
from pathlib import Path
from typing import Any

from memhub_mcp import __version__
from memhub_mcp.errors import HomeError, ModelError
from memhub_mcp.models.address import give_up, new_address
from memhub_mcp.models.door import Door
from memhub_mcp.models.lock import ProcessLock
from memhub_mcp.models.wire import MAX_BYTES, PROTOCOL, pack, unpack

RELOAD_S = 1.5
"""How long a guest's question waits for a model that left memory; the guest waits 2 s for an answer."""

_QUEUE = 64

log = logging.getLogger(__name__)


class Owner:
    """Serves until `close` or the end of the process."""

    def __init__(self, lock: ProcessLock, run: Path, lend: Callable[[str], Door[Any]]) -> None:
        """Listen, and say so in the lock file. `lend` gives the door of a model, here in this process.

        Raises:
            HomeError: nothing can listen here.
        """
        self._lock = lock
        self._run = run
        self._lend = lend
        self._key = secrets.token_bytes(32)
        self._closing = threading.Event()
        self._address = new_address(run)
        try:
            self._listener = Listener(self._address, backlog=_QUEUE)
            lock.write(
                json.dumps(
                    {
                        "protocol": PROTOCOL,
                        "pid": os.getpid(),
                        "version": __version__,
                        "address": self._address,
                        "key": self._key.hex(),
                    }
                )
            )
        except OSError as error:
            raise HomeError(f"nothing can listen at {self._address} ({error.strerror or error})") from error
        self._thread = threading.Thread(target=self._accept, name="memhub-owner", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving, then let the next process have the lock."""
        self._closing.set()
        with suppress(OSError, EOFError):
            Client(self._address).close()  # wakes the thread that waits for guests
        self._thread.join(1.0)
        with suppress(OSError):
            self._listener.close()
            self._lock.write("")
        give_up(self._address, self._run)
        self._lock.release()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection = self._listener.accept()
            except (OSError, EOFError) as error:
                log.warning("a guest could not be let in: %s", error)
                self._closing.wait(0.1)
                continue
            # The key is asked for in the guest's own thread: one that stands still holds up nobody else.
            threading.Thread(target=self._serve, args=(connection,), name="memhub-guest", daemon=True).start()

    def _serve(self, connection: Any) -> None:
        with connection:
            try:
                deliver_challenge(connection, self._key)
                answer_challenge(connection, self._key)
                connection.send_bytes(self._answer(connection.recv_bytes(MAX_BYTES)))
            except (OSError, EOFError, AssertionError, AuthenticationError) as error:
                log.debug("a guest went away: %s", error)

    def _answer(self, message: bytes) -> bytes:
        try:
            request, _ = unpack(message)
            return _answer(request, self._lend(str(request["model"])))
        except ModelError as error:
            return pack({"error": str(error)})
        except (ValueError, KeyError, TypeError) as error:
            return pack({"error": f"the request was not understood ({type(error).__name__}: {error})"})
        except Exception as error:
            log.exception("a guest could not be answered")
            return pack({"error": f"the model failed ({type(error).__name__}: {error})"})


def _answer(request: dict[str, Any], door: Door[Any]) -> bytes:
    asked = request["ask"]
    model = door.get(0.0 if asked == "hello" else RELOAD_S)
    if model is None:
        return pack({"state": door.state(), "error": door.why() or "the model is not in memory"})
    if asked == "hello":
        return pack({"state": "ready", **_card(model)})
    if asked == "embed":
        return pack({}, [model.embed(request["texts"], query=request["query"])])
    if asked == "encode":
        encoding = model.encode(request["texts"], query=request["query"])
        tokens = [[token.pieces, token.words] for token in encoding.tokens]
        return pack({"tokens": tokens}, [encoding.vectors, *(token.vectors for token in encoding.tokens)])
    if asked == "split":
        return pack({"pieces": model.split(request["text"])})
    if asked == "known_share":
        return pack({"share": model.known_share(request["text"])})
    if asked == "score":
        return pack({}, [model.score(request["query"], request["passages"])])
    raise ValueError(f"unknown request {asked!r}")


def _card(model: Any) -> dict[str, Any]:
    """What a guest must know of a model to stand in for it."""
    space = getattr(model, "space", None)
    if space is None:
        return {"name": model.name}
    return {
        "space": [space.model, space.revision, space.quantisation, space.dimension],
        "window": model.window_tokens,
    }
