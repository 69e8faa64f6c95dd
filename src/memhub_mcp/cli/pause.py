"""`memhub-mcp pause [--for 2h | --resume]`"""

import re
from argparse import ArgumentTypeError
from datetime import timedelta

from memhub_mcp.cli.capture import answer
from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import verb_parser

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION = re.compile(r"(?:\d{1,6}[mhdw])+")
_LONGEST = timedelta(days=366)


def run(words: list[str]) -> int:
    """Stops hooks from recording anything in the repository here, or lets them go on."""
    parser = verb_parser(
        "pause",
        "Stop assistants' hooks from recording anything in this repository, its clones and working trees included, "
        "until `pause --resume`. What happens meanwhile is not taken from transcripts later either. "
        "What is remembered and recalled on purpose goes on.",
        as_json=True,
    )
    how_long = parser.add_mutually_exclusive_group()
    how_long.add_argument(
        "--for", type=duration, dest="length", metavar="TIME", help="end by itself: 30m, 2h, 1d, 1h30m"
    )
    how_long.add_argument("--resume", action="store_true", help="record again from now on")
    args = parser.parse_args(words)
    with opened(args) as (hub, caller):
        scope = hub.scopes.resolve(caller)
        hub.maintenance.drain()  # what was captured until now is kept
        if args.resume:
            hub.capturing.resume(scope)
        else:
            hub.capturing.pause(scope, args.length)
        answer(args, hub, scope)
    return 0


def duration(text: str) -> timedelta:
    """`30m`, `2h`, `1h30m`, `1d`, `2w`: minutes, hours, days, weeks."""
    if not text.isascii() or not _DURATION.fullmatch(text):
        raise ArgumentTypeError(f"{text!r} is no length of time (30m, 2h, 1d, 1h30m)")
    parts = {unit: int(number) for number, unit in re.findall(r"(\d+)([mhdw])", text)}
    length = timedelta(**{_UNITS[unit]: number for unit, number in parts.items()})
    if not timedelta() < length <= _LONGEST:
        raise ArgumentTypeError(f"{text!r} is not between a minute and a year")
    return length
