"""`memhub-mcp import FILE`"""

from pathlib import Path

from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.replies import show_notes
from memhub_mcp.cli.terminal import Page, count_of, print_json


def run(words: list[str]) -> int:
    """Takes the edits of a session that an assistant kept on disk into this repository's memory, each once."""
    parser = verb_parser("import", "Take the edits of a session file into this repository's memory.", as_json=True)
    parser.add_argument("file", type=Path, help="the session file, as the assistant wrote it")
    parser.add_argument("--source", metavar="HOST", help="the assistant, when the file does not say it")
    args = parser.parse_args(words)
    with opened(args) as (hub, caller):
        reply = hub.importing.import_file(caller, hub.settings.cwd / args.file, source=args.source)
    if args.json:
        print_json(reply)
        return 0
    page = Page()
    page.line(f"{count_of(reply['edits'], 'edit')} of {reply['source']} imported")
    for name, text in (
        ("known", "known already"),
        ("outside", "outside this repository, left out"),
        ("failed", "failed in the session, left out"),
    ):
        if name in reply:
            page.line(page.mark(f"{reply[name]} {text}", "dim"))
    show_notes(page, reply.get("notes", ()))
    return 0
