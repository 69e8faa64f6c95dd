"""`memhub-mcp list`"""

from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import names, positive, verb_parser
from memhub_mcp.cli.replies import show_hits
from memhub_mcp.cli.terminal import Page, print_json


def run(words: list[str]) -> int:
    """Prints memories, newest first."""
    parser = verb_parser("list", "Memories, newest first.", as_json=True)
    parser.add_argument("--limit", type=positive, default=20, metavar="N", help="at most so many (20)")
    parser.add_argument("--kinds", type=names, default=[], metavar="A,B", help="only memories of these kinds")
    parser.add_argument("--branch", metavar="NAME", help="as seen from this branch; '*' for all")
    parser.add_argument("--cursor", metavar="TEXT", help="go on where an earlier list ended")
    args = parser.parse_args(words)
    with opened(args) as (hub, caller):
        reply = hub.memories.list(caller, kinds=args.kinds, branch=args.branch, cursor=args.cursor, limit=args.limit)
    if args.json:
        print_json(reply)
    else:
        show_hits(Page(plain=hub.settings.plain), reply)
    return 0
