"""Commits, their changes, and edits made in a session."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice


class ChangeKind(StrEnum):
    """What happened to a path; `move`: to a block whose lines came from another place."""

    ADD = "add"
    MODIFY = "modify"
    DELETE = "delete"
    RENAME = "rename"
    COPY = "copy"
    MODE = "mode"
    MOVE = "move"


@dataclass(frozen=True, slots=True)
class Hunk:
    """A changed range without context lines. Starts count from 1; a length of 0 is a pure insertion or deletion."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One path in one commit, against the commit's parent number `parent`. Blobs are hex ids or None.

    Undecodable path bytes stand as `\\xNN`.
    """

    path: str
    old_path: str | None
    kind: ChangeKind
    blob_before: str | None
    blob_after: str | None
    binary: bool = False
    hunks: tuple[Hunk, ...] = ()
    parent: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit as the index keeps it. `message` and `patch` are redacted.

    `patch_id` is that of the zero-context diff to the first parent, hex, None for merges and empty diffs.
    `note` says honestly what was left out (a patch over its limit, exact renames only, a missing parent).
    """

    sha: str
    parents: tuple[str, ...]
    author: str
    authored_at: datetime
    committed_at: datetime
    message: str
    patch_id: str | None
    changes: tuple[FileChange, ...]
    patch: str
    note: str | None = None

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]


@dataclass(frozen=True, slots=True)
class CommitLine:
    """A commit as a list shows it. Redacted; `note` as in `Commit`."""

    author: str
    at: datetime
    message: str
    note: str | None = None

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]


Span = tuple[int, int]
"""A half-open interval of lines, counted from 0."""

Spans = tuple[Span, ...]
"""Intervals of one text: sorted, not empty, not touching."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One change to one block of code: its lines before and after a commit.

    `before` is empty when the block was added here. Against a merge, `before` is that of the first parent.
    `kind` is add, modify, rename (the file was renamed as well) or move (the lines came from elsewhere).
    """

    commit: str
    kind: ChangeKind
    path: str
    old_path: str | None
    blob_before: str | None
    blob_after: str
    before: Spans
    after: Spans
    merge: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EditEvent:
    """One successful change to one file, as a hook or a transcript reported it. Redacted before it is spooled.

    With `hunks`, `old_text` and `new_text` are the lines of those ranges, one hunk after another (see `pieces`).
    Without, or with hunks that start nowhere, they are what was replaced and by what, whose place in the file is not
    known (see `replacements`), `everywhere` when each place that held the old text was replaced.
    `content_after` is what the file was afterwards (≤ 256 KiB, else None and only `hash_after`, its git blob id).
    `ordinal` counts the events of one tool call; `turn` is the host's name for the exchange the edit belongs to.
    `said` is the human request behind it. `branch` is what the host says was checked out; hooks do not say it.
    """

    tool: str
    path: str
    source: str
    session: str | None
    tool_call: str | None
    time: datetime
    kind: ChangeKind = ChangeKind.MODIFY
    hunks: tuple[Hunk, ...] = ()
    ordinal: int = 0
    turn: str | None = None
    cwd: str | None = None
    old_text: str | None = None
    new_text: str | None = None
    content_after: str | None = None
    hash_after: str | None = None
    old_path: str | None = None
    said: str | None = None
    branch: str | None = None
    everywhere: bool = False

    @property
    def is_placed(self) -> bool:
        """Whether the report tells where in the file the edit was."""
        return any(hunk.old_start or hunk.new_start for hunk in self.hunks)

    def replacements(self) -> list[tuple[str, str]]:
        """What was replaced and by what, one after another, when the place is not known."""
        old, new = self.old_text or "", self.new_text or ""
        if not self.hunks:
            return [(old, new)]
        old_rows, new_rows = iter(old.split("\n")), iter(new.split("\n"))
        return [
            ("\n".join(islice(old_rows, hunk.old_lines)), "\n".join(islice(new_rows, hunk.new_lines)))
            for hunk in self.hunks
        ]

    def pieces(self) -> list[tuple[Hunk, str, str]]:
        """Each hunk with the lines it took away and the lines it put there; empty when no place is known."""
        if not self.is_placed:
            return []
        old = _split_lines(self.old_text or "")
        new = _split_lines(self.new_text or "")
        found: list[tuple[Hunk, str, str]] = []
        old_at = new_at = 0
        for hunk in self.hunks:
            old_end, new_end = old_at + hunk.old_lines, new_at + hunk.new_lines
            found.append((hunk, "".join(old[old_at:old_end]), "".join(new[new_at:new_end])))
            old_at, new_at = old_end, new_end
        return found


def _split_lines(text: str) -> list[str]:
    """Lines with their ends, split at `\n` only, as git counts them."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A drained edit. `session` is our id of the session, `head` the commit that was checked out."""

    id: str
    event: EditEvent
    session: str | None
    branch: str | None
    head: str | None
    generation: int
