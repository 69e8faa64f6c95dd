"""The patch language of `apply_patch`: files added, deleted, moved and updated by context instead of line numbers.

Standard library only: the hook path imports this.
"""

import re
from collections.abc import Iterator, Sequence

from memhub_mcp.capture.changes import Change, change_between, change_unplaced, split_lines

BEGIN, END = "*** Begin Patch", "*** End Patch"

_HEADER = re.compile(r"\*\*\* (Add|Delete|Update) File: (.{1,4096})$")
_MOVE = "*** Move to: "
_AT_END = "*** End of File"
_CALL = re.compile(r"\bapply_?patch\b")


class Chunk:
    """One place of an update: where to look first, the lines it expects, the lines it leaves."""

    __slots__ = ("after", "at_end", "before", "context")

    def __init__(self, context: str | None) -> None:
        self.context = context
        self.before: list[str] = []
        self.after: list[str] = []
        self.at_end = False

    def reversed(self) -> "Chunk":
        """The chunk that takes this one back."""
        back = Chunk(self.context)
        back.before, back.after, back.at_end = self.after, self.before, self.at_end
        return back


class FilePatch:
    """What a patch does to one file."""

    __slots__ = ("action", "chunks", "lines", "move_to", "path")

    def __init__(self, action: str, path: str) -> None:
        self.action = action
        self.path = path
        self.move_to: str | None = None
        self.lines: list[str] = []
        self.chunks: list[Chunk] = []


def patches_in(command: str) -> list[FilePatch]:
    """The files of every patch that a shell command, or the tool's own input, applies."""
    found: list[FilePatch] = []
    if not command.lstrip().startswith(BEGIN) and not _CALL.search(command):
        return found
    position = command.find(BEGIN)
    while position >= 0:
        end = command.find(END, position)
        found += _parse(command[position : end if end >= 0 else len(command)])
        position = command.find(BEGIN, end) if end >= 0 else -1
    return found


def change_of(patch: FilePatch, before: str | None, after: str | None) -> Change:
    """The change of one file, placed when the file before or afterwards is known."""
    if patch.action == "Add":
        change = change_between(patch.path, "", "".join(line + "\n" for line in patch.lines))
        change.kind, change.before = "add", None
        return change
    if patch.action == "Delete":
        if before is None:
            return Change(patch.path, kind="delete")
        change = change_between(patch.path, before, "")
        change.kind, change.after = "delete", None
        return change
    change = _placed(patch, before, after) or change_unplaced(
        patch.path, [("\n".join(chunk.before), "\n".join(chunk.after), False) for chunk in patch.chunks]
    )
    if patch.move_to is not None:
        change.kind, change.path, change.old_path = "rename", patch.move_to, patch.path
    return change


def _placed(patch: FilePatch, before: str | None, after: str | None) -> Change | None:
    if before is not None:
        result = _apply(before, patch.chunks)
        return None if result is None else change_between(patch.path, before, result)
    if after is not None:
        origin = _apply(after, [chunk.reversed() for chunk in patch.chunks])
        return None if origin is None else change_between(patch.path, origin, after)
    return None


def _parse(text: str) -> Iterator[FilePatch]:
    file: FilePatch | None = None
    for line in text.split("\n")[1:]:
        line = line.removesuffix("\r")
        header = _HEADER.match(line)
        if header is not None:
            if file is not None:
                yield file
            file = FilePatch(header[1], header[2].strip())
        elif file is None:
            continue
        elif file.action == "Add":
            if line.startswith("+"):
                file.lines.append(line[1:])
        elif line.startswith(_MOVE):
            file.move_to = line[len(_MOVE) :].strip()
        else:
            _read_update(file, line)
    if file is not None:
        yield file


def _read_update(file: FilePatch, line: str) -> None:
    if line.startswith("@@"):
        file.chunks.append(Chunk(line[2:].strip() or None))
        return
    if not file.chunks:
        file.chunks.append(Chunk(None))
    chunk = file.chunks[-1]
    if line == _AT_END:
        chunk.at_end = True
    elif line[:1] in ("-", " ", ""):
        chunk.before.append(line[1:])
        if line[:1] != "-":
            chunk.after.append(line[1:])
    elif line.startswith("+"):
        chunk.after.append(line[1:])


def _apply(text: str, chunks: Sequence[Chunk]) -> str | None:
    """`text` with the chunks applied one after another; None when one of them is not found."""
    lines = split_lines(text)
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    bare = [line.rstrip("\r\n") for line in lines]
    position = 0
    for chunk in chunks:
        if chunk.context is not None:
            found = _seek(bare, [chunk.context], position, False)
            position = position if found is None else found + 1
        expected, given = chunk.before, chunk.after
        if not expected:
            at = position if chunk.context is not None else len(bare)
        else:
            at = _seek(bare, expected, position, chunk.at_end)
            if at is None and not expected[-1]:
                # The blank line before the next header belongs to the patch, not to the file.
                expected, given = expected[:-1], given[:-1] if given and not given[-1] else given
                at = _seek(bare, expected, position, chunk.at_end)
            if at is None:
                return None
        bare[at : at + len(expected)] = given
        position = at + len(given)
    result = "".join(line + ending for line in bare)
    return result if not lines or lines[-1].endswith("\n") else result.removesuffix(ending)


def _seek(lines: list[str], wanted: list[str], start: int, at_end: bool) -> int | None:
    """Where `wanted` stands at or after `start`: exactly, else without the spaces at the ends of lines."""
    last = len(lines) - len(wanted)
    places = range(max(start, last), last + 1) if at_end and last >= start else range(start, last + 1)
    for prepare in (str, str.rstrip, str.strip):
        pattern = [prepare(line) for line in wanted]
        for place in places:
            if (
                prepare(lines[place]) == pattern[0]
                and [prepare(line) for line in lines[place : place + len(wanted)]] == pattern
            ):
                return place
    return None
