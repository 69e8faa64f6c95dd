"""Edits of a block: those that reached a commit give it their request, the others are versions of their own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memhub_mcp.domain.revision import ChangeKind, Edit, EditEvent, Hunk, Spans
from memhub_mcp.repo.contents import difference
from memhub_mcp.repo.lineage import block_digest
from memhub_mcp.repo.spans import carry_back, hull
from memhub_mcp.service.blocks import Block
from memhub_mcp.service.tracing import BlockHistory, block_texts
from memhub_mcp.service.versions import Request, Version
from memhub_mcp.store.edits import Edits

MOST_EDITS = 200


class _Texts:
    """The block before and after each of its versions, as text in which only whole lines are found."""

    def __init__(self, history: BlockHistory, block: Block, versions: Sequence[Version]) -> None:
        self._history = history
        self._block = block
        self._versions = tuple(versions)
        self._known: dict[int, tuple[str, str]] = {}

    def first_with(self, event: EditEvent) -> int | None:
        """The first later version that wrote what an edit wrote, when its file then holds that once."""
        pieces = [new for _, _, new in event.pieces()] if event.hunks else [event.new_text or ""]
        written = [_framed(_rows(piece)) for piece in pieces if any(map(str.isalnum, piece))]
        for number, version in enumerate(self._versions):
            if version.at is not None and not _is_later(version, event):
                continue
            before, after = self._around(number)
            here = [piece for piece in written if piece in after and piece not in before]
            if here:
                file = self._file(version)
                return number if any(file.count(piece) == 1 for piece in here) else None
        return None

    def _around(self, number: int) -> tuple[str, str]:
        if number not in self._known:
            before, after = block_texts(self._history, self._versions[number])
            self._known[number] = _framed(before), _framed(after)
        return self._known[number]

    def _file(self, version: Version) -> str:
        revision = version.revision
        data = self._block.data if revision is None else self._history.contents.data(revision.blob_after) or b""
        return _framed(_rows(data.decode("utf-8", "replace")))


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
    One that was overwritten before stays a version of its own, seen from the branch it was made on. Of an edit whose
    file is not known, as some transcripts tell it, only what it wrote is looked for.
    """
    joined = list(versions)
    own: list[Version] = []
    texts = _Texts(history, block, joined)
    for edit in _edits_of(edits, block, versions):
        touch = _touch(history, edit, block, versions)
        if touch is not None:
            place = _commit_of(history, touch, joined)
        elif _content(history, edit.event) is None:
            place = texts.first_with(edit.event)
        else:
            continue
        if place is not None:
            joined[place] = replace(joined[place], requests=(*joined[place].requests, _request(edit)))
        elif touch is not None and (branch is None or edit.branch in (None, branch)):
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


def _touch(history: BlockHistory, edit: Edit, block: Block, versions: Sequence[Version]) -> _Touch | None:
    """What an edit did to the block; None when it did not touch it, or where it was cannot be told."""
    after = _content(history, edit.event)
    if after is None or edit.event.kind is ChangeKind.DELETE:
        return None
    later = next((version for version in versions if _is_later(version, edit.event)), None)
    reference, spans = block.data, block.here
    if later is not None and later.revision is not None:
        reference = history.contents.data(later.revision.blob_after) or b""
        spans = later.revision.after
    hunks = difference(after.encode("utf-8", "replace"), reference)
    pieces = _pieces(edit.event, after)
    if hunks is None or not pieces:
        return None
    there, _ = carry_back(spans, hunks)
    if not there:
        # The block as it is now shares no line with the edit's: a rewrite. Its place is where the rewrite took it from.
        return None
    own_hunks = [hunk for hunk, _, _ in pieces]
    earlier, touched = carry_back(there, own_hunks)
    if not touched:
        return None
    lines = _rows(after)
    before = _before(lines, pieces)
    written = [
        line
        for hunk, _, new in pieces
        if any(hunk.new_start - 1 < end and start < hunk.new_start - 1 + hunk.new_lines for start, end in there)
        for line in _rows(new)
    ]
    return _Touch(
        edit, there, tuple(_cut(before, earlier)), tuple(_cut(lines, there)), tuple(line.strip() for line in written)
    )


def _is_later(version: Version, event: EditEvent) -> bool:
    """Whether a commit may hold an edit; git counts whole seconds only."""
    return version.at is not None and version.at >= event.time.replace(microsecond=0)


def _content(history: BlockHistory, event: EditEvent) -> str | None:
    if event.content_after is not None:
        return event.content_after
    data = history.contents.data(event.hash_after) if event.hash_after else None
    return data.decode("utf-8", "replace") if data is not None else None


def _pieces(event: EditEvent, after: str) -> list[tuple[Hunk, str, str]]:
    """The hunks with their texts; a replacement whose place is not told is looked for, and must be there once."""
    if event.hunks:
        return event.pieces()
    new = event.new_text or ""
    if event.kind is ChangeKind.ADD:
        return [(Hunk(0, 0, 1, len(_rows(after))), "", after)]
    if not new.strip() or after.count(new) != 1:
        return []
    first = after[: after.index(new)].count("\n")
    lines = len(_rows(after[: after.index(new) + len(new)])) - first
    old = _rows(event.old_text or "")
    whole = "\n".join(_rows(after)[first : first + lines])
    return [(Hunk(first + 1, len(old), first + 1, lines), event.old_text or "", whole)]


def _before(after: Sequence[str], pieces: Iterable[tuple[Hunk, str, str]]) -> list[str]:
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


def _framed(rows: Iterable[str]) -> str:
    return "".join(f"\n{row}\r" for row in rows)


def _cut(lines: Sequence[str], spans: Spans) -> list[str]:
    return [line for start, end in spans for line in lines[start:end]]
