"""Looks at repositories for a call, and goes on looking in the background where that takes long."""

import logging
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from memhub_mcp.domain.branch import Anchor
from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.scope import Checkout
from memhub_mcp.errors import RepoError, StoreError
from memhub_mcp.repo.history import HEADS, History, open_history
from memhub_mcp.repo.layout import find_layout
from memhub_mcp.repo.reflog import read_birth
from memhub_mcp.service.branch_work import BranchWork
from memhub_mcp.service.promotion import supersede_on_default
from memhub_mcp.store.file import Store

PATIENCE_S = 0.2  # how long a call waits for a look; beyond it the reply says `visibility: partial`
_LAST_WAIT_S = 5.0  # at the end of the process, for a look under way: what it learns, the next process need not
_REMEMBERED = 32

log = logging.getLogger(__name__)

_Key = tuple[str, Path, str | None, str | None, str | None]
_State = tuple[str | None, dict[str, str | None]]
"""How the reflog of HEAD's branch begins, and the tips of branches with memories."""


@dataclass(frozen=True, slots=True)
class View:
    """What is seen from a HEAD. `partial`: the look goes on; `limited`: why history could not be read."""

    anchors: frozenset[int]
    partial: bool = False
    limited: str | None = None


@dataclass(slots=True)
class _Remembered:
    """A complete view, and what it depends on besides its key."""

    view: View
    generation: int
    state: _State


@dataclass(slots=True)
class _Look:
    """A look under way."""

    done: threading.Event = field(default_factory=threading.Event)
    view: View | None = None


class Lookout:
    """Answers what is seen from a checkout. Threads may share it."""

    def __init__(self, clock: Clock, patience_s: float = PATIENCE_S) -> None:
        self._clock = clock
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._looks: dict[_Key, _Look] = {}
        self._remembered: dict[_Key, _Remembered] = {}
        self._turn: dict[str, threading.Lock] = {}
        self._closed = threading.Event()

    def view(self, store: Store, checkout: Checkout) -> View:
        """The anchors of `store` that are seen from `checkout`; partial when that takes longer than our patience."""
        key = (store.workspace.id, checkout.root, checkout.head, checkout.branch, checkout.default_branch)
        known = self._remembered.get(key)
        if known and known.generation == store.db.generation and known.state == _state(checkout, known.state[1]):
            return known.view
        anchors = store.anchors.all()
        if not anchors and checkout.branch in (None, checkout.default_branch):
            return View(frozenset(), limited=checkout.limited)
        look = self._start(key, store, checkout)
        if look.done.wait(self._patience_s) and look.view:
            return look.view
        return View(_on_branch(anchors, checkout), partial=True, limited=checkout.limited)

    def close(self) -> None:
        """Wait a moment for what is under way, then let go of it."""
        with self._lock:
            looks = list(self._looks.values())
        for look in looks:
            look.done.wait(_LAST_WAIT_S / len(looks))
        self._closed.set()

    def _start(self, key: _Key, store: Store, checkout: Checkout) -> _Look:
        with self._lock:
            look = self._looks.get(key)
            if look is None:
                look = self._looks[key] = _Look()
                turn = self._turn.setdefault(store.workspace.id, threading.Lock())
                args = (key, look, turn, store, checkout)
                threading.Thread(target=self._run, args=args, name="memhub-lookout", daemon=True).start()
            return look

    def _run(self, key: _Key, look: _Look, turn: threading.Lock, store: Store, checkout: Checkout) -> None:
        try:
            with turn:  # one look at a time writes into a store
                look.view = self._look(key, store, checkout)
        except RepoError as error:
            look.view = View(_on_branch(store.anchors.all(), checkout), limited=str(error))
        except StoreError as error:  # what cannot be noted now is looked at again by the next call
            log.warning("visibility: %s", error)
        finally:
            with self._lock:
                self._looks.pop(key, None)
            look.done.set()

    def _look(self, key: _Key, store: Store, checkout: Checkout) -> View:
        layout = find_layout(checkout.root)
        if layout is None:
            raise RepoError("the repository is gone")
        history = open_history(layout)
        work = BranchWork(store, checkout, history, now=self._clock(), stopped=self._closed.is_set)
        work.learn()
        generation = store.db.generation  # before reading: what is written meanwhile is looked at again
        anchors = work.seen()
        if checkout.branch is not None and checkout.branch == checkout.default_branch and not store.read_only:
            supersede_on_default(store, anchors, self._clock())
        branches = {anchor.branch for anchor in store.anchors.all()}
        view = View(anchors, limited=checkout.limited)
        with self._lock:
            self._remembered.pop(key, None)
            self._remembered[key] = _Remembered(view, generation, _state_of(history, checkout, branches))
            while len(self._remembered) > _REMEMBERED:
                self._remembered.pop(next(iter(self._remembered)))
        return view


def _state(checkout: Checkout, branches: Iterable[str]) -> _State | None:
    layout = find_layout(checkout.root)
    try:
        return _state_of(open_history(layout), checkout, branches) if layout else None
    except RepoError:
        return None


def _state_of(history: History, checkout: Checkout, branches: Iterable[str]) -> _State:
    born = read_birth(checkout.common_dir, checkout.branch) if checkout.branch else None
    return born, {branch: history.tip(f"{HEADS}{branch}") for branch in branches}


def _on_branch(anchors: list[Anchor], checkout: Checkout) -> frozenset[int]:
    return frozenset(anchor.id for anchor in anchors if anchor.branch == checkout.branch)
