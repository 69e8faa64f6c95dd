"""`memhub-mcp forget ID…`"""

from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.replies import show_notes
from memhub_mcp.cli.terminal import Page, clean, count_of, print_json


def run(words: list[str]) -> int:
    """Erases memories with all their traces; without `--yes` only says what would go."""
    parser = verb_parser("forget", "Erase memories for good, all versions and traces.", as_json=True)
    parser.add_argument("ids", nargs="+", metavar="ID", help="an id as recall and list print it")
    parser.add_argument("--yes", action="store_true", help="really erase; without it nothing is changed")
    args = parser.parse_args(words)
    with opened(args) as (hub, caller):
        reply = hub.memories.forget(caller, args.ids, confirm=args.yes)
    if args.json:
        print_json(reply)
        return 0
    page = Page(plain=hub.settings.plain)
    number = count_of(len(reply["memories"]), "memory")
    page.line(f"erased {number}" if reply["erased"] else f"would erase {number}:")
    for memory in reply["memories"]:
        page.line(f"  {page.mark(clean(str(memory.get('id'))), 'bold')}")
        page.paragraph(str(memory.get("preview", memory.get("text", ""))), indent=4)
    if reply["unreachable"]:
        page.line("copies that are not memhub's to erase:")
        for place in reply["unreachable"]:
            page.paragraph(place, indent=2, how="dim")
    show_notes(page, reply.get("notes", ()))
    if not reply["erased"] and reply["memories"]:
        page.line("nothing was changed; add --yes to erase")
    return 0
