"""`memhub-mcp history FILE[:SYMBOL|:LINE]`"""

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memhub_mcp.capture.markers import CLOSING_MARKER, OPENING_MARKER
from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import place, positive, verb_parser
from memhub_mcp.cli.replies import show_notes
from memhub_mcp.cli.terminal import Page, ago, clean, print_json
from memhub_mcp.domain.replies import ChainReply, HistoryReply
from memhub_mcp.service.blocks import split_place

_SHA = 10
_COLOURS = {"+": "green", "-": "red", "@": "cyan", "…": "dim"}


def run(words: list[str]) -> int:
    """Prints the versions of a block of code, oldest first; exit 0 also when nothing is known."""
    parser = verb_parser("history", "Every version a block of code went through, and why.", as_json=True)
    parser.add_argument("place", nargs="?", help="FILE, FILE:SYMBOL, FILE:LINE or FILE:FIRST-LAST")
    parser.add_argument("--symbol", metavar="NAME", help="a function, class or method")
    parser.add_argument("--commit", metavar="ID", help="what one commit changed")
    parser.add_argument("--memory", metavar="ID", help="the code a memory names")
    parser.add_argument("--words", metavar="TEXT", help="commits whose words bear on this")
    parser.add_argument("--branch", metavar="NAME", help="as seen from this branch; '*' for all")
    parser.add_argument("--limit", type=positive, default=8, metavar="N", help="at most so many versions (8)")
    parser.add_argument("--budget-tokens", type=positive, metavar="N", help="how large the reply may be")
    args = parser.parse_args(words)
    if not (args.place or args.symbol or args.commit or args.memory or args.words):
        parser.error("name a file, or ask by --symbol, --commit, --memory or --words")
    with opened(args) as (hub, caller):
        reply = hub.history.code_history(caller, **_question(args, hub.settings.cwd))
    if args.json:
        print_json(reply)
    else:
        show_history(Page(), reply)
    return 0


def _question(args: Namespace, cwd: Path) -> dict[str, Any]:
    path, symbol, lines = args.place, args.symbol, None
    if path is not None and not (cwd / path).exists():
        path, in_place, lines = split_place(path)
        symbol = symbol or in_place
    return {
        "path": path and place(path, cwd),
        "symbol": symbol,
        "line": lines,
        "commit": args.commit,
        "memory": args.memory,
        "query": args.words,
        "branch": args.branch,
        "limit": args.limit,
        "budget_tokens": args.budget_tokens,
    }


def show_history(page: Page, reply: HistoryReply) -> None:
    """Chains, each version with what it changed."""
    for chain in reply["chains"]:
        _show_chain(page, chain)
    if reply["nothing_relevant"]:
        page.line("nothing is known of this")
    show_notes(page, reply.get("notes", ()))


def _show_chain(page: Page, chain: ChainReply) -> None:
    symbol = chain.get("symbol")
    page.line(page.mark(clean(f"{chain['path']}  {symbol}" if symbol else chain["path"]), "bold"))
    for version in chain["versions"]:
        _show_version(page, version)
    for note in chain.get("notes", ()):
        page.paragraph(note, indent=2, how="dim")
    page.line()


def _show_version(page: Page, version: Mapping[str, Any]) -> None:
    number = f"{version['version']}." if "version" in version else ""
    commit = page.mark(clean(version["commit"][:_SHA]), "yellow") if "commit" in version else "not committed"
    when = ago(version["at"]) if "at" in version else "in the working tree"
    who = version.get("author") or version.get("source")
    page.line("  ".join(part for part in (f"  {number:>3}", commit, when, clean(who or "")) if part))
    for text in (version.get("subject"), f"“{version['said']}”" if "said" in version else None):
        if text:
            page.paragraph(text, indent=6)
    facts = ", ".join(_facts(version))
    if facts:
        page.paragraph(facts, indent=6, how="dim")
    code = version.get("code", "").removeprefix(OPENING_MARKER).removesuffix(CLOSING_MARKER).strip("\n")
    for line in clean(code).split("\n") if code else ():
        colour = _COLOURS.get(line[:1])
        page.line("      " + (page.mark(line, colour) if colour else line))


def _facts(version: Mapping[str, Any]) -> list[str]:
    facts = [version["kind"]] if version.get("kind") not in (None, "modify") else []
    facts += [f"lines {version['lines']}"] if "lines" in version else []
    facts += [f"in {version['path']}"] if "path" in version else []
    facts += [f"from {version['moved_from']}"] if "moved_from" in version else []
    facts += [f"same as {version['same_as']}"] if "same_as" in version else []
    facts += [f"reverted by {version['reverted_by']}"] if "reverted_by" in version else []
    facts += [f"on {version['branch']}"] if "branch" in version else []
    facts += version.get("edits", [])
    return facts + [name for name in ("merge", "binary", "uncommitted", "current") if version.get(name)]
