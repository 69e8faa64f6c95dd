"""`memhub-mcp workspaces [list | merge INTO OTHER | move NAME FOLDER | delete NAME]`"""

from argparse import Namespace
from pathlib import Path

from memhub_mcp.cli.opening import opened, settings_from
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.terminal import Page, clean, count_of, print_json, size_of
from memhub_mcp.domain.clock import system_clock
from memhub_mcp.service.catalogue import Entry, catalogue
from memhub_mcp.service.workspaces import Receipt, WorkspaceChanges

_ARGUMENTS = {"list": (), "merge": ("INTO", "OTHER"), "move": ("NAME", "FOLDER"), "delete": ("NAME",)}


def run(words: list[str]) -> int:
    """Lists the repositories that have a memory, or changes one: without `--yes` only says what would be done."""
    parser = verb_parser("workspaces", "The repositories that have a memory.", as_json=True)
    parser.add_argument(
        "action",
        nargs="?",
        choices=list(_ARGUMENTS),
        default="list",
        help="list: all of them · merge INTO OTHER: join two · move NAME FOLDER: say where one is now · delete NAME",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a workspace's name or the beginning of its id")
    parser.add_argument("--yes", action="store_true", help="really do it; without it nothing is changed")
    args = parser.parse_args(words)
    wanted = _ARGUMENTS[args.action]
    if len(args.names) != len(wanted):
        parser.error(f"workspaces {args.action} takes {' '.join(wanted) or 'no further words'}")
    if args.action == "list":
        return _list(args)
    with opened(args) as (hub, _):
        receipt = _change(hub.workspaces, args.action, args.names, confirm=args.yes)
    _show(args, receipt)
    return 0


def _change(workspaces: WorkspaceChanges, action: str, names: list[str], *, confirm: bool) -> Receipt:
    if action == "merge":
        return workspaces.merge(names[0], names[1], confirm=confirm)
    if action == "move":
        return workspaces.move(names[0], Path(names[1]), confirm=confirm)
    return workspaces.delete(names[0], confirm=confirm)


def _show(args: Namespace, receipt: Receipt) -> None:
    if args.json:
        print_json(
            {
                "action": receipt.action,
                "done": receipt.done,
                "workspace": receipt.workspace.name,
                "memories": receipt.memories,
                "lines": list(receipt.lines),
                "unreachable": list(receipt.unreachable),
            }
        )
        return
    page = Page(plain=settings_from(args).plain)
    for line in receipt.lines:
        page.paragraph(line)
    if receipt.unreachable:
        page.line("copies that are not memhub's to erase:")
        for place in receipt.unreachable:
            page.paragraph(place, indent=2, how="dim")
    if not receipt.done:
        page.line("nothing was changed; add --yes to do it")


def _list(args: Namespace) -> int:
    settings = settings_from(args)
    entries = catalogue(settings.home, system_clock)
    if args.json:
        print_json({"workspaces": [_described(entry) for entry in entries]})
        return 0
    page = Page(plain=settings.plain)
    for entry in entries:
        page.line(f"{page.mark(clean(entry.workspace.name), 'bold')}  {page.mark(entry.workspace.id[:12], 'dim')}")
        if entry.fault:
            page.paragraph(entry.fault, indent=2, how="red")
            continue
        counts = f"{count_of(entry.memories, 'memory')}, {count_of(entry.commits, 'commit')}"
        page.line(f"  {counts}, {size_of(entry.size_bytes)}")
        for place in entry.places:
            page.paragraph(place, indent=2, how="dim")
    if not entries:
        page.line("no repository has a memory yet; `memhub-mcp init` inside one makes it")
    return 0


def _described(entry: Entry) -> dict[str, object]:
    found: dict[str, object] = {
        "id": entry.workspace.id,
        "name": entry.workspace.name,
        "directory": str(entry.workspace.directory),
        "memories": entry.memories,
        "commits": entry.commits,
        "size_bytes": entry.size_bytes,
        "aliases": [{"kind": alias.kind, "value": alias.value} for alias in entry.aliases],
    }
    return {**found, "fault": entry.fault} if entry.fault else found
