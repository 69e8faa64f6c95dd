"""What `install` and `uninstall` share: which hosts, which scope, showing and making changes."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from memhub_mcp.cli.asking import agreed
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.terminal import Page, clean
from memhub_mcp.errors import InvalidInput
from memhub_mcp.hosts.config_files import FileChange
from memhub_mcp.hosts.places import HostPlaces
from memhub_mcp.hosts.records import HOSTS, Host, InstallScope, host_named
from memhub_mcp.repo.identity import discover
from memhub_mcp.settings import Settings


def host_parser(verb: str, description: str) -> ArgumentParser:
    """The options both verbs take."""
    parser = verb_parser(verb, description)
    parser.add_argument("host", nargs="?", metavar="HOST", help=", ".join(host.name for host in HOSTS))
    parser.add_argument("--all", action="store_true", help="every assistant found on this machine")
    parser.add_argument("--scope", choices=list(InstallScope), default=InstallScope.USER, help="whose files (user)")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    return parser


def places_of(args: Namespace, settings: Settings) -> HostPlaces:
    """Where hosts keep their files, and the repository for the scopes that need one."""
    start = Path(args.workspace) if args.workspace else settings.project_dir or settings.cwd
    repository = discover(start, never=(settings.person_home,), person_home=settings.person_home)
    return HostPlaces(settings.person_home, repository.root if repository else None, settings.host_folders)


def named_host(name: str) -> Host:
    """The host a person named.

    Raises:
        InvalidInput: there is none of that name.
    """
    host = host_named(name)
    if host is None:
        raise InvalidInput(f"no assistant is called {name!r}; known: {', '.join(host.name for host in HOSTS)}")
    return host


def show_changes(page: Page, changes: Sequence[FileChange]) -> None:
    """The changes as a person reviews them, coloured as diffs are."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for change in changes:
        if change.after is None:
            page.line(page.mark(f"{clean(str(change.path))} is removed again", "bold"))
            continue
        for line in change.diff().splitlines():
            how = "bold" if line.startswith(("+++", "---")) else colours.get(line[:1])
            page.line(page.mark(clean(line), how) if how else clean(line))


def make_changes(page: Page, changes: Sequence[FileChange], args: Namespace, backups: Path) -> bool:
    """Whether the changes were shown, agreed to and made. The files as they were are kept in `backups`."""
    show_changes(page, changes)
    if args.dry_run:
        page.line("nothing was changed (--dry-run)")
        return False
    if not agreed("Make these changes?", yes=args.yes):
        page.line("nothing was changed")
        return False
    kept = [change.apply(backups) for change in changes]
    if any(kept):
        page.line(page.mark(f"the files as they were are kept in {clean(str(backups))}", "dim"))
    return True
