"""Contents of a repository by blob id, and how two of them differ. What was read is kept, within bounds."""

from collections import OrderedDict

import pygit2

from memhub_mcp.domain.revision import Hunk, Spans

BLOB_LIMIT_BYTES = 2 * 1024 * 1024  # comparing larger ones takes over a second at worst
_KEPT_BYTES = 32 * 1024 * 1024
_KEPT_DIFFERENCES = 4_096
_BLOCK = 1_024


class Contents:
    """Texts and differences of blobs. Not for several threads at once."""

    def __init__(self, repo: pygit2.Repository) -> None:
        self._repo = repo
        self._data: OrderedDict[str, bytes | None] = OrderedDict()
        self._size = 0
        self._lines: tuple[str, list[str] | None] = ("", None)
        self._split: tuple[str, list[bytes]] = ("", [])
        self._hunks: OrderedDict[tuple[str | None, str | None], tuple[Hunk, ...] | None] = OrderedDict()

    def size(self, blob: str) -> int | None:
        """The bytes a blob has; None when it is not here."""
        try:
            return self._repo.odb.read_header(pygit2.Oid(hex=blob))[1]
        except (pygit2.GitError, KeyError, ValueError):
            return None

    def data(self, blob: str) -> bytes | None:
        """The bytes of a blob; None when it is not here or over the limit."""
        if blob in self._data:
            self._data.move_to_end(blob)
            return self._data[blob]
        data = self._read(blob)
        self._data[blob] = data
        self._size += len(data or b"")
        while self._size > _KEPT_BYTES and len(self._data) > 1:
            _, dropped = self._data.popitem(last=False)
            self._size -= len(dropped or b"")
        return data

    def lines(self, blob: str) -> list[str] | None:
        """The text of a blob, line by line; None for what is binary, too large or not here."""
        if self._lines[0] != blob:
            data = self.data(blob)
            self._lines = (blob, None if data is None or is_binary(data) else text_lines(data))
        return self._lines[1]

    def rows(self, blob: str, spans: Spans) -> list[bytes]:
        """The lines `spans` of a blob as they are stored; none when it has no lines."""
        data = self.data(blob)
        if data is None or is_binary(data):
            return []
        if self._split[0] != blob:
            self._split = (blob, data.split(b"\n"))
        return [row for start, end in spans for row in self._split[1][start:end]]

    def block(self, blob: str, spans: Spans) -> list[str]:
        """The lines `spans` of a blob as text."""
        return list(map(_line, self.rows(blob, spans)))

    def hunks(self, before: str | None, after: str | None) -> tuple[Hunk, ...] | None:
        """The lines that changed between two blobs; None when one is binary, too large or not here."""
        key = (before, after)
        if key not in self._hunks:
            self._hunks[key] = difference(self.data(before) if before else b"", self.data(after) if after else b"")
            if len(self._hunks) > _KEPT_DIFFERENCES:
                self._hunks.popitem(last=False)
        return self._hunks[key]

    def _read(self, blob: str) -> bytes | None:
        size = self.size(blob)
        if size is None or size > BLOB_LIMIT_BYTES:
            return None
        try:
            return self._repo.odb.read(pygit2.Oid(hex=blob))[1]
        except (pygit2.GitError, KeyError):
            return None


def difference(before: bytes | None, after: bytes | None) -> tuple[Hunk, ...] | None:
    """The lines that changed between two texts; None when one is unknown or binary."""
    if before is None or after is None or is_binary(before) or is_binary(after):
        return None
    return patch_of(before, after)[0]


def patch_of(before: bytes, after: bytes) -> tuple[tuple[Hunk, ...], bytes]:
    """The lines that changed between two texts, without context, and the same as patch text with libgit2's header.

    Texts, not blobs: no attribute and no setting of a repository has a say.
    """
    end = _common_end(before, after)
    if end:
        before, after = before[: len(before) - end], after[: len(after) - end]
    patch = pygit2.Patch.create_from(before, after, context_lines=0, interhunk_lines=0)
    hunks = tuple(Hunk(each.old_start, each.old_lines, each.new_start, each.new_lines) for each in patch.hunks)
    return hunks, patch.data


def _common_end(before: bytes, after: bytes) -> int:
    """How many bytes of a common end need not be compared again, at the end of a line.

    Source: git's xdiff-interface.c, `trim_common_tail`; where a change repeats its surroundings, this decides which
    lines count as changed.
    """
    trimmed, smaller = 0, min(len(before), len(after))
    first, second = len(before), len(after)
    while trimmed + _BLOCK <= smaller and before[first - _BLOCK : first] == after[second - _BLOCK : second]:
        trimmed, first, second = trimmed + _BLOCK, first - _BLOCK, second - _BLOCK
    line_end = before.find(b"\n", first, first + trimmed)
    return max(0, trimmed - (line_end + 1 - first)) if line_end >= 0 else 0


def is_binary(data: bytes) -> bool:
    """As git decides it: a NUL near the beginning."""
    return b"\0" in data[:8000]


def text_lines(data: bytes) -> list[str]:
    """Lines without their ends, `\\n` and `\\r\\n` alike."""
    rows = data.split(b"\n")
    if not rows[-1]:
        rows.pop()
    return list(map(_line, rows))


def _line(row: bytes) -> str:
    return row.removesuffix(b"\r").decode("utf-8", "replace")
