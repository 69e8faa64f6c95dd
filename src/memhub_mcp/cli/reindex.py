"""`memhub-mcp reindex`"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from memhub_mcp.cli.main import INTERRUPTED, REFUSED
from memhub_mcp.cli.opening import opened
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.replies import show_notes
from memhub_mcp.cli.stopping import stopping_softly
from memhub_mcp.cli.terminal import Page, clean, count_of, print_json
from memhub_mcp.service.reindexing import Progress, Rebuilt
from memhub_mcp.store.file import Store

_UNITS = {"memories": " memories", "commits": " commits", "vectors": " vectors"}


def run(words: list[str]) -> int:
    """Makes the words and vectors of this repository and of what follows the person anew."""
    about = "Make words and vectors anew from what is stored. Interrupted, it goes on where it was the next time."
    parser = verb_parser("reindex", about, as_json=True)
    parser.add_argument("--words", action="store_true", help="only what memories and commits are found by in words")
    parser.add_argument("--vectors", action="store_true", help="only what memories are found by in meaning")
    args = parser.parse_args(words)
    both = args.words == args.vectors
    reply: dict[str, dict[str, object]] = {}
    with opened(args) as (hub, caller), stopping_softly() as stopped:
        page = Page(plain=hub.settings.plain)
        scope = hub.scopes.resolve(caller)
        results: list[Rebuilt] = []
        for store in scope.stores():
            with _showing(store) as progress:
                rebuilt = hub.reindexing.rebuild(
                    store,
                    words=both or args.words,
                    vectors=both or args.vectors,
                    progress=progress,
                    stop=stopped.is_set,
                )
            results.append(rebuilt)
            reply[store.workspace.name] = _described(rebuilt)
            if not args.json:
                page.line(f"{clean(store.workspace.name)}: {_told(rebuilt)}")
    if args.json:
        print_json(reply)
    else:
        show_notes(page, scope.notes)
    for why in dict.fromkeys(rebuilt.refused for rebuilt in results if rebuilt.refused):
        print(f"memhub-mcp: no vectors were made: {clean(why)}", file=sys.stderr)
    if not all(rebuilt.complete for rebuilt in results):
        print("memhub-mcp: interrupted; `memhub-mcp reindex` goes on from here", file=sys.stderr)
        return INTERRUPTED
    return REFUSED if any(rebuilt.refused for rebuilt in results) else 0


@contextmanager
def _showing(store: Store) -> Generator[Progress]:
    """Bars on a terminal, one for each kind of work."""
    bars: dict[str, tqdm[Any]] = {}

    def progress(what: str, done: int, total: int) -> None:
        if what not in bars:
            name, unit = store.workspace.name, _UNITS[what]
            bars[what] = tqdm(desc=name, unit=unit, file=sys.stderr, disable=None, leave=False)
        bars[what].total = total
        bars[what].update(done - bars[what].n)

    try:
        yield progress
    finally:
        for bar in bars.values():
            bar.close()


def _told(rebuilt: Rebuilt) -> str:
    words = f"words of {count_of(rebuilt.memories, 'memory')} and {count_of(rebuilt.commits, 'commit')}"
    return f"{words}, vectors of {count_of(rebuilt.vectors, 'memory')}"


def _described(rebuilt: Rebuilt) -> dict[str, object]:
    described: dict[str, object] = {
        "memories": rebuilt.memories,
        "commits": rebuilt.commits,
        "vectors": rebuilt.vectors,
        "complete": rebuilt.complete,
    }
    return {**described, "refused": rebuilt.refused} if rebuilt.refused else described
