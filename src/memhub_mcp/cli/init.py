"""`memhub-mcp init`"""

import shlex
import sys

from tqdm import tqdm

from memhub_mcp import __version__
from memhub_mcp.cli.command import own_command
from memhub_mcp.cli.main import INTERRUPTED
from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.replies import show_hits, show_notes, where
from memhub_mcp.cli.stopping import stopping_softly
from memhub_mcp.cli.terminal import Page, clean, count_of
from memhub_mcp.domain.scope import Caller
from memhub_mcp.hosts.installed import Installations
from memhub_mcp.hosts.places import HostPlaces
from memhub_mcp.service.hub import Hub
from memhub_mcp.service.indexing import IndexReport
from memhub_mcp.service.overview import Overview, overview
from memhub_mcp.service.scope import Scope
from memhub_mcp.settings import Settings

_ANSWERS = 2


def run(words: list[str]) -> int:
    """Sets up memory for the repository here and shows what it knows; a second time it changes nothing."""
    parser = verb_parser("init", "Set up memory for the repository here and show what it knows.")
    args = parser.parse_args(words)
    with opened(args) as (hub, caller):
        page = Page(plain=hub.settings.plain)
        scope = hub.scopes.resolve(caller)
        page.line(f"{page.mark(f'memhub {__version__}', 'bold')} · {clean(where(scope.reply()))}")
        show_notes(page, scope.notes)
        report = _index(hub, scope)
        show_notes(page, report.notes)
        found = overview(scope)
        _show(page, scope, found)
        if not report.complete and not report.notes:
            page.line("interrupted: run `memhub-mcp init` again and it goes on from here")
            return INTERRUPTED
        hub.maintenance.run_once(caller)  # sessions of assistants begin with what is known here
        if found.question:
            _ask(page, hub, caller, found.question)
        _show_assistants(page, hub.settings)
    return 0


def _index(hub: Hub, scope: Scope) -> IndexReport:
    with (
        stopping_softly() as stopped,
        tqdm(desc="reading commits", unit=" commits", file=sys.stderr, disable=None, leave=False) as bar,
    ):

        def progress(done: int, total: int | None) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return hub.indexing.index(scope, progress=progress, stop=stopped.is_set)


def _show(page: Page, scope: Scope, found: Overview) -> None:
    following = f"{count_of(found.following, 'memory')} about you, found everywhere"
    if scope.store is None:
        page.line("There is no git repository here, so nothing is kept about this folder.")
        page.line('What is about you works everywhere: memhub-mcp remember --tier user "I prefer small commits"')
        page.pairs({"memories": following})
        return
    rows = {"commits": "none yet"}
    if found.span:
        first, last = (f"{moment:%Y-%m-%d}" for moment in found.span)
        rows["commits"] = f"{found.commits:,}, from {first} to {last}"
    if found.busiest:
        rows["busiest"] = ", ".join(f"{path} ({number})" for path, number in found.busiest)
    rows["memories"] = f"{count_of(found.memories, 'memory')} of this repository, {following}"
    page.pairs(rows)


def _ask(page: Page, hub: Hub, caller: Caller, question: str) -> None:
    page.line()
    page.line(f"{page.mark('asked', 'dim')}  memhub-mcp recall {clean(_quoted(question))}")
    show_hits(page, hub.memories.recall(caller, question, limit=_ANSWERS))


def _quoted(question: str) -> str:
    return shlex.quote(question) if set(question) & set('"$`\\!') else f'"{question}"'


def _show_assistants(page: Page, settings: Settings) -> None:
    command = shlex.join(own_command())
    there = {one.host for one in Installations.read(settings.home).known}
    hosts = HostPlaces(settings.person_home, None, settings.host_folders).found()
    page.line()
    if not hosts:
        page.line("No assistant was found on this machine; for any that speaks MCP the server is:")
        page.line(f"  {command} serve")
        return
    page.line("To give it to your assistants (each command shows its change before it makes it):")
    widest = max(len(host.title) for host in hosts)
    for host in hosts:
        done = page.mark("  installed", "green") if host.name in there else ""
        page.line(f"  {host.title:<{widest}}  {command} install {host.name}{done}")
