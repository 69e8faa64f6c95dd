"""`memhub-mcp serve`"""

from memhub_mcp.cli.words import leading_options
from memhub_mcp.server.prelude import serve_stdio


def run(words: list[str]) -> int:
    """Answers one assistant over stdin and stdout until it leaves."""
    options, others = leading_options(words)
    if others:
        from memhub_mcp.cli.parsing import verb_parser  # an assistant waits: argparse only when there is a say for it

        parser = verb_parser("serve", "Answer one assistant over stdin and stdout until it leaves.")
        args = parser.parse_args(words)
        options = {"--home": args.home, "--workspace": args.workspace}
    serve_stdio(home=options.get("--home"), workspace=options.get("--workspace"))
    return 0
