"""Qwen Code sessions: `~/.qwen/projects/<folder>/chats/<session>.jsonl`.

The sub-agents of a session are in `subagents/<session>/agent-*.jsonl` beside `chats`. As 0.24 writes them: a record a
line with `cwd` and `gitBranch`, calls as `functionCall` of an assistant record, each outcome a `tool_result` record
with what the person was shown (a sub-agent's: without it, and without a status).
"""

from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from memhub_mcp.capture.transcripts.conversation import Conversation, Record, Speaking, Tally, moment
from memhub_mcp.capture.transcripts.lines import (
    Fields,
    changed_at,
    fields_in,
    items_in,
    json_lines,
    string_in,
)

SOURCE = "qwen-code"

_MOST_OPEN_CALLS = 512
_EDITING = ("edit", "replace", "write_file", "notebook_edit")
_TYPED = (None, "mid_turn_user_message", "at_command")


def read(path: Path, tally: Tally) -> Iterator[Record]:
    """The records of one session and of its sub-agents."""
    speaking = Speaking(source=SOURCE)
    yield from _session(path, speaking, tally)
    if path.parent.name != "chats":
        return
    for agent in sorted((path.parent.parent / "subagents" / path.stem).glob("agent-*.jsonl")):
        told = Speaking(source=SOURCE, asked_at=speaking.asked)
        yield from (record for record in _session(agent, told, tally) if not isinstance(record, Conversation))


def _session(path: Path, speaking: Speaking, tally: Tally) -> Iterator[Record]:
    time = changed_at(path)
    calls: OrderedDict[str, tuple[str, object]] = OrderedDict()
    for line in json_lines(path, tally):
        time = moment(line.get("timestamp"), time)
        speaking.branch = string_in(line, "gitBranch") or speaking.branch
        if not speaking.session:
            speaking.session, speaking.cwd = string_in(line, "sessionId") or path.stem, string_in(line, "cwd")
            speaking.is_agent = line.get("isSidechain") is True
            yield Conversation(
                source=SOURCE, session=speaking.session, started_at=time, cwd=speaking.cwd, branch=speaking.branch
            )
        parts = items_in(fields_in(line.get("message")).get("parts"))
        match line.get("type"):
            case "user" if _is_typed(line):
                speaking.turn = string_in(line, "promptId", "uuid")
                shown = string_in(fields_in(line.get("systemPayload")), "displayText")
                yield from speaking.person(shown or _text(parts), time)
            case "assistant":
                for part in parts:
                    call = fields_in(part.get("functionCall"))
                    if call:
                        calls[str(call.get("id"))] = (str(call.get("name")), call.get("args"))
                while len(calls) > _MOST_OPEN_CALLS:
                    calls.popitem(last=False)
                yield from speaking.assistant(_text(parts), time, by_agent=line.get("isSidechain") is True)
            case "tool_result":
                for part in parts:
                    response = fields_in(part.get("functionResponse"))
                    yield from _edits(speaking, calls, response, fields_in(line.get("toolCallResult")), time, tally)
            case _:
                tally.skipped += 1


def _edits(
    speaking: Speaking,
    calls: OrderedDict[str, tuple[str, object]],
    response: Fields,
    result: Fields,
    time: datetime,
    tally: Tally,
) -> list[Record]:
    call = str(response.get("id") or result.get("callId"))
    name, given = calls.pop(call, ("", None))
    outcome = {**fields_in(response.get("response")), **fields_in(result.get("resultDisplay"))}
    if result.get("status", "success") != "success" or "error" in outcome:
        tally.failed += name in _EDITING
        return []
    return speaking.edits(name, given, outcome, call, time) if name else []


def _is_typed(line: Fields) -> bool:
    """Whether a user record is the person's own: not a notification, a schedule, or a sub-agent's task."""
    provenance = line.get("provenance", "real_user")
    return line.get("subtype") in _TYPED and provenance == "real_user" and not line.get("isSidechain")


def _text(parts: list[Fields]) -> str:
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str) and not part.get("thought"))
