"""Text for people: as wide as their terminal, coloured only on one, and never able to control it."""

import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

# Stored text may come from anyone: no escape sequence and no reordering of what a person reads.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_MARKS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_MARKED = re.compile(r"\x1b\[\d+m")
_WIDEST = 100


class Page:
    """Writes lines and wrapped paragraphs to a stream."""

    def __init__(self, stream: TextIO | None = None, *, plain: bool = False) -> None:
        self._stream = stream or sys.stdout
        on_terminal = self._stream.isatty()
        self._coloured = on_terminal and not plain
        self._columns = min(shutil.get_terminal_size().columns, _WIDEST) if on_terminal else _WIDEST

    def mark(self, text: str, how: str) -> str:
        """`text`, coloured when this page is. Lines handed to `line` keep such marks."""
        return f"\x1b[{_MARKS[how]}m{text}\x1b[0m" if self._coloured else text

    def line(self, text: str = "") -> None:
        """One line as it is; the caller cleaned what came from elsewhere."""
        print(text, file=self._stream)

    def paragraph(self, text: str, *, indent: int = 0, how: str | None = None) -> None:
        """`text` cleaned and wrapped, each of its own lines apart."""
        for own_line in clean(text).split("\n"):
            for piece in wrap(own_line, self._columns - indent):
                self.line(" " * indent + (self.mark(piece, how) if how else piece))

    def item(self, label: str, text: str, *, width: int) -> None:
        """`text` cleaned and wrapped beside a label that takes `width` cells, marks not counted."""
        first, *others = wrap(clean(text), self._columns - width) or [""]
        self.line(f"{label}{' ' * (width - len(_MARKED.sub('', label)))}{first}")
        for piece in others:
            self.line(" " * width + piece)

    def pairs(self, rows: Mapping[str, str]) -> None:
        """Names and values in two columns."""
        widest = max(map(len, rows), default=0)
        for name, value in rows.items():
            self.item(self.mark(name, "dim"), value, width=widest + 2)


def print_json(reply: Mapping[str, Any]) -> None:
    """The reply as tools give it, on one line."""
    print(json.dumps(reply, ensure_ascii=False, separators=(",", ":")))


def clean(text: str) -> str:
    """`text` with every control and reordering character made visible."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n"))


def wrap(text: str, columns: int) -> list[str]:
    """`text` in lines of at most `columns` cells, broken at spaces where there are any."""
    lines: list[str] = []
    line, cells = "", 0
    for word in re.findall(r"\s*\S+", text):
        if cells and cells + _cells(word) > columns:
            lines.append(line)
            word, line, cells = word.lstrip(), "", 0
        for character in word:
            if cells + _cells(character) > columns and cells:
                lines.append(line)
                line, cells = "", 0
            line += character
            cells += _cells(character)
    return [*lines, line]


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def ago(at: str, now: datetime | None = None) -> str:
    """How long ago an ISO moment was, in the largest unit that fits."""
    seconds = ((now or datetime.now(UTC)) - datetime.fromisoformat(at)).total_seconds()
    for unit, length in (("year", 31_536_000), ("month", 2_592_000), ("day", 86_400), ("hour", 3_600), ("minute", 60)):
        count = int(seconds // length)
        if count >= 1:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def local_time(at: str) -> str:
    """An ISO moment as the clock on the wall shows it."""
    return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M}"


def count_of(number: int, noun: str) -> str:
    """`1 memory`, `2 memories`, `1,204 commits`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"


def size_of(size_bytes: int) -> str:
    """`12 kB`, `3.4 MB`."""
    for unit, length in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= length:
            return f"{size_bytes / length:.{1 if size_bytes < 10 * length else 0}f} {unit}"
    return f"{size_bytes} bytes"
