"""Code that is no longer there: the commit that removed it, and the block as it stood before."""

import time
from dataclasses import dataclass
from itertools import islice

from memhub_mcp.domain.revision import ChangeKind, FileChange
from memhub_mcp.repo.lineage import trace
from memhub_mcp.repo.symbols import find_symbols, read_symbols
from memhub_mcp.service.blocks import Lines
from memhub_mcp.service.chains import MOST_VERSIONS, committed_versions, marked
from memhub_mcp.service.tracing import BlockHistory
from memhub_mcp.service.versions import Chain, Version

_LOOKED_AT = 60
_SEARCH_S = 0.6


@dataclass(frozen=True, slots=True)
class Gone:
    """What became of a path or symbol: the chain up to its removal, or the name the file has now."""

    chain: Chain | None = None
    renamed_to: str | None = None


def find_gone(history: BlockHistory, head: str, path: str, symbol: str | None) -> Gone:
    """The last thing that `head`'s history did to `path`, or to `symbol` in it."""
    if history.index is None:
        return Gone()
    place = {sha: number for number, sha in enumerate(history.history.order(head))}
    touching = [sha for sha in history.index.last_touching(path, _LOOKED_AT) if sha in place]
    deadline = time.monotonic() + _SEARCH_S
    for sha in sorted(touching, key=place.__getitem__):  # by descent: several may be of one second
        change = _change(history, sha, path)
        if change is None:
            continue
        if change.kind is ChangeKind.RENAME and change.old_path == path:
            return Gone(renamed_to=change.path)
        if symbol is None and change.kind is not ChangeKind.DELETE:
            return Gone()
        if (chain := _removed(history, sha, path, symbol, change)) is not None:
            return Gone(chain=chain)
        if time.monotonic() > deadline:
            break
    return Gone()


def _change(history: BlockHistory, sha: str, path: str) -> FileChange | None:
    assert history.index is not None
    for change in history.index.changes_of(sha):
        if change.parent == 0 and path in (change.path, change.old_path):
            return change
    return None


def _removed(history: BlockHistory, sha: str, path: str, symbol: str | None, change: FileChange) -> Chain | None:
    """The chain that ended with the commit `sha`; None when it did not remove what is looked for."""
    data = history.contents.data(change.blob_before) if change.blob_before else None
    parents = history.history.parents(sha)
    if data is None or not parents:
        return None
    span: Lines = (0, data.count(b"\n") + 1)
    name = symbol
    if symbol is not None:
        found = find_symbols(read_symbols(path, data).symbols, symbol)
        if not found:
            return None
        span, name = (found[0].start, found[0].end), found[0].name
    revisions = list(islice(trace(history.history, parents[0], change.old_path or path, (span,)), MOST_VERSIONS))
    versions = committed_versions(history, revisions[::-1])
    line = history.commits([sha])[sha]
    before = history.contents.block(change.blob_before or "", (span,))
    versions.append(
        Version(
            kind=ChangeKind.DELETE,
            at=line.at,
            path=path,
            lines=None,
            digest=sha,
            commit=sha,
            before=tuple(before),
            author=line.author,
            subject=line.subject,
        )
    )
    return Chain(path=path, symbol=name, versions=marked(versions), notes=("it is no longer there",))
