"""Cursor: the editor's conversations in `globalStorage/state.vscdb`, the agent's in `agent-transcripts/**/*.jsonl`."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from memhub_mcp.capture.edits import is_edit_tool
from memhub_mcp.capture.transcripts.conversation import Conversation, Record, Speaking, Tally, moment
from memhub_mcp.capture.transcripts.lines import (
    Fields,
    changed_at,
    fields_in,
    items_in,
    json_lines,
    string_in,
    text_of,
)

SOURCE = "cursor"

_COMPOSERS = "SELECT value FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY rowid"
_BUBBLE = "SELECT value FROM cursorDiskKV WHERE key = ?"
_ITEM = "SELECT value FROM ItemTable WHERE key = 'composer.composerData'"
_PERSON, _ASSISTANT = 1, 2
_NOT_DONE = ("error", "cancelled", "rejected", "loading", "pending")


def read(path: Path, tally: Tally) -> Iterator[Record]:
    """The records of a `state.vscdb`, or of one agent transcript."""
    if path.suffix == ".jsonl":
        yield from _agent_transcript(path, tally)
        return
    folders = _folders_of(path)
    with closing(_open(path)) as db:
        for (value,) in db.execute(_COMPOSERS):
            composer = fields_in(value)
            tally.lines += 1
            if not composer:
                tally.damaged += 1
                continue
            yield from _composer(db, composer, folders, changed_at(path), tally)


def _composer(
    db: sqlite3.Connection, composer: Fields, folders: dict[str, str], changed: datetime, tally: Tally
) -> Iterator[Record]:
    """One conversation; a draft without a word is none."""
    session = string_in(composer, "composerId")
    bubbles = list(_bubbles(db, composer, session or ""))
    if session is None or not bubbles:
        tally.skipped += 1
        return
    time = moment(composer.get("createdAt"), changed)
    uri = fields_in(fields_in(composer.get("workspaceIdentifier")).get("uri"))
    folder = string_in(uri, "fsPath") or folders.get(session)
    speaking = Speaking(source=SOURCE, session=session, cwd=folder)
    yield Conversation(source=SOURCE, session=session, started_at=time, cwd=folder)
    for key in bubbles:
        bubble = key if isinstance(key, dict) else _bubble(db, key, tally)
        time = moment(bubble.get("createdAt") or _started(bubble), time)
        text = text_of(bubble.get("text"))
        if bubble.get("type") == _PERSON:
            speaking.turn = string_in(bubble, "bubbleId")
            yield from speaking.person(text, time)
        elif bubble.get("type") == _ASSISTANT:
            yield from speaking.assistant(text, time)
            yield from _edits(speaking, fields_in(bubble.get("toolFormerData")), bubble, time, tally)


def _bubbles(db: sqlite3.Connection, composer: Fields, session: str) -> Iterator[str | Fields]:
    """The keys of the bubbles in order, or, in old conversations, the bubbles themselves."""
    headers = items_in(composer.get("fullConversationHeadersOnly"))
    yield from (f"bubbleId:{session}:{header.get('bubbleId')}" for header in headers)
    if not headers:
        yield from items_in(composer.get("conversation"))


def _bubble(db: sqlite3.Connection, key: str, tally: Tally) -> Fields:
    row = db.execute(_BUBBLE, (key,)).fetchone()
    tally.lines += 1
    bubble = fields_in(row[0]) if row is not None else {}
    tally.damaged += not bubble
    return bubble


def _edits(speaking: Speaking, tool: Fields, bubble: Fields, time: datetime, tally: Tally) -> Iterator[Record]:
    name = string_in(tool, "name")
    if name is None or not is_edit_tool(name):
        return
    if tool.get("status") in _NOT_DONE or tool.get("userDecision") == "rejected":
        tally.failed += 1
        return
    given = {**fields_in(tool.get("params")), **fields_in(tool.get("rawArgs"))}
    call = string_in(tool, "toolCallId") or string_in(bubble, "bubbleId")
    yield from speaking.edits(name, given, fields_in(tool.get("result")), call, time)


def _started(bubble: Fields) -> object:
    timing = fields_in(bubble.get("timingInfo"))
    return timing.get("clientRpcSendTime") or timing.get("clientStartTime")


def _agent_transcript(path: Path, tally: Tally) -> Iterator[Record]:
    """Lines of {role, message} without a time. A call whose result is not kept counts as done."""
    time = changed_at(path)
    speaking = Speaking(source=SOURCE, session=path.stem)
    begun = False
    calls: dict[str, tuple[str, object]] = {}
    for number, line in enumerate(json_lines(path, tally)):
        if not begun:
            begun = True
            yield Conversation(source=SOURCE, session=path.stem, started_at=time, untimed=line.get("timestamp") is None)
        time = moment(line.get("timestamp"), time)
        blocks = items_in(fields_in(line.get("message")).get("content"))
        results = {str(block.get("tool_use_id")): block for block in blocks if block.get("type") == "tool_result"}
        for call, (name, given) in calls.items():
            result = results.get(call, {})
            if result.get("is_error") is True:
                tally.failed += 1
            else:
                yield from speaking.edits(name, given, result.get("content"), call, time)
        calls = {}
        text = text_of(fields_in(line.get("message")).get("content"))
        if line.get("role") == "assistant":
            yield from speaking.assistant(text, time)
        elif line.get("role") == "user" and not results:
            speaking.turn = f"{path.stem}:{number}"
            yield from speaking.person(text, time)
        for place, block in enumerate(blocks):
            name = string_in(block, "name")
            if block.get("type") == "tool_use" and name is not None and is_edit_tool(name):
                calls[string_in(block, "id") or f"{path.stem}:{number}:{place}"] = (name, block.get("input"))
    for call, (name, given) in calls.items():
        yield from speaking.edits(name, given, None, call, time)


def _folders_of(path: Path) -> dict[str, str]:
    """The folder of each conversation, as the editor's windows remember it."""
    folders: dict[str, str] = {}
    for window in sorted(path.parent.parent.glob("workspaceStorage/*/workspace.json")):
        folder = _path_of(string_in(fields_in(window.read_bytes()), "folder"))
        state = window.with_name("state.vscdb")
        if folder is None or not state.is_file():
            continue
        with closing(_open(state)) as db:
            row = db.execute(_ITEM).fetchone()
        for composer in items_in(fields_in(row[0] if row is not None else None).get("allComposers")):
            folders[str(composer.get("composerId"))] = folder
    return folders


def _path_of(uri: str | None) -> str | None:
    """The local folder that a `file:` URI names."""
    parts = urlsplit(uri or "")
    if parts.scheme != "file":
        return None
    path = unquote(parts.path)
    return path[1:] if len(path) > 2 and path[2] == ":" else path


def _open(path: Path) -> sqlite3.Connection:
    """The database, read only; in a folder that cannot be written to, as a file that nobody changes."""
    uri = path.absolute().as_uri()
    db = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=5)
    try:
        db.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        db.close()
        db = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True, timeout=5)
    return db
