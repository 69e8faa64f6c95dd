"""What the command-line parsers of the verbs have in common."""

import argparse
import re
from datetime import UTC, datetime, timedelta

from memhub_mcp.domain.memory import WRITABLE_KINDS

_AGE = re.compile(r"(\d{1,5})\s*([hdwmy])")
_AGE_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}

KINDS = sorted(WRITABLE_KINDS)


def verb_parser(verb: str, description: str, *, as_json: bool = False) -> argparse.ArgumentParser:
    """A parser that knows `--home`, `--workspace` and, for readers, `--json`."""
    parser = argparse.ArgumentParser(prog=f"memhub-mcp {verb}", description=description, allow_abbrev=False)
    parser.add_argument("--home", metavar="DIR", help="where memories are kept")
    parser.add_argument("--workspace", metavar="PATH|NAME", help="act on this repository instead of the current one")
    if as_json:
        parser.add_argument("--json", action="store_true", help="print the reply as one line of JSON")
    return parser


def names(text: str) -> list[str]:
    """Values separated by commas, for options that take several."""
    return [name for part in text.split(",") if (name := part.strip())]


def moment(text: str) -> datetime:
    """A date, a date with time, or an age such as `3d`, `2w`, `6m`."""
    age = _AGE.fullmatch(text.strip().lower())
    if age:
        return datetime.now(UTC) - timedelta(hours=int(age[1]) * _AGE_HOURS[age[2]])
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a date (2026-01-31) nor an age (3d, 2w, 6m)") from None
    return found.astimezone(UTC)


def positive(text: str) -> int:
    """A whole number above zero."""
    if not text.isascii() or not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)
