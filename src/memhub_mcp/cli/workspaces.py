"""`memhub-mcp workspaces list`"""

from memhub_mcp.cli.opening import settings_from
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.terminal import Page, clean, count_of, print_json, size_of
from memhub_mcp.domain.clock import system_clock
from memhub_mcp.service.catalogue import Entry, catalogue


def run(words: list[str]) -> int:
    """Lists the repositories that have a memory."""
    parser = verb_parser("workspaces", "The repositories that have a memory.", as_json=True)
    parser.add_argument("action", nargs="?", choices=["list"], default="list", help="list: all of them, by name")
    args = parser.parse_args(words)
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
