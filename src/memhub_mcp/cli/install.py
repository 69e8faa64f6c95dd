"""`memhub-mcp install HOST`"""

from argparse import Namespace
from functools import partial
from pathlib import Path

from memhub_mcp.cli.command import own_command, settle
from memhub_mcp.cli.hosting import (
    each_of_many,
    host_parser,
    make_changes,
    named_host,
    one_at_a_time,
    places_of,
    wanted,
)
from memhub_mcp.cli.terminal import Page
from memhub_mcp.errors import InvalidInput, MemhubError
from memhub_mcp.hosts.install import plan_install
from memhub_mcp.hosts.installed import Installation, Installations
from memhub_mcp.hosts.pieces import pieces_for
from memhub_mcp.hosts.places import HostPlaces
from memhub_mcp.hosts.records import Host, InstallScope
from memhub_mcp.settings import Settings, load_settings


def run(words: list[str]) -> int:
    """Registers the server and the hooks in an assistant's configuration, after showing the change."""
    parser = host_parser("install", "Give the memory to an assistant: its server, its hooks. Shows the change first.")
    args = parser.parse_args(words)
    settings = load_settings(home=args.home)
    places = places_of(args, settings)
    hosts = _hosts(args, places)
    page = Page(plain=settings.plain)
    command = settle(own_command(), yes=args.yes, dry_run=args.dry_run)
    with one_at_a_time(args, settings.home):
        done = [
            each_of_many(args, host.title, partial(_install, page, host, args, settings, places, command))
            for host in hosts
        ]
    return 0 if all(done) else 1


def _hosts(args: Namespace, places: HostPlaces) -> list[Host]:
    if args.host:
        return [named_host(args.host)]
    if not args.all:
        raise InvalidInput("name an assistant, or say --all for every one found on this machine")
    found = [host for host in places.found() if args.scope in host.servers]
    if not found:
        raise InvalidInput("no assistant was found on this machine; name one to install for it all the same")
    return found


def _install(
    page: Page, host: Host, args: Namespace, settings: Settings, places: HostPlaces, command: tuple[str, ...]
) -> bool:
    scope = InstallScope(args.scope)
    project = None if scope is InstallScope.USER else places.project
    record = Installations.read(settings.home)
    former = record.find((host.name, scope, project))
    pieces = pieces_for(host, scope, places, command, settings.home)
    plan = plan_install(pieces, former.files if former else (), record.files_of_others((host.name, scope, project)))
    new = Installation(host.name, scope, project, (*command, "serve", "--home", str(settings.home)), plan.files)
    if not plan.changes:
        page.line(f"{host.title}: already installed, nothing to change")
        if new != former and not args.dry_run:
            record.with_one(new).write()
        return True
    if not wanted(page, plan.changes, args):
        return bool(args.dry_run)
    record.with_one(new).write()  # first: whatever interrupts the change, `uninstall` knows what to look for
    try:
        make_changes(page, plan.changes, settings.home)
    except MemhubError:
        record.write()
        raise
    page.line(f"{page.mark(f'{host.title}: installed', 'green')}; {host.after}")
    _warn_of_shared_files(page, scope, plan.changes[0].path)
    return True


def _warn_of_shared_files(page: Page, scope: InstallScope, file: Path) -> None:
    if scope is InstallScope.PROJECT:
        page.line(f"  {file.name} is usually committed, and names a path on this machine; --scope user keeps it to you")
