"""What a host's hook says about a tool call, as events for the spool: redacted, within limits, one for each file.

Standard library only: the hook path imports this.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from memhub_mcp.capture.changes import Change
from memhub_mcp.capture.edits import changes_of
from memhub_mcp.capture.records import Circumstances, blob_id, edit_record

_LARGEST_FILE = 1 << 20
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def edits_in(payload: Mapping[str, Any]) -> list[Change]:
    """What the tool call behind an after-edit event changed; paths are absolute, and those of the files themselves."""
    folder = folder_of(payload) or os.getcwd()

    def placed(path: str) -> str:
        return os.path.realpath(os.path.join(folder, path))  # what is written by way of a link is written there

    def read(path: str) -> str | None:
        content = content_of(placed(path))
        try:
            return None if content is None else content.decode("utf-8")
        except UnicodeDecodeError:
            return None

    tool = tool_of(payload)
    given = payload.get("tool_input", payload)
    changes = changes_of(tool, given, payload.get("tool_response"), read)
    for change in changes:
        change.path = placed(change.path)
        if change.old_path:
            change.old_path = placed(change.old_path)
    return changes


def events_of(
    payload: Mapping[str, Any],
    changes: list[Change],
    source: str,
    said: str | None,
    withheld: Callable[[Change], bool],
) -> Iterator[dict[str, object]]:
    """The spool events of one tool call, each with the file as it is now unless its content is withheld."""
    now = time.time()
    circumstances = Circumstances(
        tool=tool_of(payload),
        source=source,
        time=time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1e6):06d}+00:00",
        session=session_of(payload),
        # Where Qwen gives both, the second is the one in its transcript.
        tool_call=text_in(payload, "tool_call_id", "tool_use_id", "call_id"),
        turn=turn_of(payload),
        cwd=folder_of(payload),
        said=said,
    )
    for ordinal, change in enumerate(changes):
        hidden = withheld(change)
        content = None if hidden or change.kind == "delete" else content_of(change.path)
        change.after = None if content is None else content.decode("utf-8", "replace")
        yield edit_record(
            change,
            circumstances,
            ordinal=ordinal,
            hash_after=None if content is None else blob_id(content),
            withheld=hidden,
        )


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


def content_of(path: str) -> bytes | None:
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
