"""Moments as people write them: a date, a date with time, or how long ago."""

import re
from datetime import UTC, datetime, time, timedelta

_UNITS = {"minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800, "month": 2_629_800, "year": 31_557_600}
_SHORT = {"min": "minute", "h": "hour", "d": "day", "w": "week", "m": "month", "y": "year"}
_AGO = re.compile(r"(?:the )?(?:(last|past) )?(\d{1,6}|an?|one)?\s*([a-z]+?)s?(?: (ago))?")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LONGEST = timedelta(days=365 * 200)


def read_phrase(text: str, now: datetime) -> datetime | None:
    """The moment that `text` means at `now`, UTC; None when it means none.

    ISO 8601 dates and times; `now`, `today`, `yesterday` (their beginning); `last week`, `last tuesday`, `past month`;
    `2 days ago`, `3d`, `2w`. A date without a zone is UTC.
    """
    plain = " ".join(text.strip().lower().split())
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except ValueError:
        return _named(plain, now)
    except OverflowError:
        return None


def _named(plain: str, now: datetime) -> datetime | None:
    midnight = datetime.combine(now.astimezone(UTC).date(), time(), UTC)
    if plain == "now":
        return now
    if plain in ("today", "yesterday"):
        return midnight - timedelta(days=plain == "yesterday")
    day = plain.removeprefix("last ")
    if day in _DAYS:
        return midnight - timedelta(days=(midnight.weekday() - _DAYS.index(day) - 1) % 7 + 1)
    match = _AGO.fullmatch(plain)
    if match is None:
        return None
    last, number, unit, ago = match.groups()
    name = _SHORT.get(unit, unit)
    if name not in _UNITS or (number is None and last is None) or (last and ago):
        return None
    many = int(number) if number and number.isdigit() else 1
    back = timedelta(seconds=many * _UNITS[name])
    return now - back if back < _LONGEST else None
