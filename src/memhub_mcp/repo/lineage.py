"""The life of a block of code: its lines carried from HEAD back through every difference that led there."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha1
from typing import Protocol

from memhub_mcp.domain.revision import ChangeKind, Hunk, Revision, Spans
from memhub_mcp.repo.spans import carry_back, union


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How one path of a commit differs from one of its parents. `hunks` is None for what has no lines to compare."""

    old_path: str
    blob_before: str | None
    blob_after: str
    hunks: Sequence[Hunk] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where the lines of a block stood before they were moved."""

    path: str
    blob: str
    spans: Spans


class History(Protocol):
    """The commits that lead to a head, however they are kept."""

    def order(self, head: str) -> Iterable[str]:
        """Every commit reachable from `head`, children before parents, one line of development after the other."""
        ...

    def parents(self, sha: str) -> Sequence[str]:
        """The parents of a commit that are here."""
        ...

    def leaves_alone(self, sha: str, path: str) -> bool:
        """Whether there is a first parent, and `path` is the same there."""
        ...

    def step(self, sha: str, number: int, path: str) -> Step | None:
        """How `path` differs from the parent `number`; None when it is the same there."""
        ...

    def origin(self, sha: str, path: str, blob: str, spans: Spans) -> Origin | None:
        """The place from which this commit moved the lines `spans` of `path`; None when it wrote them."""
        ...


def trace(history: History, head: str, path: str, spans: Spans) -> Iterator[Revision]:
    """The revisions of the lines `spans` of `path` as seen from `head`, newest first.

    A merge counts as a revision when the lines differ from every parent's; where one parent has the same lines,
    only that parent is followed.

    Source: git's line-log.c.
    """
    waiting: dict[str, dict[str, Spans]] = {head: {path: union(spans)}}
    for sha in history.order(head):
        blocks = waiting.pop(sha, None)
        if blocks is None:
            continue
        if len(blocks) == 1 and history.leaves_alone(sha, next(iter(blocks))):
            parent = history.parents(sha)[0]
            if parent not in waiting:
                waiting[parent] = blocks  # most commits of a history leave the file alone
                continue
        yield from _commit(history, sha, blocks, waiting)
        if not waiting:
            return


def _commit(
    history: History, sha: str, blocks: dict[str, Spans], waiting: dict[str, dict[str, Spans]]
) -> Iterator[Revision]:
    parents = history.parents(sha)
    if not parents:
        yield from _first(history, sha, blocks)
        return
    passed: list[tuple[str, dict[str, Spans]]] = []
    revisions: list[Revision] = []
    for number, parent in enumerate(parents):
        earlier, changed = _against(history, sha, number, blocks, merge=len(parents) > 1)
        if len(parents) > 1 and not changed:
            passed, revisions = [(parent, earlier)], []
            break
        passed.append((parent, earlier))
        if number == 0:
            revisions = changed
    for parent, earlier in passed:
        known = waiting.setdefault(parent, {})
        for path, spans in earlier.items():
            known[path] = union(known.get(path, ()), spans)
    yield from revisions


def _against(
    history: History, sha: str, number: int, blocks: dict[str, Spans], *, merge: bool
) -> tuple[dict[str, Spans], list[Revision]]:
    """The blocks as they stood in one parent, and the revisions that made the difference."""
    earlier: dict[str, Spans] = {}
    changed: list[Revision] = []
    for path, spans in blocks.items():
        step = history.step(sha, number, path)
        if step is None:
            earlier[path] = union(earlier.get(path, ()), spans)
            continue
        before, touched = carry_back(spans, step.hunks) if step.hunks is not None else ((), True)
        where, blob, kind = step.old_path, step.blob_before, _kind(path, step, before)
        if touched and not before and (origin := history.origin(sha, path, step.blob_after, spans)):
            where, blob, before, kind = origin.path, origin.blob, origin.spans, ChangeKind.MOVE
        if before:
            earlier[where] = union(earlier.get(where, ()), before)
        if touched:
            changed.append(
                Revision(
                    commit=sha,
                    kind=kind,
                    path=path,
                    old_path=where if before else None,
                    blob_before=blob if before else None,
                    blob_after=step.blob_after,
                    before=before,
                    after=spans,
                    merge=merge,
                )
            )
    return earlier, changed


def _first(history: History, sha: str, blocks: dict[str, Spans]) -> Iterator[Revision]:
    for path, spans in blocks.items():
        step = history.step(sha, 0, path)
        if step is not None:
            yield Revision(
                commit=sha,
                kind=ChangeKind.ADD,
                path=path,
                old_path=None,
                blob_before=None,
                blob_after=step.blob_after,
                before=(),
                after=spans,
            )


def _kind(path: str, step: Step, before: Spans) -> ChangeKind:
    if not before:
        return ChangeKind.ADD
    return ChangeKind.MODIFY if step.old_path == path else ChangeKind.RENAME


def order_of(head: str, parents_of: Callable[[str], Sequence[str]]) -> list[str]:
    """Commits reachable from `head`, children before parents, in the order of `git log --topo-order`.

    A merged branch comes before the line it was merged into.
    """
    children = {head: 0}
    unseen = [head]
    while unseen:
        for parent in parents_of(unseen.pop()):
            if parent not in children:
                children[parent] = 0
                unseen.append(parent)
            children[parent] += 1
    ready, out = [head], list[str]()
    while ready:
        sha = ready.pop()
        out.append(sha)
        for parent in parents_of(sha):
            children[parent] -= 1
            if not children[parent]:
                ready.append(parent)
    return out


def block_digest(lines: Iterable[bytes]) -> str:
    """What two texts of a block share when they are the same: blanks at the ends of lines do not count."""
    return sha1(b"\n".join(line.rstrip() for line in lines)).hexdigest()


def returns(digests: Sequence[str]) -> tuple[dict[int, int], dict[int, int]]:
    """Which version is the same as an earlier one, and which versions that undid: each to the version that did it.

    Two equal versions in a row are no return: nothing was in between.
    """
    same_as: dict[int, int] = {}
    reverted_by: dict[int, int] = {}
    latest: dict[str, int] = {}
    for number, digest in enumerate(digests):
        earlier = latest.get(digest)
        if earlier is not None and number - earlier >= 2:
            same_as[number] = earlier
            for undone in range(earlier + 1, number):
                reverted_by.setdefault(undone, number)
        latest[digest] = number
    return same_as, reverted_by
