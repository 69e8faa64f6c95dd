"""`memhub-mcp uninstall HOST`"""

import shutil
from argparse import Namespace

from memhub_mcp.cli.asking import agreed
from memhub_mcp.cli.command import own_command
from memhub_mcp.cli.hosting import host_parser, make_changes, named_host, places_of
from memhub_mcp.cli.terminal import Page, clean
from memhub_mcp.errors import InvalidInput
from memhub_mcp.hosts.install import plan_uninstall, without_record
from memhub_mcp.hosts.installed import Installation, Installations
from memhub_mcp.hosts.pieces import pieces_for
from memhub_mcp.hosts.places import HostPlaces
from memhub_mcp.hosts.records import InstallScope, host_named
from memhub_mcp.settings import Settings, load_settings


def run(words: list[str]) -> int:
    """Takes memhub out of an assistant's configuration, which then is what it was before."""
    parser = host_parser("uninstall", "Take memhub out of an assistant's configuration. Shows the change first.")
    parser.add_argument("--purge-data", action="store_true", help="afterwards erase all that is remembered")
    args = parser.parse_args(words)
    settings = load_settings(home=args.home)
    page = Page(plain=settings.plain)
    if not (args.host or args.all or args.purge_data):
        raise InvalidInput("name an assistant, or say --all for every one memhub was installed into")
    done = [
        _uninstall(page, installation, args, settings)
        for installation in _installations(args, settings, places_of(args, settings))
    ]
    if all(done) and args.purge_data:
        return _purge(page, args, settings)
    return 0 if all(done) or args.dry_run else 1


def _installations(args: Namespace, settings: Settings, places: HostPlaces) -> list[Installation]:
    known = Installations.read(settings.home).known
    if args.all:
        return list(known)
    if not args.host:
        return []
    host, scope = named_host(args.host), InstallScope(args.scope)
    project = None if scope is InstallScope.USER else places.project
    found = [one for one in known if one.place == (host.name, scope, project)]
    if found:
        return found
    pieces = pieces_for(host, scope, places, own_command(), settings.home)
    return [Installation(host.name, scope, project, files=tuple(without_record(pieces)))]


def _uninstall(page: Page, installation: Installation, args: Namespace, settings: Settings) -> bool:
    host = host_named(installation.host)
    title = host.title if host else installation.host
    plan = plan_uninstall(installation.files)
    if not plan.changes:
        page.line(f"{title}: nothing of memhub is in its {installation.scope} configuration")
    elif not make_changes(page, plan.changes, args, settings.home / "backups" / "hosts"):
        return False
    else:
        page.line(page.mark(f"{title}: uninstalled", "green"))
    if not args.dry_run:
        Installations.read(settings.home).without(installation.place).write()
    return True


def _purge(page: Page, args: Namespace, settings: Settings) -> int:
    home = settings.home
    if not (home / "workspaces.db").is_file():
        raise InvalidInput(f"{home} is not a data directory of memhub; nothing was erased")
    left = Installations.read(home).known
    if left:
        names = ", ".join(one.host for one in left)
        raise InvalidInput(f"memhub is still installed into {names}; say --all, then --purge-data")
    page.line(f"everything in {clean(str(home))} would be erased" if args.dry_run else f"to erase: {clean(str(home))}")
    if args.dry_run or not agreed("Erase everything that is remembered, for good?", yes=args.yes):
        page.line("nothing was erased")
        return 0 if args.dry_run else 1
    shutil.rmtree(home)
    page.line("erased")
    return 0
