"""A captured edit becomes a row of the repository of the edited file."""

import hashlib
import secrets
from dataclasses import replace
from pathlib import Path

from memhub_mcp.domain.revision import EditEvent
from memhub_mcp.service.scope import Scopes


def record_edit(scopes: Scopes, event: EditEvent) -> bool:
    """Keep `event` in the store of the repository its file is in. False when it is known, or outside any repository.

    Raises:
        StoreError: the store cannot be written now; the event must be kept for later.
    """
    file = Path(event.cwd or "/", event.path)
    scope = scopes.of_file(file)
    if scope is None or scope.store is None or scope.checkout is None or not file.is_relative_to(scope.checkout.root):
        return False
    placed = replace(event, path=file.relative_to(scope.checkout.root).as_posix())
    with scope.store.write() as tx:
        session = None
        if event.session is not None:
            session = scope.store.sessions.ensure(
                tx, event.source, event.session, event.time, scope.checkout.branch, scope.checkout.head
            ).id
        return scope.store.edits.add(
            tx,
            placed,
            id=f"e_{secrets.token_hex(6)}",
            identity=identity(placed),
            branch=scope.checkout.branch,
            head=scope.checkout.head,
            session=session,
        )


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
