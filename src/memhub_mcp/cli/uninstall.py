"""`memhub-mcp uninstall HOST`"""

import shutil
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from memhub_mcp.cli.asking import agreed
from memhub_mcp.cli.command import own_command
from memhub_mcp.cli.hosting import (
    each_of_many,
    host_parser,
    make_changes,
    named_host,
    one_at_a_time,
    places_of,
    wanted,
)
from memhub_mcp.cli.terminal import Page, clean
from memhub_mcp.errors import ConfigError, InvalidInput
from memhub_mcp.hosts.asking import is_served
from memhub_mcp.hosts.codex_trust import with_trust
from memhub_mcp.hosts.install import plan_uninstall, without_record
from memhub_mcp.hosts.installed import Installation, Installations
from memhub_mcp.hosts.pieces import pieces_for
from memhub_mcp.hosts.places import HostPlaces
from memhub_mcp.hosts.records import HOSTS, Host, InstallScope, host_named
from memhub_mcp.service.home import is_data_directory
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
    if args.purge_data and settings.home.exists() and not is_data_directory(settings.home):
        raise InvalidInput(f"{settings.home} is not a data directory of memhub; nothing was erased")
    with one_at_a_time(args, settings.home):
        work = _work(page, args, settings, places_of(args, settings))
        done = [each_of_many(args, title, step) for title, step in work]
    if all(done) and args.purge_data:
        return _purge(page, args, settings)
    return 0 if all(done) else 1


def _work(
    page: Page, args: Namespace, settings: Settings, places: HostPlaces
) -> Iterator[tuple[str, Callable[[], bool]]]:
    """What there is to undo, each with the name of its host."""
    known = Installations.read(settings.home).known
    if args.all:
        if not known:
            page.line("no installation is recorded")
        for one in known:
            yield _title(one), partial(_uninstall, page, one, args, settings, places)
        recorded = {one.place for one in known}
        for host, scope in _everywhere(places):
            if (host.name, scope, _project(scope, places)) not in recorded:
                yield host.title, partial(_uninstall_unrecorded, page, host, scope, args, settings, places)
    elif args.host:
        host, scope = named_host(args.host), InstallScope(args.scope)
        found = next((one for one in known if one.place == (host.name, scope, _project(scope, places))), None)
        yield (
            host.title,
            lambda: _uninstall(page, found or _as_found(host, scope, settings, places), args, settings, places),
        )


def _everywhere(places: HostPlaces) -> Iterator[tuple[Host, InstallScope]]:
    for host in HOSTS:
        yield from ((host, scope) for scope in host.servers if scope is InstallScope.USER or places.project)


def _project(scope: InstallScope, places: HostPlaces) -> Path | None:
    return None if scope is InstallScope.USER else places.project


def _uninstall_unrecorded(
    page: Page, host: Host, scope: InstallScope, args: Namespace, settings: Settings, places: HostPlaces
) -> bool:
    """Takes out what an installation left whose record is lost, or what the person wrote by hand."""
    found = _as_found(host, scope, settings, places)
    return _uninstall(page, found, args, settings, places) if found.files else True


def _as_found(host: Host, scope: InstallScope, settings: Settings, places: HostPlaces) -> Installation:
    pieces = pieces_for(host, scope, places, own_command(), settings.home)
    return Installation(host.name, scope, _project(scope, places), files=tuple(without_record(pieces)))


def _uninstall(page: Page, installation: Installation, args: Namespace, settings: Settings, places: HostPlaces) -> bool:
    record = Installations.read(settings.home)
    config = places.path("CODEX/config.toml") if installation.host == "codex" else None
    files = with_trust(installation.files, config) if config else installation.files
    plan = plan_uninstall(files, record.files_of_others(installation.place))
    if not plan.changes:
        page.line(f"{_title(installation)}: nothing of memhub is in its {installation.scope} configuration")
        _tell_of_other_scopes(page, installation, record)
    else:
        if not wanted(page, plan.changes, args):
            return bool(args.dry_run)
        make_changes(page, plan.changes, settings.home)
        page.line(page.mark(f"{_title(installation)}: uninstalled", "green"))
    if not args.dry_run and record.find(installation.place):
        record.without(installation.place).write()
    return True


def _tell_of_other_scopes(page: Page, installation: Installation, record: Installations) -> None:
    for other in record.known:
        if other.host == installation.host and other.place != installation.place:
            where = f" of {clean(str(other.project))}" if other.project else ""
            page.line(f"  it is in the {other.scope} configuration{where}: --scope {other.scope}")


def _title(installation: Installation) -> str:
    host = host_named(installation.host)
    return host.title if host else installation.host


def _purge(page: Page, args: Namespace, settings: Settings) -> int:
    home = settings.home
    left = [] if args.dry_run and args.all else Installations.read(home).known
    if left:
        names = ", ".join(one.host for one in left)
        raise InvalidInput(f"memhub is still installed into {names}; say --all, then --purge-data")
    if is_served(str(home)) and not args.dry_run:
        raise InvalidInput("an assistant still has memhub running; close it, then run this again to erase the data")
    page.line(f"everything in {clean(str(home))} would be erased" if args.dry_run else f"to erase: {clean(str(home))}")
    if args.dry_run or not agreed("Erase everything that is remembered, for good?", yes=args.yes):
        page.line("nothing was erased")
        return 0 if args.dry_run else 1
    try:
        shutil.rmtree(home)
    except OSError as error:
        raise ConfigError(f"{error.filename} cannot be removed ({error.strerror}); the rest is gone") from error
    page.line("erased")
    return 0
