"""OpenCode: `~/.local/share/opencode/opencode.db`; before it `storage/{session,message,part}/**.json` there."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

from memhub_mcp.capture.edits import is_edit_tool
from memhub_mcp.capture.transcripts.conversation import Conversation, Record, Speaking, Tally, moment
from memhub_mcp.capture.transcripts.lines import Fields, changed_at, fields_in, string_in

SOURCE = "opencode"

_SESSIONS = "SELECT id, parent_id, directory, time_created FROM session ORDER BY time_created, id"
_MESSAGES = "SELECT id, data, time_created FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id"


def read(path: Path, tally: Tally) -> Iterator[Record]:
    """The records of a database, or of a `storage` folder."""
    if path.is_dir():
        yield from _storage(path, tally)
        return
    changed = changed_at(path)
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)) as db:
        for session, parent, directory, created in db.execute(_SESSIONS):
            speaking = Speaking(source=SOURCE, session=session, cwd=directory, is_agent=parent is not None)
            time = moment(created, changed)
            yield Conversation(source=SOURCE, session=session, started_at=time, cwd=directory, parent=parent)
            for message, data, sent in db.execute(_MESSAGES, (session,)):
                parts = (fields_in(part) for (part,) in db.execute(_PARTS, (message,)))
                yield from _message(speaking, message, fields_in(data), parts, moment(sent, time), tally)


def _storage(folder: Path, tally: Tally) -> Iterator[Record]:
    for file in sorted(folder.glob("session/*/*.json")):
        session = _read(file, tally)
        time = moment(fields_in(session.get("time")).get("created"), changed_at(file))
        name, parent = string_in(session, "id") or file.stem, string_in(session, "parentID")
        speaking = Speaking(
            source=SOURCE, session=name, cwd=string_in(session, "directory"), is_agent=parent is not None
        )
        yield Conversation(source=SOURCE, session=name, started_at=time, cwd=speaking.cwd, parent=parent)
        for message_file in sorted((folder / "message" / name).glob("*.json")):
            message = _read(message_file, tally)
            key = string_in(message, "id") or message_file.stem
            parts = (_read(part, tally) for part in sorted((folder / "part" / key).glob("*.json")))
            yield from _message(speaking, key, message, parts, time, tally)


def _message(
    speaking: Speaking, key: str, message: Fields, parts: Iterator[Fields], time: datetime, tally: Tally
) -> Iterator[Record]:
    time = moment(fields_in(message.get("time")).get("created"), time)
    texts: list[str] = []
    edits: list[Record] = []
    for part in parts:
        tally.lines += 1
        if part.get("type") == "text" and isinstance(part.get("text"), str):
            if not part.get("synthetic") and not part.get("ignored"):
                texts.append(part["text"])
        elif part.get("type") == "tool":
            edits += _edits(speaking, part, time, tally)
    text = "\n\n".join(texts)
    if message.get("role") == "user":
        speaking.turn = key
        yield from speaking.person(text, time)
    elif message.get("role") == "assistant":
        yield from speaking.assistant(text, time)
    yield from edits


def _edits(speaking: Speaking, part: Fields, time: datetime, tally: Tally) -> list[Record]:
    name, state = string_in(part, "tool"), fields_in(part.get("state"))
    if name is None or not is_edit_tool(name):
        return []
    if state.get("status") != "completed":
        tally.failed += 1
        return []
    about = fields_in(state.get("metadata"))
    outcome = {**about, **fields_in(about.get("filediff"))}
    ended = fields_in(state.get("time")).get("end")
    return speaking.edits(name, state.get("input"), outcome, string_in(part, "callID"), moment(ended, time))


def _read(file: Path, tally: Tally) -> Fields:
    found = fields_in(file.read_bytes())
    tally.damaged += not found
    return found
