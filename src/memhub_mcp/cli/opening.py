"""The hub as a command sees it."""

from argparse import Namespace
from collections.abc import Generator
from contextlib import contextmanager

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.domain.scope import Caller
from memhub_mcp.service.hub import Hub
from memhub_mcp.settings import Settings, load_settings

SOURCE = "cli"
"""The source of what a person stores at the terminal."""


def settings_from(args: Namespace) -> Settings:
    """The settings of this command, `--home` and `--workspace` first."""
    return load_settings(home=args.home, workspace=args.workspace)


@contextmanager
def opened(args: Namespace) -> Generator[tuple[Hub, Caller]]:
    """The hub, and who asks: a person standing in the current directory."""
    settings = settings_from(args)
    hub = open_hub(settings)
    try:
        yield hub, Caller(source=SOURCE, cwd=settings.cwd)
    finally:
        hub.close()
