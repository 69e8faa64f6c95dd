"""An edit as the spool keeps it: redacted, bounded, ready for JSON. `events.edit_from_json` reads it.

Standard library only, no dataclasses: the hook path imports this.
"""

import hashlib

from memhub_mcp.capture.changes import Change, split_lines
from memhub_mcp.capture.never_stored import is_never_stored
from memhub_mcp.capture.redact import redact

MAX_TEXT_BYTES = 256 << 10
"""What one text of an event may hold; over it only ranges and the hash are kept."""

_MAX_REDACTED_BYTES = 1 << 20


class Circumstances:
    """Who made an edit, where and when, and what was asked for. `time` is ISO 8601 with a zone."""

    __slots__ = ("branch", "cwd", "said", "session", "source", "time", "tool", "tool_call", "turn")

    def __init__(
        self,
        *,
        tool: str,
        source: str,
        time: str,
        session: str | None = None,
        tool_call: str | None = None,
        turn: str | None = None,
        cwd: str | None = None,
        said: str | None = None,
        branch: str | None = None,
    ) -> None:
        self.tool = tool
        self.source = source
        self.time = time
        self.session = session
        self.tool_call = tool_call
        self.turn = turn
        self.cwd = cwd
        self.said = said
        self.branch = branch


def edit_record(
    change: Change, circumstances: Circumstances, *, ordinal: int = 0, hash_after: str | None = None
) -> dict[str, object]:
    """The event of one change. Texts of files that hold secrets by their name are left out.

    `hash_after` is the git blob id of the file's bytes; it is told from `change.after` when not given.
    """
    record: dict[str, object] = {
        "event": "edit",
        "tool": circumstances.tool,
        "source": circumstances.source,
        "time": circumstances.time,
        "path": _clean(change.path),
        "kind": change.kind,
        "ordinal": ordinal,
        "hunks": [list(hunk) for hunk in change.hunks],
        "session": circumstances.session,
        "tool_call": circumstances.tool_call,
        "turn": circumstances.turn,
        "cwd": circumstances.cwd,
        "old_path": change.old_path,
        "said": circumstances.said,
        "branch": circumstances.branch,
    }
    if not is_never_stored(change.path) and not (change.old_path and is_never_stored(change.old_path)):
        record.update(_texts(change))
        if hash_after is None and change.after is not None:
            hash_after = blob_id(change.after.encode("utf-8", "surrogateescape"))
        record["hash_after"] = hash_after
    return {name: value for name, value in record.items() if value is not None}


def blob_id(content: bytes) -> str:
    """The id that git gives a file with this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _texts(change: Change) -> dict[str, object]:
    """The texts, redacted. Lines are redacted inside their file, where that is known: a key block is seen whole."""
    after = _redacted(change.after)
    old_text = _lines_of(_redacted(change.before), change.hunks, 0) if change.hunks else None
    new_text = _lines_of(after, change.hunks, 2) if change.hunks else None
    return {
        "old_text": _bounded(_redacted(change.old_text) if old_text is None else old_text),
        "new_text": _bounded(_redacted(change.new_text) if new_text is None else new_text),
        "content_after": _bounded(after),
    }


def _redacted(text: str | None) -> str | None:
    if text is None or "\0" in text or len(text) > _MAX_REDACTED_BYTES:
        return None
    return redact(_clean(text))


def _lines_of(text: str | None, hunks: tuple[tuple[int, int, int, int], ...], side: int) -> str | None:
    if text is None:
        return None
    lines = split_lines(text)
    chosen = [lines[hunk[side] - 1 : hunk[side] - 1 + hunk[side + 1]] for hunk in hunks if hunk[side + 1]]
    return "".join(line for part in chosen for line in part)


def _bounded(text: str | None) -> str | None:
    return None if text is None or len(text.encode("utf-8")) > MAX_TEXT_BYTES else text


def _clean(text: str) -> str:
    """`text` with what is no Unicode replaced, so that every store takes it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
