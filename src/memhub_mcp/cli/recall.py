"""`memhub-mcp recall WORDS…`"""

from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import files_in, moment, names, positive, verb_parser
from memhub_mcp.cli.replies import show_hits
from memhub_mcp.cli.terminal import Page, print_json


def run(words: list[str]) -> int:
    """Prints what bears on a question; exit 0 also when nothing does."""
    parser = verb_parser("recall", "What is known that bears on a question. Without one: newest first.", as_json=True)
    parser.add_argument("question", nargs="*", help="the question, quoted or not")
    parser.add_argument("--limit", type=positive, default=8, metavar="N", help="at most so many hits (8)")
    parser.add_argument("--kinds", type=names, default=[], metavar="A,B", help="only memories of these kinds")
    parser.add_argument("--files", type=names, default=[], metavar="A,B", help="only about these files or folders")
    parser.add_argument("--branch", metavar="NAME", help="as seen from this branch; '*' for all")
    parser.add_argument("--include-sources", type=names, default=[], metavar="A,B", help="only from these assistants")
    parser.add_argument("--exclude-sources", type=names, default=[], metavar="A,B", help="not from these assistants")
    parser.add_argument("--since", type=moment, metavar="WHEN", help="a date, or an age such as 3d or 2w")
    parser.add_argument("--until", type=moment, metavar="WHEN", help="a date, or an age such as 3d or 2w")
    parser.add_argument("--budget-tokens", type=positive, metavar="N", help="how large the reply may be")
    parser.add_argument("--cursor", metavar="TEXT", help="go on where an earlier reply ended")
    args = parser.parse_intermixed_args(words)
    with opened(args) as (hub, caller):
        reply = hub.memories.recall(
            caller,
            " ".join(args.question),
            limit=args.limit,
            kinds=args.kinds,
            files=files_in(args, hub.settings.cwd),
            branch=args.branch,
            include_sources=args.include_sources,
            exclude_sources=args.exclude_sources,
            since=args.since,
            until=args.until,
            budget_tokens=args.budget_tokens,
            cursor=args.cursor,
        )
    if args.json:
        print_json(reply)
    else:
        show_hits(Page(plain=hub.settings.plain), reply)
    return 0
