"""The hub as the handlers use it: opened on first need, called in worker threads, minded when nobody calls."""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Condition
from typing import TypeVar

import anyio
from anyio import to_thread

from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import MemhubError, StoreError
from memhub_mcp.service.hub import Hub

CALLS_AT_ONCE = 8
"""Worker threads for calls. The store has one writer; more readers than this only wait for each other."""

QUIET_S = 0.5
"""How long nobody must have called before maintenance begins."""

MAINTENANCE_EVERY_S = 60.0
"""How often maintenance looks for work left by hooks and other servers when nobody calls."""

LAST_CALLS_S = 5.0
"""How long the end waits for calls that are at work. What takes longer is left behind: a database survives that."""

_log = logging.getLogger(__name__)
T = TypeVar("T")


class Door:
    """One hub for all handlers of a process."""

    def __init__(self, open_hub: Callable[[], Hub]) -> None:
        self._open_hub = open_hub
        self._changing = Condition()
        self._hub: Hub | None = None
        self._at_work = 0
        self._closed = False
        self._threads = anyio.CapacityLimiter(CALLS_AT_ONCE)
        self._house_keeper = anyio.CapacityLimiter(1)
        self._calling = 0
        self._last_caller: Caller | None = None
        self._called = anyio.Event()

    async def run(self, caller: Caller, use_case: Callable[[Hub, Caller], T]) -> T:
        """What `use_case` returns for `caller`, from a worker thread.

        Raises:
            MemhubError: what the use case raises, or why the hub cannot be opened; the next call tries again.
        """

        def work() -> T:
            with self._opened() as hub:
                return use_case(hub, caller)

        self._calling += 1
        self._last_caller = caller
        try:
            return await to_thread.run_sync(work, limiter=self._threads)
        finally:
            self._calling -= 1
            self._called.set()

    async def keep_house(self) -> None:
        """Runs maintenance where somebody called last, after calls and now and then, never beside one."""
        more = True
        while True:
            if not more:
                with anyio.move_on_after(MAINTENANCE_EVERY_S):
                    await self._called.wait()
            await self._until_quiet()
            more = await to_thread.run_sync(self._maintain, limiter=self._house_keeper, abandon_on_cancel=True)

    def close(self) -> None:
        """Closes the hub if it was opened, when the calls at work are done; later ones are refused."""
        with self._changing:
            self._closed = True
            if self._changing.wait_for(lambda: not self._at_work, LAST_CALLS_S) and self._hub is not None:
                self._brief(self._hub)
                self._hub.close()

    async def _until_quiet(self) -> None:
        while True:
            self._called = anyio.Event()
            with anyio.move_on_after(QUIET_S):
                await self._called.wait()
                continue
            if not self._calling:
                return

    def _maintain(self) -> bool:
        try:
            with self._opened() as hub:
                return hub.maintenance.run_once(self._last_caller)
        except MemhubError as error:
            _log.info("maintenance: %s", error)  # whoever calls is told the same
        except Exception:  # noqa: BLE001 - what goes wrong in idle work must not take the server away
            _log.exception("maintenance failed")
        return False

    def _brief(self, hub: Hub) -> None:
        """A short session ends before there was time to write down what the next one begins with."""
        if self._last_caller is not None:
            try:
                hub.maintenance.brief(self._last_caller)
            except MemhubError as error:
                _log.info("the last digest is not written: %s", error)

    @contextmanager
    def _opened(self) -> Generator[Hub]:
        """The hub, which is not closed meanwhile."""
        with self._changing:
            if self._closed:
                raise StoreError("memhub is ending; start it anew")
            if self._hub is None:
                self._hub = self._open_hub()
            self._at_work += 1
        try:
            yield self._hub
        finally:
            with self._changing:
                self._at_work -= 1
                self._changing.notify_all()
