"""Gemini CLI sessions: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, older ones one JSON document each.

The sub-agents of a session are in `chats/<session>/*.jsonl`. As 0.61 writes them: a header (`sessionId`, `projectHash`,
`kind`), then messages, each again whenever its tool calls went on, between `{"$set": …}` of metadata. A `$set` of
`messages` is what the model is given from then on, under ids that were used before: the session's context, a compressed
history, nothing that was said. A session that is resumed goes on in its file, and leaves an empty one beside it.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import cast

from memhub_mcp.capture.transcripts.conversation import Conversation, Record, Speaking, Tally, moment
from memhub_mcp.capture.transcripts.lines import (
    Fields,
    changed_at,
    fields_in,
    is_document,
    items_in,
    lines_at,
    parsed,
    placed_lines,
    string_in,
    text_of,
)

SOURCE = "gemini-cli"

MAX_DOCUMENT_BYTES = 64 << 20
"""A larger document of the old form is not read: it would have to be in memory as a whole."""

_IS_NAME = re.compile(r"[\w-]{1,100}")
_DONE = ("success", "completed")


def read(path: Path, tally: Tally) -> Iterator[Record]:
    """The records of one session, in either form, and of its sub-agents."""
    if is_document(path):
        yield from _document(path, tally)
        return
    speaking = Speaking(source=SOURCE)
    yield from _session(path, speaking, tally)
    session = speaking.session
    for agent in sorted((path.parent / session).glob("*.jsonl")) if _IS_NAME.fullmatch(session) else ():
        told = Speaking(source=SOURCE, session=session, is_agent=True, asked_at=speaking.asked)
        yield from (record for record in _session(agent, told, tally) if not isinstance(record, Conversation))


def _session(path: Path, speaking: Speaking, tally: Tally) -> Iterator[Record]:
    # A message is written again when its tool calls finish: the last of an id counts, at the place of the first.
    last: dict[str, int] = {}
    header: Fields = {}
    for start, line in placed_lines(path, tally):
        identity = line.get("id")
        if isinstance(identity, str):
            last[identity] = start
        elif "sessionId" in line and not header:
            header = line
        else:
            tally.skipped += 1  # metadata that changed, a rewind: what was said and done stays
    yield from _conversation(path, header, lines_at(path, last.values()), speaking, tally)


def _document(path: Path, tally: Tally) -> Iterator[Record]:
    if path.stat().st_size > MAX_DOCUMENT_BYTES:
        tally.damaged += 1
        return
    document = parsed(path.read_bytes())
    if not isinstance(document, dict):
        tally.damaged += 1
        return
    fields = cast("Fields", document)
    messages = items_in(fields.get("messages"))
    tally.lines += len(messages)
    yield from _conversation(path, fields, iter(messages), Speaking(source=SOURCE), tally)


def _conversation(
    path: Path, header: Fields, messages: Iterator[Fields], speaking: Speaking, tally: Tally
) -> Iterator[Record]:
    time = moment(header.get("startTime"), changed_at(path))
    speaking.session = speaking.session or string_in(header, "sessionId") or path.stem
    speaking.cwd = _folder(path)
    speaking.is_agent = header.get("kind") == "subagent"
    yield Conversation(
        source=SOURCE,
        session=speaking.session,
        started_at=time,
        cwd=speaking.cwd,
        project_hash=string_in(header, "projectHash"),
    )
    for message in messages:
        time = moment(message.get("timestamp"), time)
        if message.get("type") == "user":
            speaking.turn = string_in(message, "id")
            yield from speaking.person(text_of(message.get("displayContent") or message.get("content")), time)
        elif message.get("type") == "gemini":
            yield from speaking.assistant(text_of(message.get("content")), time)
            for call in items_in(message.get("toolCalls")):
                yield from _edits(speaking, call, time, tally)
        else:
            tally.skipped += 1


def _edits(speaking: Speaking, call: Fields, time: datetime, tally: Tally) -> Iterator[Record]:
    name = str(call.get("name"))
    if call.get("status") in _DONE:
        time = moment(call.get("timestamp"), time)
        yield from speaking.edits(name, call.get("args"), outcome_of(call), string_in(call, "id"), time)
    else:
        tally.failed += name in ("replace", "write_file")


def outcome_of(call: Fields) -> Fields:
    """What a call of a Gemini tool gave: its answer to the model, and the diff that the person was shown."""
    outcome: Fields = {}
    for part in items_in(call.get("result")):
        outcome.update(fields_in(fields_in(part.get("functionResponse")).get("response")))
    outcome.update(fields_in(call.get("resultDisplay")))
    return outcome


def _folder(path: Path) -> str | None:
    """The project's folder, which newer versions write beside the chats."""
    markers = (folder / ".project_root" for folder in path.parents[1:3])  # a sub-agent's file lies one deeper
    marker = next((marker for marker in markers if marker.is_file()), None)
    return marker.read_text(encoding="utf-8", errors="replace").strip() or None if marker is not None else None
