"""Asking the person before something is changed."""

import sys

from memhub_mcp.errors import InvalidInput


def agreed(question: str, *, yes: bool) -> bool:
    """Whether to go on. Without a person to ask, only `--yes` says so.

    Raises:
        InvalidInput: nobody can be asked.
    """
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidInput("nothing was changed: add --yes to do it, or --dry-run to only look")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
