"""Where edits were: told by the file afterwards, else by their text in the versions that are known around them.

Many transcripts tell of an edit only what it replaced and by what. Its place is where the replaced text stands in the
file as the edits before it left it, or the replacing text in the file as it is later, with the edits after it undone.
A text that stands there twice, or not at all, places nothing. All texts here have `\\n` at the ends of their lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memhub_mcp.capture.changes import split_lines
from memhub_mcp.domain.revision import ChangeKind, Edit, EditEvent, Hunk
from memhub_mcp.repo.contents import difference

Piece = tuple[Hunk, str, str]
"""A hunk with the lines it took away and the lines it put there."""

_Place = tuple[int, int, str]
"""From where to where a text is replaced, and by what."""

_TELLING = 12  # letters and digits that a text has at least which is found though nobody says that it stood there once


@dataclass(frozen=True, slots=True)
class PlacedEdit:
    """An edit with its file afterwards, and what it changed there. `is_told` when the report itself says so."""

    edit: Edit
    after: str
    pieces: tuple[Piece, ...]
    is_told: bool


@dataclass(frozen=True, slots=True)
class _Replacement:
    """`old` became `new`: `whole_lines`, if told at `line` (from 0) before and at `new_line` afterwards."""

    old: str
    new: str
    whole_lines: bool = False
    line: int | None = None
    new_line: int | None = None
    everywhere: bool = False

    def undone(self) -> "_Replacement":
        return _Replacement(self.new, self.old, self.whole_lines, self.new_line, self.line)

    @property
    def tells(self) -> int:
        """How many letters and digits there are to recognise the old text by."""
        return sum(map(str.isalnum, self.old))


def place_edits(edits: Sequence[tuple[Edit, str | None]], before: str | None, after: str | None) -> list[PlacedEdit]:
    """Those of `edits` (oldest first, each with the file it left) whose place is certain, in their order.

    `before` and `after` are the file before and after all of them. Any file is None when it is not known.
    """
    placed = _forward(edits, before)
    _backward([edit for edit, _ in edits], after, placed)
    return [placed[edit.id] for edit, _ in edits if edit.id in placed]


def _forward(edits: Sequence[tuple[Edit, str | None]], before: str | None) -> dict[str, PlacedEdit]:
    """Each edit in what the one before it left, else in `before`."""
    placed: dict[str, PlacedEdit] = {}
    state = before
    for edit, content in edits:
        if edit.event.kind is ChangeKind.DELETE:
            state = None
            continue
        if content is not None:
            told = plain(content)
            pieces = _told_pieces(edit.event, told, state)
            if pieces:
                placed[edit.id] = PlacedEdit(edit, told, pieces, is_told=True)
            state = told
            continue
        replacements = _replacements(edit.event)
        for text in (state, before):
            result = None if text is None else _apply(text, replacements)
            if text is not None and result is not None:
                placed[edit.id] = PlacedEdit(edit, result, _pieces_between(text, result), is_told=False)
                state = result if text is state else state
                break
    return placed


def _backward(edits: Sequence[Edit], after: str | None, placed: dict[str, PlacedEdit]) -> None:
    """Adds the edits whose result stands in `after`, each with those after it undone as far as they stand there."""
    if after is None or all(edit.id in placed for edit in edits):
        return
    for edit in reversed(edits):
        replacements = _undone(edit.event)
        # What a tool replaced stood there once; of what it wrote nobody said so.
        if any(each.tells < _TELLING for each in replacements) and edit.id not in placed:
            continue
        origin = _apply(after, replacements)
        if origin is None:
            continue
        if edit.id not in placed:
            placed[edit.id] = PlacedEdit(edit, after, _pieces_between(origin, after), is_told=False)
        after = origin


def _told_pieces(event: EditEvent, content: str, state: str | None) -> tuple[Piece, ...]:
    """What an edit changed that left `content`."""
    if event.is_placed:
        return tuple((hunk, plain(old), plain(new)) for hunk, old, new in event.pieces())
    origin = _apply(content, _undone(event)) if event.old_text else None
    if origin is not None:
        return _pieces_between(origin, content)
    if event.old_text is None and state is not None and event.kind is not ChangeKind.ADD:
        return _pieces_between(state, content)
    whole = event.old_text is None or event.kind is ChangeKind.ADD
    return _pieces_between("", content) if whole else ()


def _replacements(event: EditEvent) -> list[_Replacement]:
    """What the edit replaced, in an order in which each can be looked for; none when its texts were not kept."""
    if event.old_text is None or event.new_text is None:
        return []
    if event.is_placed:  # the last first: the lines above keep their numbers
        return [
            _Replacement(
                plain(old),
                plain(new),
                True,
                _index(hunk.old_start, hunk.old_lines),
                _index(hunk.new_start, hunk.new_lines),
            )
            for hunk, old, new in reversed(event.pieces())
        ]
    return [_Replacement(plain(old), plain(new), everywhere=event.everywhere) for old, new in event.replacements()]


def _undone(event: EditEvent) -> list[_Replacement]:
    """What takes the edit back. None when it replaced at every place: some may have held the new text before."""
    return [] if event.everywhere else [each.undone() for each in reversed(_replacements(event))]


def _apply(text: str, replacements: Sequence[_Replacement]) -> str | None:
    """`text` with all replacements made; None when there are none, or one has no certain place."""
    if not replacements:
        return None
    for each in replacements:
        if each.everywhere and each.tells and each.old in text:
            text = text.replace(each.old, each.new)
            continue
        place = _find(text, each)
        if place is None:
            return None
        start, end, new = place
        text = text[:start] + new + text[end:]
    return text


def _find(text: str, wanted: _Replacement) -> _Place | None:
    """Where the old text stands and what comes there; None when that is nowhere, or at several places alike."""
    old, new = wanted.old, wanted.new
    if not wanted.tells:
        return None  # a brace alone tells nothing, wherever it stands
    if wanted.whole_lines:
        old = old.removesuffix("\n")
        # The line end before the first line stands in the haystack where that line begins in the text.
        first, several = _search(f"\n{text}\n", f"\n{old}\n")
    else:
        first, several = _search(text, old)
    if first is None:
        return _find_indented(text, wanted)
    if several:
        first = _line_start(text, wanted.line, old) if wanted.line is not None else None
    return None if first is None else (first, first + len(old), new)


def _search(text: str, wanted: str) -> tuple[int | None, bool]:
    """Where `wanted` stands first, and whether it stands elsewhere as well."""
    first = text.find(wanted)
    return (None, False) if first < 0 else (first, text.find(wanted, first + 1) >= 0)


def _line_start(text: str, line: int, old: str) -> int | None:
    """Where the line of this number begins, when `old` stands there."""
    start = sum(map(len, split_lines(text)[:line]))
    return start if text.startswith(old, start) else None


def _find_indented(text: str, wanted: _Replacement) -> _Place | None:
    """As `_find` for whole lines, the spaces around each aside: a formatter may have moved them."""
    old, new = wanted.old, wanted.new
    if old.endswith("\n") != new.endswith("\n") and old and new:
        return None
    rows = [row.strip() for row in old.removesuffix("\n").split("\n")]
    if rows[0] not in text:
        return None
    lines = split_lines(text)
    joined = "\n".join(["", *(line.strip() for line in lines), ""])
    first, several = _search(joined, "\n".join(["", *rows, ""]))
    if first is None or several:
        return None
    line = joined.count("\n", 0, first)
    start = sum(map(len, lines[:line]))
    end = start + sum(map(len, lines[line : line + len(rows)]))
    return start, end, new if not new or new.endswith("\n") else f"{new}\n"


def _pieces_between(before: str, after: str) -> tuple[Piece, ...]:
    """What changed from one text to the other."""
    hunks = difference(before.encode("utf-8", "replace"), after.encode("utf-8", "replace")) or ()
    old, new = split_lines(before), split_lines(after)
    return tuple(
        (
            hunk,
            "".join(old[hunk.old_start - 1 : hunk.old_start - 1 + hunk.old_lines] if hunk.old_lines else ()),
            "".join(new[hunk.new_start - 1 : hunk.new_start - 1 + hunk.new_lines] if hunk.new_lines else ()),
        )
        for hunk in hunks
    )


def _index(start: int, lines: int) -> int:
    """The first line of a hunk's side, counted from 0."""
    return start - 1 if lines else start


def plain(text: str) -> str:
    """`text` with `\n` alone at the ends of its lines."""
    return text.replace("\r\n", "\n")
