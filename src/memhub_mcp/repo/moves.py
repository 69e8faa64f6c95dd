"""Blocks that changed their place: found among the lines that the same commit took away."""

from collections.abc import Sequence
from typing import Protocol

from memhub_mcp.domain.revision import FileChange, Hunk, Span, Spans
from memhub_mcp.repo.lineage import Origin
from memhub_mcp.repo.spans import hull

_ENOUGH = 0.75  # of the lines that say something must be found again, in their order
_MIN_LINES = 3  # fewer are found by chance
_MAX_LINES = 2_000
_MAX_FILES = 200


class Texts(Protocol):
    """Contents by blob id."""

    def lines(self, blob: str) -> list[str] | None:
        """The text of a blob, line by line; None for what has no lines."""
        ...

    def hunks(self, before: str | None, after: str | None) -> tuple[Hunk, ...] | None:
        """The lines that changed between two blobs."""
        ...


def find_origin(texts: Texts, changes: Sequence[FileChange], path: str, blob: str, spans: Spans) -> Origin | None:
    """The place from which the lines `spans` of `blob` were moved: by the changes of one commit to its first parent.

    The same file is looked at first. Indentation and blank lines do not count.
    """
    first, last = hull(spans)
    after = texts.lines(blob)
    block = [line.strip() for line in (after or [])[first : min(last, first + _MAX_LINES)]]
    telling = [line for line in block if _tells(line)]
    if len(telling) < _MIN_LINES:
        return None
    candidates = [change for change in changes if change.parent == 0 and change.blob_before and not change.binary]
    candidates.sort(key=lambda change: path not in (change.path, change.old_path))
    for change in candidates[:_MAX_FILES]:
        if change.blob_before is None or not (span := _search(texts, change.blob_before, change, block, telling)):
            continue
        return Origin(path=change.old_path or change.path, blob=change.blob_before, spans=(span,))
    return None


def _search(texts: Texts, before: str, change: FileChange, block: list[str], telling: list[str]) -> Span | None:
    hunks = change.hunks or texts.hunks(before, change.blob_after) or ()
    if sum(hunk.old_lines for hunk in hunks) < _ENOUGH * len(telling):
        return None
    text = texts.lines(before)
    for hunk in hunks if text else ():
        start = hunk.old_start - 1
        removed = [line.strip() for line in (text or [])[start : start + hunk.old_lines]]
        matched = _in_order(telling, removed)
        if len(matched) >= _ENOUGH * len(telling):
            return start + matched[0], start + _end(block, removed, matched[-1])
    return None


def _in_order(telling: list[str], lines: list[str]) -> list[int]:
    """Positions in `lines` at which `telling` can be read off in order, near each other."""
    places: dict[str, list[int]] = {}
    for position, line in enumerate(lines):
        places.setdefault(line, []).append(position)
    best: list[int] = []
    for first in places.get(telling[0], [])[:20] or [0]:
        matched, position = list[int](), first - 1
        for line in telling:
            later = next((place for place in places.get(line, ()) if place > position), None)
            if later is not None and later - position <= len(telling):
                matched.append(later)
                position = later
        if len(matched) > len(best):
            best = matched
    return best


def _end(block: list[str], lines: list[str], last: int) -> int:
    """One past the last line: closing brackets that follow in both belong to the block."""
    end = last + 1
    telling = [number for number, line in enumerate(block) if _tells(line)]
    for line in block[telling[-1] + 1 :]:
        if end < len(lines) and line and lines[end] == line:
            end += 1
    return end


def _tells(line: str) -> bool:
    return any(map(str.isalnum, line))
