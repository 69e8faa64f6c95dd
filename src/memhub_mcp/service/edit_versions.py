"""Edits of a block: those that reached a commit give it their request, the others are versions of their own."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from memhub_mcp.domain.revision import ChangeKind, Edit, EditEvent, Spans
from memhub_mcp.repo.contents import difference
from memhub_mcp.repo.lineage import block_digest
from memhub_mcp.repo.spans import carry_back, hull
from memhub_mcp.service.blocks import Block
from memhub_mcp.service.edit_places import Piece, PlacedEdit, place_edits, plain
from memhub_mcp.service.tracing import BlockHistory
from memhub_mcp.service.versions import Request, Version
from memhub_mcp.store.edits import Edits

MOST_EDITS = 200


@dataclass(frozen=True, slots=True)
class _Touch:
    """An edit that touched the block: the block before and after, and the lines it wrote into it."""

    edit: Edit
    spans: Spans
    before: tuple[str, ...]
    after: tuple[str, ...]
    written: tuple[str, ...]

    @property
    def digest(self) -> str:
        return block_digest(line.encode("utf-8", "replace") for line in self.after)


def join_edits(
    history: BlockHistory, edits: Edits, block: Block, versions: Sequence[Version], branch: str | None
) -> list[Version]:
    """`versions` (oldest first) with the requests behind them, and the edits that no commit holds between them.

    An edit belongs to the first later commit whose block is what the edit left, or that holds every line it wrote.
    One that was overwritten before stays a version of its own, seen from the branch it was made on.
    """
    joined = list(versions)
    own: list[Version] = []
    for touch in _touches(history, _edits_of(edits, block, versions), block, versions):
        edit = touch.edit
        place = _commit_of(history, touch, joined)
        if place is not None:
            joined[place] = replace(joined[place], requests=(*joined[place].requests, _request(edit)))
        elif branch is None or edit.branch in (None, branch):
            own.append(_own(touch, branch))
    out: list[Version] = []
    for version in joined:
        if version.at is None:  # the working tree: it may be what the last edit left
            if own and own[-1].digest == version.digest:
                version = replace(own.pop(), current=version.current, lines=version.lines)
            out += own
            own = []
        while own and version.at is not None and own[0].at is not None and own[0].at <= version.at:
            out.append(own.pop(0))
        out.append(version)
    return out + own


def _edits_of(edits: Edits, block: Block, versions: Sequence[Version]) -> list[Edit]:
    paths = dict.fromkeys([block.path, *(version.path for version in versions)])
    found = {edit.id: edit for path in paths for edit in edits.by_path(path, MOST_EDITS)}
    return sorted(found.values(), key=lambda edit: (edit.event.time, edit.generation))


def _touches(
    history: BlockHistory, edits: Iterable[Edit], block: Block, versions: Sequence[Version]
) -> Iterator[_Touch]:
    """What each edit did to the block; those that did not touch it, or whose place cannot be told, are left out."""

    def later(edit: Edit) -> int:
        """The number of the first version that may hold an edit."""
        return next((number for number, each in enumerate(versions) if _is_later(each, edit.event)), len(versions))

    for number, group in groupby(edits, key=later):
        told = [(edit, _content(history, edit.event)) for edit in group]
        is_needed = any(content is None or not edit.event.is_placed for edit, content in told)
        revision = versions[number].revision if number < len(versions) else None
        if revision is not None:
            after, spans = history.contents.data(revision.blob_after), revision.after
        else:
            after, spans = block.data, block.here
        if is_needed:
            blob = revision.blob_before if revision else history.walked.blob(history.head, block.path)
            placed = place_edits(told, _text(history.contents.data(blob) if blob else None), _text(after))
        else:
            placed = place_edits(told, None, None)
        reference = (after or b"").replace(b"\r\n", b"\n")
        for edit in _once(placed):
            touch = _touch(edit, reference, spans)
            if touch is not None:
                yield touch


def _once(placed: Sequence[PlacedEdit]) -> Iterator[PlacedEdit]:
    """The edits without those that a hook reported as well, which did not name the call."""
    reported = Counter(map(_effect, (each for each in placed if each.is_told and not each.edit.event.tool_call)))
    for each in placed:
        if not each.is_told and reported[effect := _effect(each)]:
            reported[effect] -= 1
        else:
            yield each


def _effect(placed: PlacedEdit) -> tuple[object, ...]:
    event = placed.edit.event
    return event.source, event.session, event.path, *((old, new) for _, old, new in placed.pieces)


def _touch(placed: PlacedEdit, reference: bytes, spans: Spans) -> _Touch | None:
    """What an edit did to the block, which has the lines `spans` in `reference`; None when it did not touch it."""
    hunks = difference(placed.after.encode("utf-8", "replace"), reference)
    if hunks is None:
        return None
    there, _ = carry_back(spans, hunks)
    if not there:
        # The block as it is now shares no line with the edit's: a rewrite. Its place is where the rewrite took it from.
        return None
    earlier, touched = carry_back(there, [hunk for hunk, _, _ in placed.pieces])
    if not touched:
        return None
    lines = _rows(placed.after)
    before = _before(lines, placed.pieces)
    written = [
        line
        for hunk, _, new in placed.pieces
        if any(hunk.new_start - 1 < end and start < hunk.new_start - 1 + hunk.new_lines for start, end in there)
        for line in _rows(new)
    ]
    return _Touch(
        placed.edit, there, tuple(_cut(before, earlier)), tuple(_cut(lines, there)), tuple(map(str.strip, written))
    )


def _is_later(version: Version, event: EditEvent) -> bool:
    """Whether a commit may hold an edit; git counts whole seconds only."""
    return version.at is not None and version.at >= event.time.replace(microsecond=0)


def _text(data: bytes | None) -> str | None:
    return None if data is None else plain(data.decode("utf-8", "replace"))


def _content(history: BlockHistory, event: EditEvent) -> str | None:
    if event.content_after is not None:
        return event.content_after
    data = history.contents.data(event.hash_after) if event.hash_after else None
    return data.decode("utf-8", "replace") if data is not None else None


def _before(after: Sequence[str], pieces: Iterable[Piece]) -> list[str]:
    """The file as it was: the hunks undone, the last one first."""
    lines = list(after)
    for hunk, old, _ in sorted(pieces, key=lambda piece: -piece[0].new_start):
        start = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
        lines[start : start + hunk.new_lines] = _rows(old)
    return lines


def _commit_of(history: BlockHistory, touch: _Touch, versions: Sequence[Version]) -> int | None:
    """The version of the commit that holds an edit."""
    event = touch.edit.event
    later = [
        number for number, version in enumerate(versions) if version.revision is not None and _is_later(version, event)
    ]
    for number in later:
        revision = versions[number].revision
        if touch.digest == versions[number].digest or (revision and revision.blob_after == event.hash_after):
            return number
    if not later:
        return None
    revision = versions[later[0]].revision
    assert revision is not None
    held = {line.strip() for line in history.contents.block(revision.blob_after, revision.after)}
    telling = [line for line in touch.written if any(map(str.isalnum, line))]
    if telling:
        return later[0] if held.issuperset(telling) else None
    removed = [line.strip() for line in touch.before if line not in touch.after and line.strip()]
    return later[0] if removed and held.isdisjoint(removed) else None


def _own(touch: _Touch, branch: str | None) -> Version:
    event = touch.edit.event
    first, last = hull(touch.spans)
    return Version(
        kind=ChangeKind.MODIFY if touch.before else ChangeKind.ADD,
        at=event.time,
        path=event.path,
        lines=(first + 1, last),
        digest=touch.digest,
        before=touch.before,
        after=touch.after,
        requests=(_request(touch.edit),),
        branch=touch.edit.branch if touch.edit.branch != branch else None,
        uncommitted=True,
    )


def _request(edit: Edit) -> Request:
    event = edit.event
    return Request(source=event.source, said=event.said, at=event.time, session=edit.session, edit=edit.id)


def _rows(text: str) -> list[str]:
    rows = text.split("\n")
    if rows and not rows[-1]:
        rows.pop()
    return [row.removesuffix("\r") for row in rows]


def _cut(lines: Sequence[str], spans: Spans) -> list[str]:
    return [line for start, end in spans for line in lines[start:end]]
