"""What `install` and `uninstall` share: which hosts, which scope, showing and making changes."""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from memhub_mcp.cli.asking import agreed
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.terminal import Page, clean
from memhub_mcp.errors import InvalidInput, MemhubError
from memhub_mcp.hosts.config_files import FileChange, apply_all
from memhub_mcp.hosts.places import HostPlaces
from memhub_mcp.hosts.records import HOSTS, Host, InstallScope, host_named
from memhub_mcp.models.lock import ProcessLock
from memhub_mcp.repo.identity import discover
from memhub_mcp.settings import Settings

_PATIENCE_S, _PAUSE_S = 10.0, 0.02


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
    return places_at(Path(args.workspace) if args.workspace else settings.project_dir or settings.cwd, settings)


def places_at(start: Path, settings: Settings) -> HostPlaces:
    """The same, seen from a folder."""
    found = discover(start, never=(settings.person_home,), person_home=settings.person_home)
    if found is None:
        return HostPlaces(settings.person_home, None, settings.host_folders)
    return HostPlaces(settings.person_home, found.root, settings.host_folders, checkout=found.layout.place)


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


def wanted(page: Page, changes: Sequence[FileChange], args: Namespace) -> bool:
    """Whether to make the changes: they are shown, and the person or `--yes` agrees."""
    show_changes(page, changes)
    if args.dry_run:
        page.line("nothing was changed (--dry-run)")
        return False
    if not agreed("Make these changes?", yes=args.yes):
        page.line("nothing was changed")
        return False
    return True


def make_changes(page: Page, changes: Sequence[FileChange], home: Path) -> None:
    """All changes are made, or none. The files as they were are kept in the data directory."""
    kept = apply_all(changes, home / "backups" / "hosts")
    if kept:
        page.line(page.mark(f"as it was before: {', '.join(clean(str(copy)) for copy in kept)}", "dim"))


@contextmanager
def one_at_a_time(args: Namespace, home: Path) -> Generator[None]:
    """No other `install` or `uninstall` of this data directory changes files or the record meanwhile.

    Raises:
        InvalidInput: another one takes too long.
    """
    if args.dry_run:
        yield
        return
    until = time.monotonic() + _PATIENCE_S
    while (lock := ProcessLock.try_acquire(home / "run" / "install.lock")) is None:
        if time.monotonic() > until:
            raise InvalidInput("another install or uninstall is going on; run this again when it is done")
        time.sleep(_PAUSE_S)
    try:
        yield
    finally:
        lock.release()


def each_of_many(args: Namespace, title: str, work: Callable[[], bool]) -> bool:
    """Whether the work was done. With `--all` a refusal is told, and the other hosts go on."""
    if not args.all:
        return work()
    try:
        return work()
    except MemhubError as error:
        sys.stdout.flush()
        print(f"memhub-mcp: {title}: {error}", file=sys.stderr)
        return False
