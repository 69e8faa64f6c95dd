"""`memhub-mcp confirm [ID…]`"""

from collections.abc import Sequence

from memhub_mcp.cli.asking import agreed
from memhub_mcp.cli.opening import is_person, opened, settings_from
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.replies import show_memory
from memhub_mcp.cli.terminal import Page, count_of, print_json
from memhub_mcp.domain.replies import MemoryReply, WaitingReply
from memhub_mcp.errors import InvalidInput, NotFound

_EPILOG = """\
What an assistant stored as yours is found from everywhere, but put before an assistant unasked only in the repository
it was written in, until you confirm it here. Changed, it waits again."""


def run(words: list[str]) -> int:
    """Shows what waits for the person's word, or takes it; without `--yes` a person at a terminal is asked."""
    parser = verb_parser("confirm", "Stand by what assistants stored as yours.", as_json=True)
    parser.epilog = _EPILOG
    parser.add_argument("ids", nargs="*", metavar="ID", help="what to confirm; without it, what waits is shown")
    parser.add_argument("--all", action="store_true", help="confirm all that waits")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    args = parser.parse_args(words)
    settings = settings_from(args)
    page = Page(plain=settings.plain)
    with opened(args) as (hub, caller):
        if not args.ids:
            waiting = hub.memories.waiting(caller)
            if not args.all or not waiting["memories"]:
                _show_waiting(page, waiting, as_json=args.json)
                return 0
            args.ids = [memory["id"] for memory in waiting["memories"]]
        if settings.in_assistant:
            raise InvalidInput("only a person confirms: run this in a terminal of your own, not in an assistant's")
        found = hub.memories.get(caller, args.ids)
        if "missing" in found:
            raise NotFound(f"no memory {', '.join(found['missing'])}; `memhub-mcp confirm` shows what waits")
        if not args.yes:
            _show(page, found["memories"])
            if not is_person(settings):
                raise InvalidInput("nothing was confirmed: add --yes to do it")
            if not agreed("Tell this unasked in every repository from now on?", yes=False):
                page.line("nothing was confirmed")
                return 0
        shown = {memory["id"]: memory["version"] for memory in found["memories"]}
        reply = hub.memories.confirm(caller, shown)
    if args.json:
        print_json(reply)
    else:
        page.line(f"confirmed {count_of(len(reply['confirmed']), 'memory')}")
    return 0


def _show_waiting(page: Page, reply: WaitingReply, *, as_json: bool) -> None:
    if as_json:
        print_json(reply)
        return
    _show(page, reply["memories"])
    if reply["more"]:
        page.line(f"and {reply['more']:,} more")
    page.line(
        "`memhub-mcp confirm ID…` stands by some of them, `confirm --all` by all"
        if reply["memories"]
        else "nothing waits for your word"
    )


def _show(page: Page, memories: Sequence[MemoryReply]) -> None:
    for memory in memories:
        show_memory(page, memory)
        if "workspace" in memory:
            page.paragraph(f"written in {memory['workspace']}", indent=2, how="dim")
