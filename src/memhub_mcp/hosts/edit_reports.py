"""What a host's hook says about a tool call, as events for the spool: redacted, within limits, one for each file.

Standard library only: the hook path imports this.
"""

import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from typing import Any, cast

from memhub_mcp.capture.changes import Change
from memhub_mcp.capture.edits import changes_of
from memhub_mcp.capture.never_stored import is_never_stored
from memhub_mcp.capture.redact import redact

LARGEST_TEXT = 256 << 10
_LARGEST_FILE = 1 << 20
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def edits_in(payload: Mapping[str, Any]) -> list[Change]:
    """What the tool call behind an after-edit event changed; paths are absolute."""
    folder = folder_of(payload) or os.getcwd()

    def read(path: str) -> str | None:
        content = _content(os.path.join(folder, path))
        try:
            return None if content is None else content.decode("utf-8")
        except UnicodeDecodeError:
            return None

    tool = tool_of(payload)
    given = payload.get("tool_input", payload)
    changes = changes_of(tool, given, payload.get("tool_response"), read)
    for change in changes:
        change.path = os.path.abspath(os.path.join(folder, change.path))
        if change.old_path:
            change.old_path = os.path.abspath(os.path.join(folder, change.old_path))
    return changes


def events_of(
    payload: Mapping[str, Any], changes: list[Change], source: str, said: str | None
) -> Iterator[dict[str, Any]]:
    """The spool events of one tool call."""
    now = time.time()
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1e6):06d}+00:00"
    for ordinal, change in enumerate(changes):
        event = {
            "event": "edit",
            "tool": tool_of(payload),
            "path": change.path,
            "old_path": change.old_path,
            "source": source,
            "session": session_of(payload),
            "tool_call": text_in(payload, "tool_use_id", "tool_call_id", "call_id"),
            "turn": turn_of(payload),
            "cwd": folder_of(payload),
            "time": moment,
            "kind": change.kind,
            "ordinal": ordinal,
            "said": said,
            **_texts(change),
        }
        yield {name: value for name, value in event.items() if value is not None}


def tool_of(payload: Mapping[str, Any]) -> str:
    """The tool that was called; Cursor names the event instead."""
    return text_in(payload, "tool_name", "hook_event_name") or "unknown"


def session_of(payload: Mapping[str, Any]) -> str | None:
    """The host's name for the conversation."""
    return text_in(payload, "session_id", "conversation_id")


def turn_of(payload: Mapping[str, Any]) -> str | None:
    """The host's name for the exchange: one request and what followed from it."""
    return text_in(payload, "prompt_id", "turn_id", "generation_id")


def folder_of(payload: Mapping[str, Any]) -> str | None:
    """Where the assistant works."""
    found = text_in(payload, "cwd")
    roots = payload.get("workspace_roots")
    if found is None and isinstance(roots, list) and roots:
        first = cast("list[Any]", roots)[0]
        found = first if isinstance(first, str) else None
    return found


def text_in(payload: Mapping[str, Any], *names: str) -> str | None:
    """The first of `names` that holds a text that is not empty."""
    return next((value for name in names if isinstance(value := payload.get(name), str) and value), None)


def _texts(change: Change) -> dict[str, Any]:
    """What was there, what is there, and the file afterwards."""
    if is_never_stored(change.path) or (change.old_path and is_never_stored(change.old_path)):
        return {}
    found: dict[str, Any] = {}
    pieces = (change.old_text, change.new_text)
    if all(text is None or len(text) <= LARGEST_TEXT for text in pieces):
        found["old_text"], found["new_text"] = (None if text is None else redact(text) for text in pieces)
        if change.hunks:
            found["hunks"] = [list(hunk) for hunk in change.hunks]
    content = None if change.kind == "delete" else _content(change.path)
    if content is None:
        return found
    found["hash_after"] = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    if len(content) <= LARGEST_TEXT and b"\0" not in content:
        found["content_after"] = redact(content.decode("utf-8", "surrogateescape"))
    return found


def _content(path: str) -> bytes | None:
    """The bytes of a regular file that is not too large; None for anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _NO_FOLLOW)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _LARGEST_FILE:
            return None
        return file.read(_LARGEST_FILE)
