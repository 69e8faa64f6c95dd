"""How Python values stand in a row: times, lists, paths."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970, UTC."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The moment, timezone-aware, UTC. ValueError when it lies outside the years 1 to 9999."""
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError as error:
        raise ValueError(f"{micros} is no time") from error


def maybe_micros(moment: datetime | None) -> int | None:
    """As `to_micros`, None stays None."""
    return None if moment is None else to_micros(moment)


def maybe_moment(micros: int | None) -> datetime | None:
    """As `from_micros`, None stays None."""
    return None if micros is None else from_micros(micros)


def to_json(values: Iterable[Any]) -> str:
    """A JSON array, compact, readable without escapes."""
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))


def texts(column: str) -> tuple[str, ...]:
    """The strings of a JSON array column. ValueError when it holds anything else."""
    found = json.loads(column)
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ValueError(f"not a list of texts: {column[:80]!r}")
    return tuple(found)


def storable(text: str) -> str:
    r"""`text` with undecodable path bytes written as `\xNN` and other lone surrogates as `\uNNNN`."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


def folder_path(path: str) -> str:
    """`path` as it is stored and compared: no `./` in front, no slash at the end."""
    cleaned = storable(path)
    while cleaned.startswith("./"):
        cleaned = cleaned[2:].lstrip("/")
    return cleaned.rstrip("/")


def marks(number: int) -> str:
    """`?, ?, ?`: so many places for parameters."""
    return ", ".join("?" * number)
