"""Contents of a repository by blob id, and how two of them differ. What was read is kept, within bounds."""

from collections import OrderedDict

import pygit2

from memhub_mcp.domain.revision import Hunk
from memhub_mcp.repo.diff import BLOB_LIMIT_BYTES, blob_patch, patch_hunks

_KEPT_BYTES = 32 * 1024 * 1024
_KEPT_DIFFERENCES = 4_096


class Contents:
    """Texts and differences of blobs. Not for several threads at once."""

    def __init__(self, repo: pygit2.Repository) -> None:
        self._repo = repo
        self._lines: OrderedDict[str, list[str]] = OrderedDict()
        self._size = 0
        self._hunks: OrderedDict[tuple[str | None, str | None], tuple[Hunk, ...] | None] = OrderedDict()

    def data(self, blob: str) -> bytes | None:
        """The bytes of a blob; None when it is not here or over the limit."""
        try:
            if self._repo.odb.read_header(blob)[1] > BLOB_LIMIT_BYTES:
                return None
            return self._repo[blob].peel(pygit2.Blob).data
        except (pygit2.GitError, KeyError, ValueError):
            return None

    def lines(self, blob: str) -> list[str] | None:
        """The text of a blob, line by line; None for what is binary, too large or not here."""
        kept = self._lines.get(blob)
        if kept is not None:
            self._lines.move_to_end(blob)
            return kept
        data = self.data(blob)
        if data is None or is_binary(data):
            return None
        lines = text_lines(data)
        self._lines[blob] = lines
        self._size += len(data)
        while self._size > _KEPT_BYTES and len(self._lines) > 1:
            _, dropped = self._lines.popitem(last=False)
            self._size -= sum(map(len, dropped)) + len(dropped)
        return lines

    def hunks(self, before: str | None, after: str | None) -> tuple[Hunk, ...] | None:
        """The lines that changed between two blobs; None when one is binary, too large or not here."""
        key = (before, after)
        if key not in self._hunks:
            self._hunks[key] = self._compare(before, after)
            if len(self._hunks) > _KEPT_DIFFERENCES:
                self._hunks.popitem(last=False)
        return self._hunks[key]

    def _compare(self, before: str | None, after: str | None) -> tuple[Hunk, ...] | None:
        for blob in (before, after):
            data = self.data(blob) if blob else b""
            if data is None or is_binary(data):
                return None
        return patch_hunks(blob_patch(self._repo, before, after))


def is_binary(data: bytes) -> bool:
    """As git decides it: a NUL near the beginning."""
    return b"\0" in data[:8000]


def text_lines(data: bytes) -> list[str]:
    """Lines without their ends, `\\n` and `\\r\\n` alike."""
    lines = data.decode("utf-8", "replace").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
