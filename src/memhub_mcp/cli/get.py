"""`memhub-mcp get ID…`"""

from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.replies import show_memory, show_notes
from memhub_mcp.cli.terminal import Page, print_json
from memhub_mcp.errors import NotFound


def run(words: list[str]) -> int:
    """Prints memories in full."""
    parser = verb_parser("get", "Memories in full: text, versions, links.", as_json=True)
    parser.add_argument("ids", nargs="+", metavar="ID", help="an id as recall and list print it")
    args = parser.parse_args(words)
    with opened(args) as (hub, caller):
        reply = hub.memories.get(caller, args.ids)
    if args.json:
        print_json(reply)
    else:
        page = Page(plain=hub.settings.plain)
        for memory in reply["memories"]:
            show_memory(page, memory)
        show_notes(page, reply.get("notes", ()))
    if "missing" in reply:
        raise NotFound(f"no memory {', '.join(reply['missing'])}; `memhub-mcp list` shows what is stored")
    return 0
