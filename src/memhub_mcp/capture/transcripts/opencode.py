"""OpenCode: `~/.local/share/opencode/opencode.db`; before it `storage/{session,message,part}/**.json` there.

As 1.18 writes it: a sub-agent is a session with a `parent_id`; a tool's part has `input`, `output` and `metadata` in
its `state`. An edit tells its diff, a write only whether the file `exists`; but a file must be read before it is
changed, so the file around most edits is known from that.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

from memhub_mcp.capture.edits import changes_of, is_edit_tool
from memhub_mcp.capture.transcripts.conversation import Asked, Conversation, Record, Speaking, Tally, moment
from memhub_mcp.capture.transcripts.lines import Fields, changed_at, fields_in, string_in

SOURCE = "opencode"

_MOST_FILES = 64
_NO_LINE_END = "\\ No newline at end of file"

_SESSIONS = "SELECT id, parent_id, directory, time_created FROM session ORDER BY time_created, id"
_MESSAGES = "SELECT id, data, time_created FROM message WHERE session_id = ? ORDER BY time_created, id"
_QUOTED = re.compile(r'"([^"]*)"')  # `opencode run "fix the timeout"` keeps the quotes
_PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id"


def read(path: Path, tally: Tally) -> Iterator[Record]:
    """The records of a database, or of a `storage` folder."""
    if path.is_dir():
        yield from _storage(path, tally)
        return
    changed = changed_at(path)
    asked: dict[str, Asked] = {}
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)) as db:
        for session, parent, directory, created in db.execute(_SESSIONS):
            time = moment(created, changed)
            yield Conversation(source=SOURCE, session=session, started_at=time, cwd=directory, parent=parent)
            talk = _Talk(session, parent, directory, asked, tally)
            for message, data, sent in db.execute(_MESSAGES, (session,)):
                parts = (fields_in(part) for (part,) in db.execute(_PARTS, (message,)))
                yield from talk.message(message, fields_in(data), parts, moment(sent, time))


def _storage(folder: Path, tally: Tally) -> Iterator[Record]:
    asked: dict[str, Asked] = {}
    for file in sorted(folder.glob("session/*/*.json")):
        session = _read(file, tally)
        time = moment(fields_in(session.get("time")).get("created"), changed_at(file))
        name, parent = string_in(session, "id") or file.stem, string_in(session, "parentID")
        directory = string_in(session, "directory")
        yield Conversation(source=SOURCE, session=name, started_at=time, cwd=directory, parent=parent)
        talk = _Talk(name, parent, directory, asked, tally)
        for message_file in sorted((folder / "message" / name).glob("*.json")):
            message = _read(message_file, tally)
            key = string_in(message, "id") or message_file.stem
            parts = (_read(part, tally) for part in sorted((folder / "part" / key).glob("*.json")))
            yield from talk.message(key, message, parts, time)


class _Talk:
    """One session. `asked` holds the requests of the sessions before it, by name: a sub-agent works on its parent's."""

    def __init__(
        self, session: str, parent: str | None, directory: str | None, asked: dict[str, Asked], tally: Tally
    ) -> None:
        told = asked.get(parent) if parent is not None else None
        self._speaking = Speaking(
            source=SOURCE, session=session, cwd=directory, is_agent=parent is not None, asked_at=told
        )
        asked[session] = told or self._speaking.asked
        self._files = _Files()
        self._tally = tally

    def message(self, key: str, message: Fields, parts: Iterator[Fields], time: datetime) -> Iterator[Record]:
        """What one message holds."""
        time = moment(fields_in(message.get("time")).get("created"), time)
        texts: list[str] = []
        edits: list[Record] = []
        for part in parts:
            self._tally.lines += 1
            if part.get("type") == "text" and isinstance(part.get("text"), str):
                if not part.get("synthetic") and not part.get("ignored"):
                    texts.append(part["text"])
            elif part.get("type") == "tool":
                edits += self._tool(part, time)
        text = "\n\n".join(texts)
        if message.get("role") == "user":
            self._speaking.turn = key
            quoted = _QUOTED.fullmatch(text)
            yield from self._speaking.person(quoted[1] if quoted else text, time)
        elif message.get("role") == "assistant":
            yield from self._speaking.assistant(text, time)
        yield from edits

    def _tool(self, part: Fields, time: datetime) -> list[Record]:
        name, state = string_in(part, "tool"), fields_in(part.get("state"))
        about = fields_in(state.get("metadata"))
        if name == "read":
            self._files.seen(about)
        if name is None or not is_edit_tool(name):
            return []
        if state.get("status") != "completed":
            self._tally.failed += 1
            return []
        given = fields_in(state.get("input"))
        outcome = {**about, **fields_in(about.get("filediff"))}
        before = self._files.before(name, given, outcome)
        if before is not None:
            outcome["before"] = before
        ended = fields_in(state.get("time")).get("end")
        return self._speaking.edits(name, given, outcome, string_in(part, "callID"), moment(ended, time))


class _Files:
    """The files of a session as its tools last saw them."""

    def __init__(self) -> None:
        self._contents: dict[str, str] = {}

    def seen(self, about: Fields) -> None:
        """A file was read, in whole or in part."""
        shown = fields_in(about.get("display"))
        path, text = string_in(shown, "path"), shown.get("text")
        if path and isinstance(text, str) and shown.get("lineStart") == 1 and shown.get("truncated") is False:
            self._keep(path, text + "\n" if text else "")

    def before(self, tool: str, given: Fields, outcome: Fields) -> str | None:
        """The file before a call, when that is known and agrees with the diff; what it is after is kept."""
        path = string_in(given, "filePath")
        if path is None:
            self._contents.clear()  # a shell, a patch: any file may be another now
            return None
        before = self._contents.pop(path, "" if outcome.get("exists") is False else None)
        if _NO_LINE_END in str(outcome.get("diff")):
            before = None  # a reading does not tell whether the last line ends
        if before is None:
            content = given.get("content")
            after = content if isinstance(content, str) else None
        else:
            told = given if "content" in given else {"filePath": path}  # an edit: by its diff alone
            changes = changes_of(tool, told, {**outcome, "before": before})
            after = changes[0].after if changes else None
            before = before if after is not None else None
        if after is not None:
            self._keep(path, after)
        return before

    def _keep(self, path: str, content: str) -> None:
        self._contents.pop(path, None)
        self._contents[path] = content
        while len(self._contents) > _MOST_FILES:
            del self._contents[next(iter(self._contents))]


def _read(file: Path, tally: Tally) -> Fields:
    found = fields_in(file.read_bytes())
    tally.damaged += not found
    return found
