"""Steps for tests of the store: a clock that is set by hand, stores in a folder, memories with their words."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.domain.embedding import EmbeddingSpace
from memhub_mcp.domain.memory import Draft, Memory
from memhub_mcp.domain.scope import Tier, Workspace
from memhub_mcp.store.file import Store

SPACE = EmbeddingSpace("test", "1", "f32", 64)


class HandClock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **units: float) -> None:
        self.now += timedelta(**units)


def open_store(home: Path, clock: HandClock | None = None, *, read_only: bool = False, name: str = "w") -> Store:
    directory = home / "workspaces" / name
    return Store.open(directory, Workspace(f"id-of-{name}", name, directory), clock or HandClock(), read_only)


def key_of(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def remember(
    store: Store,
    text: str,
    *,
    id: str | None = None,
    tier: Tier = Tier.WORKSPACE,
    branch: str | None = None,
    anchor: int | None = None,
    source: str = "cursor",
    session: str | None = None,
    subject_key: str | None = None,
    now: datetime = datetime(2026, 11, 30, 12, tzinfo=UTC),
    terms: Sequence[str] | None = None,
    **draft: Any,
) -> Memory:
    """Store a memory with its words, in a transaction of its own."""
    with store.write() as tx:
        memory = store.memories.add(
            tx,
            Draft(text=text, **draft),
            id=id or f"m_{key_of(text).hex()[:12]}",
            tier=tier,
            branch=branch,
            anchor=anchor,
            commit=None,
            source=source,
            session=session,
            origin_workspace=None,
            content_key=key_of(text),
            subject_key=subject_key,
            now=now,
            redaction=1,
        )
        store.words.index(tx, memory.seq, {"body": text.lower().split() if terms is None else terms})
        store.vectors.enqueue(tx, memory.seq)
    return memory


def unit(*numbers: float, dimension: int = 64) -> NDArray[np.float32]:
    """A unit vector that begins with `numbers`."""
    vector = np.zeros(dimension, np.float32)
    vector[: len(numbers)] = numbers
    return vector / np.linalg.norm(vector)


def random_units(number: int, seed: int = 1, dimension: int = 64) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(number, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
