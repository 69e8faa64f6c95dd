"""`memhub-mcp status`"""

from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.replies import show_notes, where
from memhub_mcp.cli.terminal import Page, count_of, local_time, print_json
from memhub_mcp.domain.replies import StatusReply, SwitchReply


def run(words: list[str]) -> int:
    """Prints scope, counts, modes and health."""
    parser = verb_parser("status", "Scope, counts, modes and health.", as_json=True)
    args = parser.parse_args(words)
    with opened(args) as (hub, caller):
        reply = hub.memories.status(caller)
    if args.json:
        print_json(reply)
        return 0
    mode = reply["mode"]
    page = Page(plain=hub.settings.plain)
    page.pairs(
        {
            "memhub": f"{reply['version']}, data in {reply['home']}",
            "here": where(reply["scope"]),
            **{name.replace("_", " "): _value(value) for name, value in reply["counts"].items()},
            **_capture(reply),
            "meaning": mode["dense"] + (f" ({mode['why']})" if "why" in mode else ""),
            "rerank": mode["rerank"],
        }
    )
    for switch in reply.get("switches", ()):
        page.paragraph(_progress(switch))
    for finding in reply["health"]:
        page.paragraph(finding, how="yellow")
    show_notes(page, reply.get("notes", ()))
    return 0


def _capture(reply: StatusReply) -> dict[str, str]:
    """What hooks may record here, when there is a repository."""
    if "capture" not in reply:
        return {}
    until = f" until {local_time(reply['paused_until'])}" if "paused_until" in reply else ""
    return {"capture": reply["capture"] + until}


def _progress(switch: SwitchReply) -> str:
    done = f"{switch['done']:,} of {count_of(switch['of'], 'memory')} embedded by {switch['fills']}"
    why = f" ({switch['why']})" if "why" in switch else ""
    return f"{switch['store']}: {done}{why}; until then {switch['serves']} serves"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{number} {name}" for name, number in value.items()) or "none"  # pyright: ignore
    return f"{value:,}" if isinstance(value, int) else str(value)
