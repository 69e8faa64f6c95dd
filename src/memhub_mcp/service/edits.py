"""A captured edit becomes a row of the repository of the edited file."""

import hashlib
import os
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from memhub_mcp.capture.withheld import Withheld, is_gits_own
from memhub_mcp.domain.revision import EditEvent
from memhub_mcp.service.capturing import Capturing
from memhub_mcp.service.scope import Scope
from memhub_mcp.service.withheld import withheld_in


class FileScopes(Protocol):
    """Who knows which scope a file belongs to."""

    def of_file(self, file: Path) -> Scope | None:
        """The scope of the file's repository; None outside any."""
        ...


def record_edit(scopes: FileScopes, capturing: Capturing, event: EditEvent) -> bool:
    """Keep `event` in the store of the repository its file is in.

    False when it is known, outside any repository or among git's own files, or made while nothing was to be recorded
    there: a hook may not have known, in a checkout that nobody saw before.

    Raises:
        StoreError: the store cannot be written now; the event must be kept for later.
    """
    file = _placed(event.cwd, event.path)
    scope = scopes.of_file(file)
    if scope is None or scope.store is None or scope.checkout is None or not file.is_relative_to(scope.checkout.root):
        return False
    root = scope.checkout.root
    if is_gits_own(file.relative_to(root).as_posix()):
        return False
    if scope.workspace is not None and capturing.silences(scope.workspace).hold(event.time):
        capturing.publish({str(root): scope.workspace})
        return False
    before = _placed(event.cwd, event.old_path) if event.old_path else None
    placed = replace(
        event,
        path=file.relative_to(root).as_posix(),
        old_path=before.relative_to(root).as_posix() if before and before.is_relative_to(root) else event.old_path,
    )
    kept = without_texts(placed) if is_withheld(placed, withheld_in(scope.checkout)) else placed
    branch = event.branch or scope.checkout.branch
    with scope.store.write() as tx:
        session = None
        if event.session is not None:
            session = scope.store.sessions.ensure(
                tx, event.source, event.session, event.time, branch, scope.checkout.head
            ).id
        return scope.store.edits.add(
            tx,
            kept,
            id=f"e_{secrets.token_hex(6)}",
            identity=identity(placed),
            branch=branch,
            head=scope.checkout.head,
            session=session,
        )


def _placed(folder: str | None, path: str) -> Path:
    """A path where it really is: the folders on the way to it may be links."""
    whole = Path(folder or "/", path)
    return Path(os.path.realpath(whole.parent), whole.name)


def is_withheld(event: EditEvent, withheld: Withheld) -> bool:
    """Whether the texts of an edit are not to be kept, by its path now or before."""
    return withheld.holds(event.path) or (event.old_path is not None and withheld.holds(event.old_path))


def without_texts(event: EditEvent) -> EditEvent:
    """The edit with its path and the sizes of its hunks alone."""
    return replace(event, old_text=None, new_text=None, content_after=None, hash_after=None)


def identity(event: EditEvent) -> bytes:
    """What makes two reports of one edit the same: the tool call, else everything the edit was. 32 bytes."""
    if event.tool_call is not None:
        parts = ("call", event.source, event.tool_call, event.path, str(event.ordinal))
    else:
        parts = (
            "edit",
            event.session or "",
            event.turn or "",
            event.path,
            event.old_text or "",
            event.new_text or event.hash_after or "",
            str(event.ordinal),
        )
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).digest()
