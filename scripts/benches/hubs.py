"""A hub on a data directory of its own, filled with sentences."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benches.measuring import sentences
from memhub_mcp.bootstrap import open_hub
from memhub_mcp.domain.scope import Caller
from memhub_mcp.service.hub import Hub
from memhub_mcp.settings import Settings

CALLER = Caller(source="bench")
CHUNK = 20


@contextmanager
def empty_hub(embedder: str) -> Iterator[Hub]:
    """A hub outside any repository; `embedder` as in config.toml."""
    with TemporaryDirectory(prefix="memhub-bench-") as folder:
        place = Path(folder)
        hub = open_hub(Settings(home=place / "home", cwd=place, person_home=place / "nobody", embedder=embedder))
        try:
            yield hub
        finally:
            hub.close()


def fill(hub: Hub, count: int) -> None:
    """Store `count` sentences and wait until each has its vectors."""
    texts = sentences(count)
    for start in range(0, count, CHUNK):
        hub.memories.remember(CALLER, [{"text": text} for text in texts[start : start + CHUNK]])
    while hub.maintenance.run_once():
        pass
