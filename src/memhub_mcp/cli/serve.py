"""`memhub-mcp serve`"""

import sys
from typing import Any

from memhub_mcp.cli.words import leading_options
from memhub_mcp.server.prelude import serve_http, serve_stdio

_DESCRIPTION = """\
Answer one assistant over stdin and stdout until it leaves, or many over HTTP (`--transport http`, or `sse` for older
ones). Over HTTP each request carries the token in <home>/run/token as `Authorization: Bearer …`, and names its
repository by the path, http://127.0.0.1:8626/mcp/home/me/project, or by the header Memhub-Workspace."""

_TO_A_PERSON = (
    "memhub-mcp: waiting for an assistant's messages on stdin. Assistants start this command themselves, once "
    "`memhub-mcp install` has told them; Ctrl-D ends it."
)


def run(words: list[str]) -> int:
    """Answers assistants until they leave."""
    options = parse(words)
    transport = options.pop("transport", "stdio")
    if transport == "stdio":
        if sys.stdin is not None and sys.stdin.isatty():
            print(_TO_A_PERSON, file=sys.stderr, flush=True)
        serve_stdio(home=options["home"], workspace=options["workspace"])
    else:
        serve_http(transport, **options)
    return 0


def parse(words: list[str]) -> dict[str, Any]:
    """What `serve` was told; ends the process with usage when that makes no sense."""
    common, others = leading_options(words)
    if not others:
        return {"home": common.get("--home"), "workspace": common.get("--workspace")}
    import argparse  # an assistant waits for the first answer: only who asks for more pays for a parser

    parser = argparse.ArgumentParser(prog="memhub-mcp serve", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--home", metavar="DIR", help="where memories are kept")
    parser.add_argument("--workspace", metavar="PATH|NAME", help="act on this repository instead of the current one")
    parser.add_argument("--transport", choices=("stdio", "http", "sse"), default="stdio", help="default: stdio")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8626, help="the port to listen on (8626), 0 for any")
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        dest="names",
        metavar="NAME",
        help="another name this server is reached by",
    )
    args = vars(parser.parse_args(words))
    return {**args, "names": tuple(args["names"])}
