"""A process that does not hold the models asks the one that does."""

import json
import queue
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, answer_challenge, deliver_challenge
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.domain.embedding import EmbeddingSpace
from memhub_mcp.errors import ModelAway, ModelError
from memhub_mcp.models.protocols import Encoding, TokenVectors
from memhub_mcp.models.wire import MAX_BYTES, pack, unpack

DEADLINE_S = 2.0
"""For the owner to take a request, and again to answer a question."""

_TEXTS_DEADLINE_S = 10.0  # for texts to be stored: nobody waits, and a tired machine needs it
_CHARACTERS = 2_000  # a request: a few hundred tokens, well inside the deadline


class OwnerGone(ModelAway):
    """The process that held the models has ended; the next use finds another."""


class OwnerSilent(ModelAway):
    """The process that holds the models is there and does not answer."""


@dataclass(frozen=True, slots=True)
class OwnerCard:
    """What the lock file says about its holder."""

    protocol: int
    pid: int
    version: str
    address: str
    key: bytes


def read_card(path: Path) -> OwnerCard | None:
    """The card of the owner, None while it is not listening yet."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return OwnerCard(
            int(found["protocol"]),
            int(found["pid"]),
            str(found["version"]),
            str(found["address"]),
            bytes.fromhex(found["key"]),
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None


class Guest:
    """Asks one owner. Each request is its own connection: nothing is kept that could go stale."""

    def __init__(self, card: OwnerCard, lost: Callable[[str | None], None]) -> None:
        """`lost` is called when the owner is gone (None) or silent (why)."""
        self.card = card
        self.lost = lost

    def ask(
        self, request: dict[str, Any], *, within_s: float = DEADLINE_S
    ) -> tuple[dict[str, Any], list[NDArray[np.float32]]]:
        """The owner's answer.

        Raises:
            ModelError: it is gone, silent, or could not do it.
        """
        try:
            header, arrays = unpack(_exchange(self.card, pack(request), within_s))
        except OwnerGone:
            self.lost(None)
            raise
        except OwnerSilent as error:
            self.lost(str(error))
            raise
        except ValueError as error:
            raise ModelError(f"process {self.card.pid} gave an answer that is none of ours ({error})") from error
        if "error" in header and "state" not in header:
            raise ModelError(str(header["error"]))
        return header, arrays

    def use(self, request: dict[str, Any], *, within_s: float = DEADLINE_S) -> Any:
        """The answer of a model that is ready.

        Raises:
            ModelError: as `ask`, or the model left memory and is not back yet.
        """
        header, arrays = self.ask(request, within_s=within_s)
        if "state" in header:
            self.lost(None)
            raise ModelAway(str(header["error"]))
        return header, arrays


class RemoteEmbedder:
    """An Embedder in another process."""

    def __init__(self, guest: Guest, name: str, card: dict[str, Any]) -> None:
        model, revision, quantisation, dimension = card["space"]
        self.space = EmbeddingSpace(str(model), str(revision), str(quantisation), int(dimension))
        self.window_tokens = int(card["window"])
        self._guest = guest
        self._name = name

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Unit vectors of `texts`, shape (len(texts), space.dimension), in the same order."""
        parts = [self._ask("embed", part, query)[1][0] for part in _requests(texts)]
        return np.concatenate([np.zeros((0, self.space.dimension), np.float32), *parts])

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Encoding:
        """The same vectors, and the token vectors, from one pass."""
        vectors: list[NDArray[np.float32]] = [np.zeros((0, self.space.dimension), np.float32)]
        tokens: list[TokenVectors] = []
        for part in _requests(texts):
            header, arrays = self._ask("encode", part, query)
            vectors.append(arrays[0])
            for (pieces, words), own in zip(header["tokens"], arrays[1:], strict=True):
                tokens.append(TokenVectors(tuple(pieces), tuple(words), own))
        return Encoding(np.concatenate(vectors), tuple(tokens))

    def split(self, text: str) -> list[str]:
        """`text` in pieces that fit the window."""
        header, _ = self._guest.use({"ask": "split", "model": self._name, "text": text}, within_s=_TEXTS_DEADLINE_S)
        return [str(piece) for piece in header["pieces"]]

    def known_share(self, text: str) -> float:
        """The share of `text` that the vocabulary stands for."""
        header, _ = self._guest.use(
            {"ask": "known_share", "model": self._name, "text": text}, within_s=_patience_s(text)
        )
        return float(header["share"])

    def _ask(self, ask: str, texts: Sequence[str], query: bool) -> Any:
        request = {"ask": ask, "model": self._name, "texts": list(texts), "query": query}
        return self._guest.use(request, within_s=DEADLINE_S if query else _TEXTS_DEADLINE_S)


class RemoteReranker:
    """A Reranker in another process."""

    def __init__(self, guest: Guest, name: str, card: dict[str, Any]) -> None:
        self.name = str(card["name"])
        self._guest = guest
        self._model = name

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """One score in 0..1 a passage, in the same order."""
        request = {"ask": "score", "model": self._model, "query": query, "passages": list(passages)}
        _, (scores,) = self._guest.use(request)
        return scores


def _patience_s(text: str) -> float:
    return DEADLINE_S if len(text) <= _CHARACTERS else _TEXTS_DEADLINE_S


def _requests(texts: Sequence[str]) -> Iterator[list[str]]:
    """Texts that travel together, in order."""
    part: list[str] = []
    for text in texts:
        if part and sum(map(len, part)) + len(text) > _CHARACTERS:
            yield part
            part = []
        part.append(text)
    if part:
        yield part


def _exchange(card: OwnerCard, request: bytes, within_s: float) -> bytes:
    """One request and its answer.

    The talking is done by a thread of its own, for no part of it has a deadline of itself: an owner that was stopped
    half way through a message would otherwise hold its guest for ever.
    """
    heard: queue.SimpleQueue[bytes | Exception | None] = queue.SimpleQueue()
    line = _Line()
    talk = threading.Thread(target=_talk, args=(card, request, line, heard), name="memhub-ask", daemon=True)
    talk.start()
    try:
        for seconds in (DEADLINE_S, within_s):
            found = heard.get(timeout=seconds)
            if isinstance(found, Exception):
                raise OwnerGone(
                    f"process {card.pid}, which held the model, has ended ({str(found) or type(found).__name__})"
                ) from found
            if found is not None:
                return found
    except queue.Empty:
        line.cut()
        raise OwnerSilent(f"process {card.pid}, which holds the model, does not answer") from None
    raise AssertionError("the second message is the answer")


def _talk(card: OwnerCard, request: bytes, line: "_Line", heard: "queue.SimpleQueue[bytes | Exception | None]") -> None:
    """Puts None when the owner has taken the request, then the answer; or what went wrong."""
    try:
        with line.connect(card.address) as connection:
            answer_challenge(connection, card.key)
            deliver_challenge(connection, card.key)
            connection.send_bytes(request)
            heard.put(None)
            heard.put(connection.recv_bytes(MAX_BYTES))
    except (OSError, EOFError, AssertionError, AuthenticationError) as error:
        heard.put(error)
    finally:
        line.close()


class _Line:
    """A connection that another thread can cut, where the system lets it."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None

    def connect(self, address: str) -> Any:
        if sys.platform == "win32":
            return Client(address)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(DEADLINE_S)
        self._socket.connect(address)
        self._socket.setblocking(True)
        return Connection(self._socket.dup().detach())

    def cut(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
