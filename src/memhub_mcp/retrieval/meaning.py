"""The meaning side of a question: its vector and its tokens in the space that a store serves, or the reason why
there are none."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.domain.embedding import EmbeddingSpace
from memhub_mcp.errors import ModelError
from memhub_mcp.models.load import EmbedderDoor
from memhub_mcp.models.protocols import TokenVectors
from memhub_mcp.retrieval.terms import STOP_WORDS
from memhub_mcp.store.vectors import EmbeddingSpaceRow

MIN_KNOWN_SHARE = 0.5
"""Of a question's characters that the model's vocabulary must know: below it, its vector would mislead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A question's unit vector, its content tokens and their space; `state` and `why` say what became of it.

    `among` are the vectors of a store that it may be compared with; None when there are none.
    """

    vector: NDArray[np.float32] | None = None
    tokens: TokenVectors | None = None
    space: EmbeddingSpace | None = None
    among: EmbeddingSpaceRow | None = None
    state: Literal["on", "loading", "off"]
    why: str | None = None


def read_meanings(
    door: EmbedderDoor,
    door_of: Callable[[str], EmbedderDoor],
    question: str,
    serving: Sequence[EmbeddingSpaceRow | None],
    wait_s: float,
) -> list[Meaning]:
    """The meaning of `question` for stores in which these spaces serve (None: nothing is embedded there yet).

    While models are being changed, stores may be in different spaces: each is asked in its own, by the model that made
    it, which `door_of` finds by the name of the space. `door` has the model in use, for when no store has a space.
    """
    until = time.monotonic() + wait_s
    if all(row is None for row in serving):
        return [read_meaning(door, question, wait_s)] * len(serving)
    read: dict[str, Meaning] = {}
    for row in serving:
        if row is not None and row.name not in read:
            read[row.name] = read_meaning(door_of(row.name), question, max(0.0, until - time.monotonic()))
    return [_NOTHING_TO_COMPARE if row is None else _among(read[row.name], row) for row in serving]


_NOTHING_TO_COMPARE = Meaning(state="on")


def _among(meaning: Meaning, row: EmbeddingSpaceRow) -> Meaning:
    if meaning.space is not None and meaning.space.name != row.name:
        why = f"the vectors here are of {row.name}, the question's is of {meaning.space.name}"
        return Meaning(state="off", why=why)
    return replace(meaning, among=row)


def read_meaning(door: EmbedderDoor, question: str, wait_s: float) -> Meaning:
    """The meaning of `question`; a model that is being loaded is waited for up to `wait_s`."""
    embedder = door.get(wait_s)
    if embedder is None:
        return Meaning(state="loading" if door.state() == "loading" else "off", why=door.why())
    try:
        if embedder.known_share(question) < MIN_KNOWN_SHARE:
            return Meaning(
                state="off", why="the model does not know most of these words, so they were searched as they are"
            )
        encoding = embedder.encode([question], query=True)
    except ModelError as error:
        return Meaning(state="off", why=str(error))
    tokens = encoding.tokens[0].without(STOP_WORDS) if encoding.tokens else None
    return Meaning(vector=encoding.vectors[0], tokens=tokens, space=embedder.space, state="on")
