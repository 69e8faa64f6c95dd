"""Qwen Code sessions: `~/.qwen/projects/<folder>/chats/<session>.jsonl`."""

from collections import OrderedDict
from collections.abc import Iterator
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
_TYPED = (None, "mid_turn_user_message", "at_command")


def read(path: Path, tally: Tally) -> Iterator[Record]:
    """The records of one session."""
    time = changed_at(path)
    speaking = Speaking(source=SOURCE)
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
                result = fields_in(line.get("toolCallResult"))
                for part in parts:
                    response = fields_in(part.get("functionResponse"))
                    call_id = str(response.get("id") or result.get("callId"))
                    name, given = calls.pop(call_id, ("", None))
                    outcome = {**fields_in(response.get("response")), **fields_in(result.get("resultDisplay"))}
                    if not name:
                        continue
                    if result.get("status", "success") != "success" or "error" in outcome:
                        tally.failed += name in ("edit", "replace", "write_file")
                        continue
                    yield from speaking.edits(name, given, outcome, call_id, time)
            case _:
                tally.skipped += 1


def _is_typed(line: Fields) -> bool:
    """Whether a user record is the person's own: not a notification, a schedule, or a sub-agent's task."""
    provenance = line.get("provenance", "real_user")
    return line.get("subtype") in _TYPED and provenance == "real_user" and not line.get("isSidechain")


def _text(parts: list[Fields]) -> str:
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str) and not part.get("thought"))
