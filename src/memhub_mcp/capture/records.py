"""An edit as the spool keeps it: redacted, bounded, ready for JSON. `events.edit_from_json` reads it.

Standard library only, no dataclasses: the hook path imports this.
"""

import hashlib

from memhub_mcp.capture.changes import Change, Hunk, change_between, split_lines
from memhub_mcp.capture.never_stored import is_never_stored
from memhub_mcp.capture.redact import redact

MAX_TEXT_BYTES = 256 << 10
"""What one text of an event may hold; over it only ranges and the hash are kept."""

_MAX_REDACTED = 1 << 20

Hunks = tuple[Hunk, ...]


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
    change: Change,
    circumstances: Circumstances,
    *,
    ordinal: int = 0,
    hash_after: str | None = None,
    withheld: bool = False,
) -> dict[str, object]:
    """The event of one change. Texts are left out when `withheld`, and of files that hold secrets by their name.

    `hash_after` is the git blob id of the file's bytes; it is told from `change.after` when not given.
    """
    change = _as_it_became(change)
    record: dict[str, object] = {
        "event": "edit",
        "tool": circumstances.tool,
        "source": circumstances.source,
        "time": circumstances.time,
        "path": change.path,
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
        "everywhere": change.everywhere or None,
    }
    secret = is_never_stored(change.path) or (change.old_path is not None and is_never_stored(change.old_path))
    if not withheld and not secret:
        record.update(_texts(change))
        if hash_after is None and change.after is not None:
            hash_after = _blob_id_of(change.after)
        record["hash_after"] = hash_after
    kept = {name: value for name, value in record.items() if value is not None}
    return {name: _clean(value) if isinstance(value, str) else value for name, value in kept.items()}


def blob_id(content: bytes) -> str:
    """The id that git gives a file with this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _blob_id_of(text: str) -> str | None:
    """None when it is nothing that a file can hold: half of a character that a host cut in two."""
    try:
        return blob_id(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return None


def _as_it_became(change: Change) -> Change:
    """`change` with ranges that lead to `after`: a formatter may have run since the tool wrote its lines."""
    if change.after is None or not change.hunks or _fits(change.after, change.hunks, 2, change.new_text):
        return change
    before = "" if change.kind == "add" else change.before
    if before is None:
        return change
    whole = change_between(change.path, before, change.after)
    whole.kind, whole.old_path, whole.before = change.kind, change.old_path, change.before
    return whole


def _texts(change: Change) -> dict[str, object]:
    """The texts, redacted. Lines are redacted inside their file, where that is known: a key block is seen whole."""
    after = _redacted(change.after)
    sides = (
        ("old_text", change.old_text, change.before, _redacted(change.before) if change.hunks else None, 0),
        ("new_text", change.new_text, change.after, after, 2),
    )
    texts: dict[str, object] = {"content_after": _bounded(after)}
    for name, text, whole, redacted, side in sides:
        if redacted is not None and whole is not None and _fits(whole, change.hunks, side, text):
            texts[name] = _bounded(_lines_of(redacted, change.hunks, side))
        else:
            texts[name] = _bounded(_redacted(text))
    return texts


def _fits(whole: str, hunks: Hunks, side: int, text: str | None) -> bool:
    return bool(hunks) and text is not None and _lines_of(whole, hunks, side) == text


def _redacted(text: str | None) -> str | None:
    if text is None or "\0" in text or len(text) > _MAX_REDACTED:
        return None
    return redact(_clean(text))


def _lines_of(text: str, hunks: Hunks, side: int) -> str:
    lines = split_lines(text)
    chosen = [lines[hunk[side] - 1 : hunk[side] - 1 + hunk[side + 1]] for hunk in hunks if hunk[side + 1]]
    return "".join(line for part in chosen for line in part)


def _bounded(text: str | None) -> str | None:
    return None if text is None or len(text.encode("utf-8")) > MAX_TEXT_BYTES else text


def _clean(text: str) -> str:
    """`text` with what is no Unicode replaced, so that every store takes it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
