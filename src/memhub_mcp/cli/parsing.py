"""What the command-line parsers of the verbs have in common."""

import argparse
import os
from datetime import UTC, datetime
from pathlib import Path

from memhub_mcp.domain.memory import WRITABLE_KINDS
from memhub_mcp.domain.moments import read_phrase

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


def files_in(args: argparse.Namespace, cwd: Path) -> list[str]:
    """`--files` as a person means them. In another workspace they name files from its root."""
    return args.files if args.workspace else [place(path, cwd) for path in args.files]


def place(path: str, cwd: Path) -> str:
    """A path as a person means it: what exists is named from where they stand, the rest from the repository's root."""
    if not (cwd / path).exists():
        return path
    return os.fsencode(cwd / path).decode("utf-8", "backslashreplace")


def moment(text: str) -> datetime:
    """A date, a date with time, a phrase such as `last week`, or an age such as `3d`, `2w`, `6m`."""
    found = read_phrase(text, datetime.now(UTC))
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a date (2026-01-31) nor an age (3d, 2w, 6m, last week)")
    return found


def positive(text: str) -> int:
    """A whole number above zero."""
    if not text.isascii() or not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)
