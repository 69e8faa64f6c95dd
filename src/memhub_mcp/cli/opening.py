"""The hub as a command sees it."""

import sys
from argparse import Namespace
from collections.abc import Generator
from contextlib import contextmanager

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.cli.settle import settle_later
from memhub_mcp.domain.scope import Caller
from memhub_mcp.service.hub import Hub
from memhub_mcp.settings import Settings, load_settings

SOURCE = "cli"
"""The source of what is stored at the command line."""


def settings_from(args: Namespace) -> Settings:
    """The settings of this command, `--home` and `--workspace` first."""
    return load_settings(home=args.home, workspace=args.workspace)


def is_person(settings: Settings) -> bool:
    """Whether a person types here: at a terminal, and not an assistant in a shell of its own."""
    return sys.stdin is not None and sys.stdin.isatty() and not settings.in_assistant  # pyright: ignore[reportUnnecessaryComparison]


@contextmanager
def opened(args: Namespace) -> Generator[tuple[Hub, Caller]]:
    """The hub, and who asks: a person standing in the current directory."""
    settings = settings_from(args)
    hub = open_hub(settings)
    try:
        yield hub, Caller(source=SOURCE, is_person=is_person(settings), cwd=settings.cwd)
        behind = hub.maintenance.sessions_wait()
    finally:
        hub.close()
    if behind:
        settle_later(settings.home)
