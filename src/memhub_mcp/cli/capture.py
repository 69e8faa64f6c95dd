"""`memhub-mcp capture [off | edits | all | default]`"""

from argparse import Namespace

from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.replies import show_notes
from memhub_mcp.cli.terminal import Page, clean, local_time, print_json
from memhub_mcp.domain.capture import Level
from memhub_mcp.service.hub import Hub
from memhub_mcp.service.scope import Scope

_DEFAULT = "default"
_LEVELS = {
    Level.OFF: "nothing is recorded by itself; what is remembered or imported on purpose is kept",
    Level.EDITS: "edits with the request behind each, and one fact a session",
    Level.ALL: "edits, one fact a session, and every turn as it was said",
}


def run(words: list[str]) -> int:
    """Shows or sets what hooks may record in the repository here, all its clones and working trees included."""
    parser = verb_parser("capture", "What assistants' hooks may record in this repository.", as_json=True)
    parser.add_argument(
        "level",
        nargs="?",
        choices=[*map(str, _LEVELS), _DEFAULT],
        help="; ".join(f"{level}: {means}" for level, means in _LEVELS.items())
        + f"; {_DEFAULT}: as `capture` in config.toml says. Without it, what holds now is shown",
    )
    args = parser.parse_args(words)
    with opened(args) as (hub, caller):
        scope = hub.scopes.resolve(caller)
        if args.level is not None:
            hub.maintenance.drain()  # what was captured until now is kept
            hub.capturing.set_level(scope, None if args.level == _DEFAULT else Level(args.level))
        answer(args, hub, scope)
    return 0


def answer(args: Namespace, hub: Hub, scope: Scope) -> None:
    """Print what may be recorded now."""
    reply = hub.capturing.describe(scope)
    if args.json:
        print_json(reply)
        return
    page = Page(plain=hub.settings.plain)
    where = clean(reply["scope"]["workspace"] or "")
    level = Level(reply["level"])
    whence = "said for this repository" if reply["own"] else "as config.toml says for all"
    if reply["capture"] == "paused":
        until = reply.get("paused_until")
        end = f"until {local_time(until)}" if until else "until `memhub-mcp pause --resume`"
        page.line(f"{where}: {page.mark('paused', 'bold')} {end}; hooks record nothing")
        page.line(page.mark(f"then {level}: {_LEVELS[level]} ({whence})", "dim"))
    else:
        page.line(f"{where}: {page.mark(level, 'bold')} ({whence}): {_LEVELS[level]}")
    show_notes(page, reply.get("notes", ()))
