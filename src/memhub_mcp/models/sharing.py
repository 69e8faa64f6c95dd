"""One process a data directory holds the models: this one, or the one that we ask."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from memhub_mcp.errors import HomeError, ModelError
from memhub_mcp.models.door import Door
from memhub_mcp.models.guest import Guest, OwnerCard, OwnerGone, RemoteEmbedder, RemoteReranker, read_card
from memhub_mcp.models.lock import ProcessLock
from memhub_mcp.models.owner import Owner
from memhub_mcp.models.wire import PROTOCOL

LOCK = "models.lock"

_NO_ANSWER_S = 2.0  # how long a process may hold the lock without listening
_LONGEST_LOAD_S = 120.0
_LOOK_AGAIN_S = 0.05

log = logging.getLogger(__name__)

Loader = Callable[[], Any]
Lost = Callable[[str | None], None]


class _Elsewhere(Door[Any]):
    """A model in another process. Each use looks first whether that process is still the one."""

    def __init__(self, model: Any, is_right: Callable[[], bool], lost: Lost) -> None:
        super().__init__(lambda: model)
        self._model = model
        self._is_right = is_right
        self._lost = lost

    def get(self, wait_s: float = 0.0) -> Any:
        """The stand-in for the model, None when its process has ended."""
        if not self._is_right():
            self._lost(None)
            return None
        return super().get(wait_s)


class Sharing:
    """This process's part in the sharing of models: owner, guest, or neither yet."""

    def __init__(self, run: Path, loaders: dict[str, Loader], *, idle_s: float, small: frozenset[str]) -> None:
        """`small` names the models that a process loads for itself when the owner speaks another protocol."""
        self._run = run
        self._small = small
        self._closing = threading.Event()
        self._changing = threading.Lock()
        self._owner: Owner | None = None
        self._alone = False
        self._here = {name: Door(load, idle_s=idle_s, left=self._leave) for name, load in loaders.items()}
        self._guests: dict[str, Lost] = {}

    def join(self, name: str, lost: Lost) -> Door[Any]:
        """The door of the model of this name: ours when we hold the lock, else that of the process that does.

        `lost` is called when it is no longer the right one, with the reason if that is a failure.

        Raises:
            ModelError: it is elsewhere and cannot be had there.
        """
        self._guests[name] = lost
        started = heard_at = time.monotonic()
        while not self._closing.is_set():
            if self._is_owner():
                return self._here[name]
            card = read_card(self._run / LOCK)
            if card is not None and card.protocol != PROTOCOL:
                return self._beside(name, card)
            if card is not None:
                with suppress(OwnerGone):
                    door = self._visit(name, Guest(card, lost))
                    if door is not None:
                        return door
                    heard_at = time.monotonic()
            now = time.monotonic()
            if now - heard_at > _NO_ANSWER_S or now - started > _LONGEST_LOAD_S:
                who = f"process {card.pid}" if card is not None else "another process"
                raise ModelError(f"{who} holds the model and does not answer")
            self._closing.wait(_LOOK_AGAIN_S)
        raise ModelError("memhub is ending")

    def close(self) -> None:
        """Lend nothing more, serve nobody more."""
        self._closing.set()
        for door in self._here.values():
            door.close()
        with self._changing:
            owner, self._owner = self._owner, None
        if owner is not None:
            owner.close()

    def _visit(self, name: str, guest: Guest) -> Door[Any] | None:
        """The model at the owner's, None while it is being loaded there."""
        card, _ = guest.ask({"ask": "hello", "model": name})
        if card["state"] == "ready":
            remote = RemoteEmbedder if "space" in card else RemoteReranker
            return _Elsewhere(remote(guest, name, card), lambda: self._is_still(guest.card), guest.lost)
        if card["state"] in ("loading", "idle"):
            return None
        raise ModelError(str(card["error"]))

    def _beside(self, name: str, card: OwnerCard) -> Door[Any]:
        """What to do beside an owner of another protocol: a small model may be in memory twice."""
        who = f"process {card.pid} (memhub {card.version})"
        if name not in self._small:
            raise ModelError(f"{who} holds the models and cannot share them with this version; end one of the two")
        log.warning("%s holds the models and cannot share them with this version: %s is loaded twice", who, name)
        return self._here[name]

    def _is_still(self, card: OwnerCard) -> bool:
        """Whether the owner is the one of this card: costs less than asking one that has ended."""
        return not self._is_owner() and read_card(self._run / LOCK) == card

    def _is_owner(self) -> bool:
        """Whether the models are ours to load; takes the lock when it is free."""
        with self._changing:
            if self._owner is not None or self._alone:
                return True
            try:
                lock = ProcessLock.try_acquire(self._run / LOCK)
                if lock is None:
                    return False
                try:
                    self._owner = Owner(lock, self._run, self._here.__getitem__)
                except HomeError:
                    lock.release()
                    raise
            except HomeError as error:
                # Nothing to share through: each process has its own, as if it were alone.
                log.warning("models are not shared between processes: %s", error)
                self._alone = True
            return True

    def _leave(self) -> None:
        """Give up the lock when no model is in memory: the next one to need a model need not be us."""
        with self._changing:
            if self._owner is None or any(door.state() in ("ready", "loading") for door in self._here.values()):
                return
            owner, self._owner = self._owner, None
        for name, lost in list(self._guests.items()):
            lost(self._here[name].why())
        owner.close()
