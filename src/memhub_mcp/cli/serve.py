"""`memhub-mcp serve`"""

from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.server.transports import serve_stdio
from memhub_mcp.settings import load_settings


def run(words: list[str]) -> int:
    """Answers one assistant over stdin and stdout until it leaves."""
    parser = verb_parser("serve", "Answer one assistant over stdin and stdout until it leaves.")
    args = parser.parse_args(words)
    serve_stdio(load_settings(home=args.home, workspace=args.workspace))
    return 0
