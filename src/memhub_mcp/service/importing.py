"""A conversation that an assistant kept on disk becomes edits of the current workspace, each once."""

import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from memhub_mcp.capture.transcripts.conversation import Conversation, Tally
from memhub_mcp.capture.transcripts.reading import read_transcript, source_of
from memhub_mcp.domain.replies import ImportReply
from memhub_mcp.domain.revision import EditEvent
from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import InvalidInput, NotFound
from memhub_mcp.service.blocks import plain_path
from memhub_mcp.service.edits import identity
from memhub_mcp.service.scope import Scope, Scopes
from memhub_mcp.store.file import Store

_BATCH = 50  # edits stored in one transaction
_DRIVE = re.compile(r"^([A-Za-z]):/")


class Importing:
    """Reads transcripts of every host we know."""

    def __init__(self, *, scopes: Scopes) -> None:
        self._scopes = scopes

    def import_file(self, caller: Caller, file: Path, *, source: str | None = None) -> ImportReply:
        """Keep the successful edits of a transcript. Importing again adds nothing.

        A path under the session's own folder becomes relative to it; what lies elsewhere is left out and counted.

        Raises:
            InvalidInput: the file is of no known kind, or cannot be read. NotFound: no repository is here.
        """
        scope = self._scopes.resolve(caller)
        if scope.store is None or scope.checkout is None:
            raise NotFound("there is no git repository here; stand in the one that the session worked on")
        tally = Tally()
        try:
            host = source or source_of(file)
            events = [] if host is None else _placed(read_transcript(file, tally, source=host), scope.checkout.root)
            reply = ImportReply(source=host or "", edits=0, scope=scope.reply())
            outside = _keep_all(scope, scope.store, events, reply)
        except OSError as error:
            raise InvalidInput(f"{file} cannot be read: {error.strerror or error}") from error
        if host is None:
            raise InvalidInput(f"{file} is no transcript that is known here; give the session file itself")
        if outside:
            reply["outside"] = outside
        if tally.failed:
            reply["failed"] = tally.failed
        notes = list(scope.notes)
        if tally.damaged:
            notes.append(f"{tally.damaged} of {tally.lines} lines could not be understood")
        if notes:
            reply["notes"] = notes
        return reply


def _placed(records: Iterable[object], root: Path) -> Iterator[EditEvent | None]:
    """The edits with paths relative to the repository; None for one that is not in it."""
    folder: str | None = None
    for record in records:
        if isinstance(record, Conversation):
            folder = record.cwd
        elif isinstance(record, EditEvent):
            path = _inside(record.path, record.cwd or folder, root)
            old_path = _inside(record.old_path, record.cwd or folder, root) if record.old_path else None
            yield None if path is None else replace(record, path=path, old_path=old_path)


def _inside(path: str, folder: str | None, root: Path) -> str | None:
    """A path that a transcript claims, relative to the repository; None when it lies outside.

    A session in a folder of this repository is read as it is; one of another machine, or of a folder that is gone,
    is taken to have stood at the root.
    """
    text = _plain(path)
    bases = [root.as_posix()]
    if folder is not None and not _is_under(_plain(folder), bases[0]):
        bases.append(_plain(folder))
    if not (text.startswith("/") or _DRIVE.match(text)):
        text = f"{_plain(folder or bases[0]).rstrip('/')}/{text}"
    for base in bases:
        if _is_under(text, base):
            try:
                return plain_path(root, text[len(base.rstrip("/")) + 1 :])
            except InvalidInput:
                return None
    return None


def _plain(path: str) -> str:
    text = path.replace("\\", "/") if _DRIVE.match(path.replace("\\", "/")) else path
    return _DRIVE.sub(lambda drive: f"{drive[1].lower()}:/", text)


def _is_under(path: str, folder: str) -> bool:
    return path.startswith(f"{folder.rstrip('/')}/") or path == folder


def _keep_all(scope: Scope, store: Store, events: Iterable[EditEvent | None], reply: ImportReply) -> int:
    """Stores the edits and counts them in `reply`; how many lay outside."""
    outside = known = 0
    waiting = iter(events)
    while batch := list(islice(waiting, _BATCH)):
        inside = [event for event in batch if event is not None]
        outside += len(batch) - len(inside)
        with store.write() as tx:
            for event in inside:
                session = None
                if event.session is not None:
                    session = store.sessions.ensure(tx, event.source, event.session, event.time, event.branch, None).id
                added = store.edits.add(
                    tx,
                    event,
                    id=f"e_{secrets.token_hex(6)}",
                    identity=identity(event),
                    branch=event.branch,
                    head=None,
                    session=session,
                )
                reply["edits"] += added
                known += not added
    if known:
        reply["known"] = known
    return outside
