"""A store of memories with their vectors, and the real embedded model."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import pytest

from memhub_mcp.domain.memory import Draft
from memhub_mcp.domain.scope import Tier, Workspace
from memhub_mcp.models.load import EmbedderDoor, RerankerDoor
from memhub_mcp.models.minilm import load_minilm
from memhub_mcp.models.protocols import Embedder
from memhub_mcp.retrieval.recall import Recall
from memhub_mcp.retrieval.terms import index_terms, name_terms
from memhub_mcp.store.file import Store

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Shelf:
    """A store that can be filled in one line."""

    def __init__(self, store: Store, embedder: Embedder | None) -> None:
        self.store = store
        self.embedder = embedder

    def put(self, *drafts: Draft | str, now: datetime = NOW) -> list[int]:
        """Rows of the drafts, findable by words, and by meaning when there is a model."""
        seqs: list[int] = []
        made = [Draft(text=draft) if isinstance(draft, str) else draft for draft in drafts]
        vectors = self.embedder.embed([draft.text for draft in made]) if self.embedder else [None] * len(made)
        with self.store.write() as tx:
            space = self.store.vectors.space_id(tx, self.embedder.space) if self.embedder else 0
            for draft, vector in zip(made, vectors, strict=True):
                memory = self.store.memories.add(
                    tx,
                    draft,
                    id=f"m_{self.store.db.generation}_{len(seqs)}",
                    tier=Tier.USER,
                    branch=None,
                    anchor=None,
                    commit=None,
                    source="claude-code",
                    session=None,
                    origin_workspace=None,
                    content_key=draft.text.encode()[:32],
                    subject_key=draft.subject,
                    now=now,
                    redaction=1,
                )
                named = name_terms(draft.subject, *draft.files, *draft.symbols)
                self.store.words.index(tx, memory.seq, {"body": index_terms(draft.text), "name": named})
                if vector is not None:
                    self.store.vectors.put(tx, memory.seq, 0, space, vector)
                seqs.append(memory.seq)
        return seqs


@pytest.fixture(scope="session")
def minilm() -> Embedder:
    return load_minilm(threads=1)


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Callable[[str], Store]]:
    opened: list[Store] = []

    def open_one(name: str) -> Store:
        directory = tmp_path / name
        directory.mkdir()
        store = Store.open(directory, Workspace(id=name, name=name, directory=directory), lambda: NOW)
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def shelf(open_store: Callable[[str], Store], minilm: Embedder) -> Shelf:
    return Shelf(open_store("shop"), minilm)


@pytest.fixture
def plain_shelf(open_store: Callable[[str], Store]) -> Shelf:
    return Shelf(open_store("plain"), None)


def _never(*_: object) -> NoReturn:
    raise AssertionError("a door that is off loads nothing")


NO_RERANKER = RerankerDoor(_never, off="no reranker is configured")


@pytest.fixture
def recall(minilm: Embedder) -> Recall:
    return Recall(embedder=EmbedderDoor.holding(minilm), reranker=NO_RERANKER, clock=lambda: NOW)


@pytest.fixture
def recall_by_words() -> Recall:
    door = EmbedderDoor(_never, off="meaning is switched off")
    return Recall(embedder=door, reranker=NO_RERANKER, clock=lambda: NOW)
