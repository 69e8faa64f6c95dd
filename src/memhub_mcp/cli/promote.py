"""`memhub-mcp promote ID…`"""

from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.terminal import Page, count_of, print_json


def run(words: list[str]) -> int:
    """Lets what was said on one branch hold for the whole repository."""
    parser = verb_parser("promote", "Let memories of a branch hold for the whole repository.", as_json=True)
    parser.add_argument("ids", nargs="+", metavar="ID", help="an id as `list --branch '*'` prints it")
    args = parser.parse_args(words)
    with opened(args) as (hub, caller):
        promoted = hub.memories.promote(caller, args.ids)
    if args.json:
        print_json({"promoted": promoted})
    else:
        Page(plain=hub.settings.plain).line(f"{count_of(promoted, 'memory')} seen from every branch now")
    return 0
