"""`memhub-mcp install HOST`"""

from argparse import Namespace
from pathlib import Path

from memhub_mcp.cli.command import own_command, settle
from memhub_mcp.cli.hosting import host_parser, make_changes, named_host, places_of
from memhub_mcp.cli.terminal import Page
from memhub_mcp.errors import InvalidInput
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
    done = [_install(page, host, args, settings, places, command) for host in hosts]
    return 0 if all(done) or args.dry_run else 1


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
    installations = Installations.read(settings.home)
    former = installations.find((host.name, scope, project))
    pieces = pieces_for(host, scope, places, command, settings.home)
    plan = plan_install(pieces, former.files if former else ())
    installation = Installation(
        host.name, scope, project, (*command, "serve", "--home", str(settings.home)), plan.files
    )
    if not plan.changes:
        page.line(f"{host.title}: already installed, nothing to change")
    elif not make_changes(page, plan.changes, args, settings.home / "backups" / "hosts"):
        return False
    else:
        page.line(f"{page.mark(f'{host.title}: installed', 'green')}; {host.after}")
        _warn_of_shared_files(page, scope, plan.changes[0].path)
    if not args.dry_run and installation != former:
        installations.with_one(installation).write()
    return True


def _warn_of_shared_files(page: Page, scope: InstallScope, file: Path) -> None:
    if scope is InstallScope.PROJECT:
        page.line(f"  {file.name} is usually committed, and names a path on this machine; --scope user keeps it to you")
