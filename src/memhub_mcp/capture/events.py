"""Events out of the spool. Every field is checked: an entry may come from an older memhub, or from anyone."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeGuard, cast

from memhub_mcp.domain.revision import ChangeKind, EditEvent, Hunk

_TEXTS = frozenset(
    {"session", "tool_call", "turn", "cwd", "old_text", "new_text", "content_after", "hash_after", "old_path"}
    | {"said", "branch"}
)
_MOST = (1 << 31) - 1  # nothing that we count comes near; a store takes no larger one than twice as many bits


def edit_from_json(data: Mapping[str, object]) -> EditEvent:
    """The event that `records.edit_record` wrote.

    Raises:
        ValueError: a field is missing or of the wrong type.
    """
    if data.get("event") != "edit":
        raise ValueError(f"not an edit event: {data.get('event')!r}")
    ordinal = data.get("ordinal", 0)
    if not _is_count(ordinal):
        raise ValueError("ordinal is not a count")
    optional = {name: _text(data, name) for name in _TEXTS if data.get(name) is not None}
    return EditEvent(
        tool=_text(data, "tool"),
        path=_text(data, "path"),
        source=_text(data, "source"),
        session=optional.pop("session", None),
        tool_call=optional.pop("tool_call", None),
        time=_time(data),
        kind=ChangeKind(data.get("kind", ChangeKind.MODIFY)),
        hunks=_hunks(data.get("hunks", [])),
        ordinal=ordinal,
        everywhere=data.get("everywhere") is True,
        **optional,
    )


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """A session in `folder` is over, or is compacted and goes on: time to settle what it was about.

    `transcript` is the file that holds it, if there is one.
    """

    source: str
    session: str
    folder: str
    transcript: str | None


def is_session_end(data: Mapping[str, object]) -> bool:
    """Whether a spool entry tells of the end of a session, or of a compaction, which is treated as one."""
    return data.get("event") in ("session-end", "compact")


def session_end_from_json(data: Mapping[str, object]) -> SessionEnd:
    """The end of a session as the hook wrote it.

    Raises:
        ValueError: a field is missing or of the wrong type.
    """
    transcript = _text(data, "transcript") if data.get("transcript") is not None else None
    return SessionEnd(_text(data, "source"), _text(data, "session"), _text(data, "folder"), transcript)


def _text(data: Mapping[str, object], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is not a text")
    return value


def _time(data: Mapping[str, object]) -> datetime:
    time = datetime.fromisoformat(_text(data, "time"))
    if time.tzinfo is None:
        raise ValueError("time has no zone")
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("time is before the year 1 or after 9999") from error


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and 0 <= value <= _MOST


def _hunks(value: object) -> tuple[Hunk, ...]:
    if not isinstance(value, list):
        raise ValueError("hunks is not a list")
    return tuple(_hunk(item) for item in cast("list[object]", value))


def _hunk(value: object) -> Hunk:
    numbers = cast("list[object]", value) if isinstance(value, list) else []
    counts = [number for number in numbers if _is_count(number)]
    if len(numbers) != 4 or len(counts) != 4:
        raise ValueError("a hunk is not four counts")
    return Hunk(*counts)
