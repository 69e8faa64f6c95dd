"""`memhub-mcp import HOST|FILE|FOLDER`"""

import os
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from tqdm import tqdm

from memhub_mcp.cli.hosting import places_of
from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import moment, verb_parser
from memhub_mcp.cli.replies import show_notes
from memhub_mcp.cli.terminal import Page, clean, count_of, print_json
from memhub_mcp.domain.replies import ImportReply
from memhub_mcp.domain.scope import Caller
from memhub_mcp.hosts.records import HOSTS, host_named
from memhub_mcp.service.host_import import HostImport
from memhub_mcp.service.hub import Hub

_IMPORTED = [host for host in HOSTS if host.transcripts or host.memories]
_NOUNS: Mapping[str, str] = {"unchanged": "memory", "archived": "memory", "known": "edit"}
_COUNTS: Mapping[str, str] = {
    "unchanged": "remembered already",
    "archived": "said no longer, archived",
    "forgotten": "forgotten before, left out",
    "known": "known already",
    "outside": "outside this repository, left out",
    "withheld": "of files whose content is not kept, only their places are",
    "silent": "made while capture was paused, left out",
    "failed": "failed in the session, left out",
}


def run(words: list[str]) -> int:
    """Takes what an assistant kept on disk, sessions and memories, into this repository's memory; twice is as once."""
    parser = verb_parser(
        "import",
        "Take earlier sessions, and what assistants were told to remember, into this repository's memory.",
        as_json=True,
    )
    parser.add_argument(
        "what",
        metavar="HOST|FILE|FOLDER",
        help=f"an assistant ({', '.join(host.name for host in _IMPORTED)}) whose sessions here and memories are "
        "looked up, or session files, or files of memories such as CLAUDE.md",
    )
    parser.add_argument("--source", metavar="HOST", help="the assistant, when a file does not say it")
    parser.add_argument(
        "--since", type=moment, metavar="WHEN", help="only what happened since a date, or in the last 3d, 2w, 6m"
    )
    parser.add_argument("--dry-run", action="store_true", help="only count what would be taken")
    args = parser.parse_args(words)
    with opened(args) as (hub, caller):
        reply = _import(hub, caller, args)
        if not args.dry_run:
            hub.maintenance.brief(caller)
        page = Page(plain=hub.settings.plain)
    if args.json:
        print_json(reply)
    else:
        _show(page, reply)
    return 0


def _import(hub: Hub, caller: Caller, args: Namespace) -> ImportReply:
    hub.maintenance.drain()  # what hooks reported comes first, so that a transcript does not tell it again
    file = hub.settings.cwd / Path(args.what).expanduser()
    host = None if os.path.lexists(file) else host_named(args.what)
    with tqdm(desc="reading sessions", unit=" records", file=sys.stderr, disable=None, leave=False) as bar:

        def progress(done: int, total: int, records: int) -> None:
            bar.set_postfix_str(f"file {done + 1} of {total}", refresh=False)
            bar.update(records - bar.n)

        places = places_of(args, hub.settings)
        taking = HostImport(
            scopes=hub.scopes, importing=hub.importing, places=places, since=args.since, dry_run=args.dry_run
        )
        if host is None:
            source = host_named(args.source) if args.source else None
            return taking.import_file(caller, file, source=source.name if source else args.source, progress=progress)
        return taking.import_host(caller, host, places.transcripts(host), progress=progress)


def _show(page: Page, reply: ImportReply) -> None:
    sessions = count_of(reply["sessions"], "session")
    would = "would import " if "dry_run" in reply else ""
    if "memories" in reply:
        replaced = count_of(reply.get("changed", 0), "earlier wording")
        changed = f", {replaced} replaced" if "changed" in reply else ""
        new = count_of(reply["memories"], "memory") if would else count_of(reply["memories"], "new memory")
        page.line(f"{would}{new} from files of memories ({clean(reply['source'])}){changed}")
    if not reply["sessions"]:
        if "memories" not in reply:
            page.line(f"no session of this repository in {count_of(reply['files'], 'file')}")
    elif would:
        page.line(f"{would}{count_of(reply['edits'], 'edit')} of {sessions} ({clean(reply['source'])})")
    else:
        facts = f", {count_of(reply['facts'], 'fact')} about sessions" if reply["facts"] else ""
        turns = f", {count_of(reply['turns'], 'turn')}" if "turns" in reply else ""
        edits = count_of(reply["edits"], "new edit")
        page.line(f"{sessions} read ({clean(reply['source'])}): {edits}{facts}{turns}")
    for name, text in _COUNTS.items():
        if name in reply:
            number = count_of(reply[name], _NOUNS[name]) if name in _NOUNS else f"{reply[name]:,}"
            page.line(page.mark(f"{number} {text}", "dim"))
    show_notes(page, reply.get("notes", ()))
