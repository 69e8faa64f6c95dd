"""`memhub-mcp serve`"""

import argparse

from memhub_mcp.server.prelude import serve_stdio


def run(words: list[str]) -> int:
    """Answers one assistant over stdin and stdout until it leaves."""
    # Not `verb_parser`: an assistant waits for the first answer, and only what is imported here stands before it.
    parser = argparse.ArgumentParser(
        prog="memhub-mcp serve",
        description="Answer one assistant over stdin and stdout until it leaves.",
        allow_abbrev=False,
    )
    parser.add_argument("--home", metavar="DIR", help="where memories are kept")
    parser.add_argument("--workspace", metavar="PATH|NAME", help="act on this repository instead of the current one")
    args = parser.parse_args(words)
    serve_stdio(home=args.home, workspace=args.workspace)
    return 0
