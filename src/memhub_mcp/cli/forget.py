"""`memhub-mcp forget ID…`"""

from collections import Counter
from collections.abc import Iterable

from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.replies import show_notes
from memhub_mcp.cli.terminal import Page, clean, count_of, print_json
from memhub_mcp.service.forgetting import NOT_YET


def run(words: list[str]) -> int:
    """Erases memories with all their traces; without `--yes` only says what would go."""
    parser = verb_parser("forget", "Erase memories, edits or commits for good, all versions and traces.", as_json=True)
    parser.add_argument("ids", nargs="+", metavar="ID", help="an id as recall, list and history print it")
    parser.add_argument("--yes", action="store_true", help="really erase; without it nothing is changed")
    args = parser.parse_args(words)
    with opened(args) as (hub, caller):
        reply = hub.memories.forget(caller, args.ids, confirm=args.yes)
    if args.json:
        print_json(reply)
        return 0
    page = Page(plain=hub.settings.plain)
    what = _counted(memory["kind"] for memory in reply["memories"])
    page.line(f"erased {what}" if reply["erased"] else f"would erase {what}:")
    for memory in reply["memories"]:
        page.line(f"  {page.mark(clean(str(memory.get('id'))), 'bold')}")
        if preview := str(memory.get("preview", memory.get("text", ""))):
            page.paragraph(preview, indent=4)
    if reply["unreachable"]:
        page.line("copies that are not memhub's to erase:")
        for place in reply["unreachable"]:
            page.paragraph(place, indent=2, how="dim")
    show_notes(page, [note for note in reply.get("notes", ()) if note != NOT_YET])
    if not reply["erased"] and reply["memories"]:
        page.line("nothing was changed; add --yes to erase")
    return 0


def _counted(kinds: Iterable[str]) -> str:
    """`2 memories, 1 edit`."""
    counts = Counter(kind if kind in ("edit", "commit") else "memory" for kind in kinds)
    return ", ".join(count_of(number, noun) for noun, number in counts.items())
