"""Files that became others: how much of a text another one holds, as git measures it."""

from collections import Counter
from collections.abc import Mapping
from typing import Protocol

ENOUGH = 0.5
_CHUNK_BYTES = 64
_MOST_PAIRS = 400
_MOST_BYTES = 4 << 20


class Blobs(Protocol):
    """Contents by blob id."""

    def size(self, blob: str) -> int | None:
        """The bytes a blob has; None when it is not here."""
        ...

    def data(self, blob: str) -> bytes | None:
        """The bytes of a blob; None when it is not here or over the limit."""
        ...


def pair_similar(blobs: Blobs, gone: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Which of the paths `gone` each of the `new` ones was, the most similar first. Values of both are blob ids.

    libgit2 estimates similarity from a sample of lines and misses files of very different size, which git pairs.
    """
    if not gone or not new or len(gone) * len(new) > _MOST_PAIRS:
        return {}
    sizes = {blob: blobs.size(blob) or 0 for blob in (*gone.values(), *new.values())}
    if sum(sizes.values()) > _MOST_BYTES:
        return {}
    likely = [
        (old, path)
        for old, before in gone.items()
        for path, after in new.items()
        if min(sizes[before], sizes[after]) >= max(1, ENOUGH * max(sizes[before], sizes[after]))
    ]
    chunks = {blob: _chunks(blobs.data(blob) or b"") for old, path in likely for blob in (gone[old], new[path])}
    scored = sorted(
        ((_similarity(chunks[gone[old]], chunks[new[path]]), old, path) for old, path in likely), reverse=True
    )
    found: dict[str, str] = {}
    for score, old, path in scored:
        if score >= ENOUGH and path not in found and old not in found.values():
            found[path] = old
    return found


def _similarity(before: Counter[bytes], after: Counter[bytes]) -> float:
    """The bytes that both have of the bytes of the larger one.

    Source: git's diffcore-rename.c and diffcore-delta.c.
    """
    common = sum(len(chunk) * min(count, after[chunk]) for chunk, count in before.items())
    return common / max(_bytes(before), _bytes(after), 1)


def _bytes(chunks: Counter[bytes]) -> int:
    return sum(len(chunk) * count for chunk, count in chunks.items())


def _chunks(data: bytes) -> Counter[bytes]:
    """Lines, long ones in pieces."""
    text = data.replace(b"\r\n", b"\n") if b"\0" not in data[:8000] else data
    return Counter(
        line[start : start + _CHUNK_BYTES]
        for line in text.splitlines(keepends=True)
        for start in range(0, len(line), _CHUNK_BYTES)
    )
