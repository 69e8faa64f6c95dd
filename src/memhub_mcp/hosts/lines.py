"""Lines of a text: where a character stands, and how lines end."""

import re


def line_end(text: str) -> str:
    """How lines end in `text`: as the first one does, else a newline."""
    first = re.search(r"\r?\n", text)
    return first[0] if first else "\n"


def position_of(text: str, offset: int) -> str:
    """`line 3, column 14` of a character, both from 1."""
    line_start = text.rfind("\n", 0, offset) + 1
    return f"line {text.count(chr(10), 0, offset) + 1}, column {offset - line_start + 1}"


def without_blank_line(text: str, start: int, end: int) -> str:
    """`text` without the lines from `start` to `end` and the blank line that set them off."""
    if end == len(text):
        # It ends the file without a line end, as the text before it did.
        return _without_line_end(_without_line_end(text[:start]))
    end += len(_line_end_at(text, end))
    before = text[:start]
    shorter = _without_line_end(before)
    return (shorter if not shorter or shorter.endswith("\n") else before) + text[end:]


def _line_end_at(text: str, position: int) -> str:
    return next((ending for ending in ("\r\n", "\n") if text.startswith(ending, position)), "")


def _without_line_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r")
