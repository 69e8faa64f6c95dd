"""The chain of a block: its versions from commits, from edits and from the working tree, oldest first."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from memhub_mcp.domain.revision import ChangeKind, Revision, Spans
from memhub_mcp.repo.lineage import block_digest, returns, trace
from memhub_mcp.repo.spans import hull
from memhub_mcp.service.blocks import Block
from memhub_mcp.service.edit_versions import join_edits
from memhub_mcp.service.tracing import BlockHistory, block_texts
from memhub_mcp.service.versions import Chain, Version
from memhub_mcp.store.commits import ERASED
from memhub_mcp.store.edits import Edits

MOST_VERSIONS = 1_000


def build_chain(
    history: BlockHistory, head: str, block: Block, *, edits: Edits | None = None, branch: str | None = None
) -> Chain:
    """The chain of `block` as seen from `head`, the working tree last when it differs.

    `edits` give commits their requests and add what never reached one; `branch` hides those of other branches.
    """
    revisions = (
        list(islice(trace(history.history, head, block.path, block.spans), MOST_VERSIONS)) if block.spans else []
    )
    notes = [f"only the latest {MOST_VERSIONS} versions were followed"] if len(revisions) == MOST_VERSIONS else []
    versions = committed_versions(history, revisions[::-1])
    if block.edited or (block.text is not None and not versions):
        versions.append(_working(history, block, versions))
    elif versions:
        versions[-1] = replace(versions[-1], current=True)
    if edits is not None:
        versions = join_edits(history, edits, block, versions, branch)
    return Chain(path=block.path, symbol=block.symbol, versions=marked(versions), notes=tuple(notes))


def committed_versions(history: BlockHistory, revisions: Sequence[Revision]) -> list[Version]:
    """Versions of commits, in the order given."""
    lines = history.commits(revision.commit for revision in revisions)
    out: list[Version] = []
    for revision in revisions:
        line = lines[revision.commit]
        out.append(
            Version(
                kind=revision.kind,
                at=line.at,
                path=revision.path,
                lines=_numbered(revision.after),
                digest=block_digest(history.contents.rows(revision.blob_after, revision.after)),
                commit=revision.commit,
                revision=revision,
                author=line.author,
                subject=line.subject,
                withheld=line.note == ERASED,
            )
        )
    return out


def marked(versions: Iterable[Version]) -> tuple[Version, ...]:
    """The versions with what they return to and what undid them."""
    ordered = list(versions)
    same_as, reverted_by = returns([version.digest for version in ordered])
    return tuple(
        replace(version, same_as=same_as.get(number), reverted_by=reverted_by.get(number))
        for number, version in enumerate(ordered)
    )


def file_chain(history: BlockHistory, head: str, path: str) -> Chain | None:
    """The commits that changed a file whose contents are not compared: binary, or too large."""
    if history.index is None:
        return None
    changes = history.index.changes_at(path)
    touching = [sha for sha in history.history.order(head) if sha in changes][:MOST_VERSIONS][::-1]
    lines = history.commits(touching)
    versions = [
        Version(
            kind=changes[sha][0].kind,
            at=lines[sha].at,
            path=path,
            lines=None,
            digest=changes[sha][0].blob_after or sha,
            commit=sha,
            author=lines[sha].author,
            subject=lines[sha].subject,
            current=sha == touching[-1],
        )
        for sha in touching
    ]
    note = "its contents are binary or too large to be compared; only commits are listed"
    return Chain(path=path, symbol=None, versions=marked(versions), notes=(note,)) if versions else None


def only_edits(chain: Chain) -> Chain:
    """The chain of a file that is nowhere now: what edits made of it, none of it current."""
    versions = (replace(version, current=False) for version in chain.versions if version.requests)
    note = "the file is neither committed nor in the working tree; it is known from edits alone"
    return replace(chain, versions=tuple(versions), notes=(*chain.notes, note))


def _working(history: BlockHistory, block: Block, versions: Sequence[Version]) -> Version:
    """The block as the working tree has it and no commit does."""
    before = block_texts(history, versions[-1])[1] if versions else ()
    text = block.text or ()
    return Version(
        kind=ChangeKind.MODIFY if versions else ChangeKind.ADD,
        at=None,
        path=block.path,
        lines=_numbered(block.here),
        digest=block_digest(line.encode() for line in text),
        before=tuple(before),
        after=text,
        current=True,
        uncommitted=True,
    )


def _numbered(spans: Spans) -> tuple[int, int] | None:
    if not spans:
        return None
    first, last = hull(spans)
    return first + 1, last
