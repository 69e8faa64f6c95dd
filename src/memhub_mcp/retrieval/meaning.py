"""The meaning side of a question: its vector, or the reason why there is none."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.domain.embedding import EmbeddingSpace
from memhub_mcp.errors import ModelError
from memhub_mcp.models.load import EmbedderDoor

MIN_KNOWN_SHARE = 0.5
"""Of a question's characters that the model's vocabulary must know: below it, its vector would mislead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A question's unit vector and its space; `state` and `why` say what became of it."""

    vector: NDArray[np.float32] | None = None
    space: EmbeddingSpace | None = None
    state: Literal["on", "loading", "off"]
    why: str | None = None


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
        vector = embedder.embed([question], query=True)[0]
    except ModelError as error:
        return Meaning(state="off", why=str(error))
    return Meaning(vector=vector, space=embedder.space, state="on")
