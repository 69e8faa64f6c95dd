"""`memhub-mcp remember TEXT…`"""

import sys
from typing import Any

from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import KINDS, files_in, moment, names, verb_parser
from memhub_mcp.cli.replies import show_notes
from memhub_mcp.cli.terminal import Page, print_json
from memhub_mcp.domain.scope import Tier
from memhub_mcp.errors import InvalidInput

_SAID = {"added": "remembered", "duplicate_of": "already known as", "superseded": "remembered"}


def run(words: list[str]) -> int:
    """Stores one memory, from the arguments or from stdin."""
    parser = verb_parser("remember", "Store one memory. Without TEXT it is read from stdin.", as_json=True)
    parser.add_argument("text", nargs="*", help="what to remember, quoted or not; - reads stdin")
    parser.add_argument("--kind", choices=KINDS, default="fact", help="what sort of knowledge it is (fact)")
    parser.add_argument("--subject", metavar="NAME", help="what it is about; replaces what was stored under this name")
    parser.add_argument("--tier", choices=sorted(Tier), help="how far it reaches (follows from the kind)")
    parser.add_argument("--files", type=names, default=[], metavar="A,B", help="files it is about")
    parser.add_argument("--symbols", type=names, metavar="A,B", help="functions and classes it is about")
    parser.add_argument("--search-key", action="append", metavar="TEXT", help="another way to ask for it; up to 5")
    parser.add_argument("--solution", metavar="TEXT", help="for an experience: what solved it")
    parser.add_argument("--environment", metavar="TEXT", help="for an experience: where it held")
    parser.add_argument("--valid-until", type=moment, metavar="DATE", help="when it stops being true")
    parser.add_argument("--operation-key", metavar="KEY", help="the same key stores only once")
    args = parser.parse_intermixed_args(words)
    draft: dict[str, Any] = {
        "text": _text(args.text),
        "kind": args.kind,
        "subject": args.subject,
        "tier": args.tier,
        "symbols": args.symbols,
        "search_keys": args.search_key,
        "solution": args.solution,
        "environment": args.environment,
        "valid_until": args.valid_until,
    }
    given = {name: value for name, value in draft.items() if value is not None}
    with opened(args) as (hub, caller):
        given["files"] = files_in(args, hub.settings.cwd)
        reply = hub.memories.remember(caller, [given], operation_key=args.operation_key)
        hub.maintenance.brief(caller)
    if args.json:
        print_json(reply)
        return 0
    page = Page(plain=hub.settings.plain)
    for result in reply["results"]:
        known = result["id"] if result["status"] != "duplicate_of" else result.get("other", result["id"])
        page.line(f"{_SAID[result['status']]} {page.mark(known, 'bold')}")
        if result["status"] == "superseded" and "other" in result:
            page.line(f"  replaces {result['other']}")
        if "similar_to" in result:
            page.line(f"  similar to {', '.join(result['similar_to'])}")
    show_notes(page, reply.get("notes", ()))
    return 0


def _text(words: list[str]) -> str:
    if words and words != ["-"]:
        return " ".join(words)
    if sys.stdin.isatty() and not words:
        raise InvalidInput("nothing to remember: give the text as arguments or on stdin")
    return sys.stdin.read().strip("\n")
