"""Hubs on a data directory of their own, with the small embedder or the real one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hash_models import HashModels

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.domain.clock import Clock, system_clock
from memhub_mcp.domain.scope import Caller
from memhub_mcp.models.hash_embedder import HashEmbedder
from memhub_mcp.models.load import Models
from memhub_mcp.service.hub import Hub
from memhub_mcp.settings import Settings


@dataclass(frozen=True)
class Desk:
    """An assistant at work: a hub, and where it stands."""

    hub: Hub
    caller: Caller

    def remember(self, *texts: str, **fields: Any) -> list[str]:
        """The ids of memories stored in one call, all with the same further fields."""
        reply = self.hub.memories.remember(self.caller, [{"text": text, **fields} for text in texts])
        return [result["id"] for result in reply["results"]]

    def recall(self, query: str, **asked: Any) -> list[str]:
        """The ids of what is recalled, best first."""
        return [hit["id"] for hit in self.hub.memories.recall(self.caller, query, **asked)["hits"]]

    def text(self, memory_id: str) -> str:
        """The full text of a memory."""
        return self.hub.memories.get(self.caller, [memory_id])["memories"][0]["text"]


@contextmanager
def loaded_model(home: Path) -> Iterator[None]:
    """A model in memory, as beside a running server.

    On a busy machine a command that had to load it would take longer than its search waits.
    """
    models = Models(Settings(home=home, cwd=home, person_home=home))
    try:
        assert models.embedder.get(60) is not None
        yield
    finally:
        models.close()


@contextmanager
def desk_in(
    folder: Path,
    *,
    home: Path | None = None,
    source: str = "claude-code",
    session: str | None = None,
    clock: Clock = system_clock,
    real_model: bool = False,
    models: HashModels | None = None,
    **settings: Any,
) -> Iterator[Desk]:
    """An assistant that stands in `folder`; its data lies in `home`, or beside the folder."""
    data = home or folder.parent / "memhub-home"
    chosen = Settings(home=data, cwd=folder, person_home=folder.parent / "nobody", **settings)
    if models is None and not real_model and chosen.embedder != "off":
        models = HashModels(HashEmbedder())
    doors = models or Models(chosen)
    hub = open_hub(chosen, clock=clock, models=doors)
    try:
        if real_model:
            assert doors.embedder.get(60) is not None  # on a busy machine it may load for longer than a search waits
        yield Desk(hub, Caller(source=source, session=session, cwd=folder))
    finally:
        hub.close()
