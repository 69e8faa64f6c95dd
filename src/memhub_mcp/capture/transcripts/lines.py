"""JSON lines, one at a time: a file of any size takes the memory of its longest line."""

import json
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from memhub_mcp.capture.transcripts.conversation import Tally

MAX_LINE_BYTES = 32 << 20
"""A longer line is counted as damaged and passed over."""

Fields = dict[str, Any]


def is_document(path: Path) -> bool:
    """Whether a file is one JSON object with messages in it rather than an object a line, whatever its name says."""
    with path.open("rb") as file:
        first = file.readline(MAX_LINE_BYTES + 1)
    found = parsed(first)
    return "messages" in found if isinstance(found, dict) else first.lstrip().startswith(b"{")


def json_lines(path: Path, tally: Tally) -> Iterator[Fields]:
    """The objects of a file, in order. What is no object is counted as damaged; blank lines are nothing."""
    return (fields for _, fields in placed_lines(path, tally))


def placed_lines(path: Path, tally: Tally) -> Iterator[tuple[int, Fields]]:
    """As `json_lines`, each with the place in the file where its line begins."""
    with path.open("rb") as file:
        place = file.tell()
        while line := file.readline(MAX_LINE_BYTES + 1):
            start, length = place, len(line)
            while length > MAX_LINE_BYTES and line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE_BYTES)
                length += len(line)
            place += length
            if length <= MAX_LINE_BYTES and not line.strip():
                continue
            tally.lines += 1
            found = parsed(line) if length <= MAX_LINE_BYTES else None
            if isinstance(found, dict):
                yield start, cast("Fields", found)
            else:
                tally.damaged += 1


def lines_at(path: Path, places: Iterable[int]) -> Iterator[Fields]:
    """The objects that `placed_lines` found at these places."""
    with path.open("rb") as file:
        for place in places:
            file.seek(place)
            yield fields_in(file.readline(MAX_LINE_BYTES + 1))


def parsed(text: bytes | str) -> object:
    """The JSON value of `text`, None when it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def fields_in(value: object) -> Fields:
    """`value` as an object; a JSON text is read; anything else is an empty one."""
    if isinstance(value, (str, bytes)):
        value = parsed(value)
    return cast("Fields", value) if isinstance(value, dict) else {}


def items_in(value: object) -> list[Fields]:
    """The objects of a list."""
    return (
        [cast("Fields", item) for item in cast("list[object]", value) if isinstance(item, dict)]
        if isinstance(value, list)
        else []
    )


def text_of(value: object, *types: str) -> str:
    """The text of a message: a text, a list of blocks of the given types, or a list of parts without a type."""
    if isinstance(value, str):
        return value
    blocks = items_in(value) if isinstance(value, list) else items_in([value])
    texts = [block.get("text") for block in blocks if block.get("type", "text") in (types or ("text",))]
    plain = [part for part in cast("list[object]", value) if isinstance(part, str)] if isinstance(value, list) else []
    return "\n".join([*plain, *(text for text in texts if isinstance(text, str))])


def string_in(fields: Fields, *names: str) -> str | None:
    """The first of `names` that holds a text that is not empty."""
    return next((value for name in names if isinstance(value := fields.get(name), str) and value), None)


def changed_at(path: Path) -> datetime:
    """When the file was last written: the time of what carries none."""
    return datetime.fromtimestamp(os.stat(path).st_mtime, UTC)  # noqa: PTH116 - a Path has the same
