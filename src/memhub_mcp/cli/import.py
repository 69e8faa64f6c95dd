"""`memhub-mcp import HOST|FILE|FOLDER`"""

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
from memhub_mcp.errors import NotFound
from memhub_mcp.hosts.records import HOSTS, Host, host_named
from memhub_mcp.service.hub import Hub

_IMPORTED = [host for host in HOSTS if host.transcripts]
_COUNTS: Mapping[str, str] = {
    "known": "known already",
    "outside": "outside this repository, left out",
    "withheld": "of files whose content is not kept, only their places are",
    "silent": "made while capture was paused, left out",
    "failed": "failed in the session, left out",
}


def run(words: list[str]) -> int:
    """Takes sessions that an assistant kept on disk into this repository's memory; twice is the same as once."""
    parser = verb_parser("import", "Take earlier sessions into this repository's memory.", as_json=True)
    parser.add_argument(
        "what",
        metavar="HOST|FILE|FOLDER",
        help=f"an assistant ({', '.join(host.name for host in _IMPORTED)}) whose sessions here are looked up, "
        "or session files",
    )
    parser.add_argument("--source", metavar="HOST", help="the assistant, when a file does not say it")
    parser.add_argument(
        "--since", type=moment, metavar="WHEN", help="only what happened since a date, or in the last 3d, 2w, 6m"
    )
    parser.add_argument("--dry-run", action="store_true", help="only count what would be taken")
    args = parser.parse_args(words)
    with opened(args) as (hub, caller):
        reply = _import(hub, caller, args)
        page = Page(plain=hub.settings.plain)
    if args.json:
        print_json(reply)
    else:
        _show(page, reply)
    return 0


def _import(hub: Hub, caller: Caller, args: Namespace) -> ImportReply:
    hub.maintenance.drain()  # what hooks reported comes first, so that a transcript does not tell it again
    file = hub.settings.cwd / Path(args.what).expanduser()
    host = None if file.exists() else host_named(args.what)
    with tqdm(desc="reading sessions", unit=" records", file=sys.stderr, disable=None, leave=False) as bar:

        def progress(done: int, total: int, records: int) -> None:
            bar.set_postfix_str(f"file {done + 1} of {total}", refresh=False)
            bar.update(records - bar.n)

        if host is None:
            source = host_named(args.source) if args.source else None
            return hub.importing.import_file(
                caller,
                file,
                source=source.name if source else args.source,
                since=args.since,
                dry_run=args.dry_run,
                progress=progress,
            )
        return hub.importing.import_host(
            caller,
            _files_of(host, args, hub),
            source=host.name,
            since=args.since,
            dry_run=args.dry_run,
            progress=progress,
        )


def _files_of(host: Host, args: Namespace, hub: Hub) -> list[Path]:
    """The files in which an assistant keeps its sessions.

    Raises:
        NotFound: it keeps none that we can read, or there are none.
    """
    if not host.transcripts:
        known = ", ".join(one.name for one in _IMPORTED)
        raise NotFound(f"sessions of {host.title} cannot be read; those of {known} can")
    files = places_of(args, hub.settings).transcripts(host)
    if not files:
        places = ", ".join(host.transcripts)
        raise NotFound(f"{host.title} has no sessions on this machine (looked in {places}); name a session file")
    return files


def _show(page: Page, reply: ImportReply) -> None:
    sessions = count_of(reply["sessions"], "session")
    if not reply["sessions"]:
        page.line(f"no session of this repository in {count_of(reply['files'], 'file')}")
    elif "dry_run" in reply:
        page.line(f"would import {count_of(reply['edits'], 'edit')} of {sessions} ({clean(reply['source'])})")
    else:
        facts = f", {count_of(reply['facts'], 'fact')} about sessions" if reply["facts"] else ""
        turns = f", {count_of(reply['turns'], 'turn')}" if "turns" in reply else ""
        edits = count_of(reply["edits"], "new edit")
        page.line(f"{sessions} read ({clean(reply['source'])}): {edits}{facts}{turns}")
    for name, text in _COUNTS.items():
        if name in reply:
            page.line(page.mark(f"{reply[name]:,} {text}", "dim"))
    show_notes(page, reply.get("notes", ()))
