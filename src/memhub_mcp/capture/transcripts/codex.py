"""Codex rollouts: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, with an envelope or, older, bare items."""

import re
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

from memhub_mcp.capture.edits import is_edit_tool
from memhub_mcp.capture.transcripts.conversation import Conversation, Record, Speaking, Tally, moment
from memhub_mcp.capture.transcripts.lines import (
    Fields,
    changed_at,
    fields_in,
    items_in,
    json_lines,
    parsed,
    string_in,
    text_of,
)

SOURCE = "codex"

_ENVELOPES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_MOST_OPEN_CALLS = 512
_EXIT_CODE = re.compile(r"(?:Exit code|exited with code|exit code)[: ]{1,2}(-?\d{1,6})")
_REFUSALS = (
    "apply_patch verification failed",
    "unsupported call",
    "unsupported custom tool call",
    "rejected by user",
    "aborted",
    "patch rejected",
)


def read(path: Path, tally: Tally) -> Iterator[Record]:
    """The records of one rollout."""
    return _Reader(path, tally).records()


class _Reader:
    def __init__(self, path: Path, tally: Tally) -> None:
        self._path = path
        self._tally = tally
        self._time = changed_at(path)
        self._speaking = Speaking(source=SOURCE)
        self._calls: OrderedDict[str, tuple[str, object]] = OrderedDict()
        self._diffs: OrderedDict[str, Fields] = OrderedDict()
        self._begun = False

    def records(self) -> Iterator[Record]:
        for line in json_lines(self._path, self._tally):
            kind = line.get("type")
            self._time = moment(line.get("timestamp"), self._time)
            if kind in _ENVELOPES and isinstance(line.get("payload"), dict):
                yield from self._entry(str(kind), line["payload"])
            elif isinstance(kind, str):
                yield from self._item(line) if "payload" not in line else self._skip()
            elif "id" in line and not self._begun:
                yield from self._begin(line)
            else:
                yield from self._skip()

    def _entry(self, kind: str, payload: Fields) -> Iterator[Record]:
        if kind == "session_meta":
            yield from self._begin(payload)
        elif kind == "turn_context":
            self._speaking.turn = string_in(payload, "turn_id") or self._speaking.turn
        elif kind == "response_item":
            yield from self._item(payload)
        elif kind == "event_msg":
            self._event(payload)
        else:
            yield from self._skip()

    def _skip(self) -> Iterator[Record]:
        self._tally.skipped += 1
        yield from ()

    def _begin(self, meta: Fields) -> Iterator[Record]:
        if self._begun:
            return  # a fork repeats the head of the session it came from
        self._begun = True
        speaking = self._speaking
        started = moment(meta.get("timestamp"), self._time)
        speaking.session = string_in(meta, "id", "session_id") or self._path.stem
        speaking.cwd = string_in(meta, "cwd")
        speaking.branch = string_in(fields_in(meta.get("git")), "branch")
        agent = fields_in(meta.get("source")).get("subagent")
        speaking.is_agent = agent is not None
        yield Conversation(
            source=SOURCE,
            session=speaking.session,
            started_at=started,
            cwd=speaking.cwd,
            branch=speaking.branch,
            parent=_parent(agent),
        )

    def _item(self, item: Fields) -> Iterator[Record]:
        if not self._begun:
            yield from self._begin({})
        kind = item.get("type")
        if kind == "message":
            yield from self._message(item)
        elif kind in _CALLS:
            self._call(item)
        elif kind in _OUTPUTS:
            yield from self._output(item)
        else:
            yield from self._skip()

    def _message(self, item: Fields) -> Iterator[Record]:
        text = text_of(item.get("content"), "input_text", "output_text", "text")
        if item.get("role") == "assistant":
            yield from self._speaking.assistant(text, self._time)
        elif item.get("role") == "user" and _is_typed(item):
            yield from self._speaking.person(text, self._time)
        else:
            yield from self._skip()

    def _call(self, item: Fields) -> None:
        name = string_in(item, "name") or "local_shell"
        given: object = item.get("input") or item.get("action")
        if given is None:
            arguments = item.get("arguments")
            given = parsed(arguments) if isinstance(arguments, str) else arguments
            given = arguments if given is None else given
        if is_edit_tool(name):
            self._calls[str(item.get("call_id"))] = (name, given)
            if len(self._calls) > _MOST_OPEN_CALLS:
                self._calls.popitem(last=False)

    def _event(self, payload: Fields) -> None:
        """A patch that was applied is also told with its diffs, before the call's output."""
        item = fields_in(payload.get("item"))
        if payload.get("type") == "patch_apply_end":
            call, outcome = string_in(payload, "call_id"), payload
        elif payload.get("type") == "item_completed" and item.get("type") == "FileChange":
            call, outcome = string_in(item, "id"), item
        else:
            self._tally.skipped += 1
            return
        if call is not None:
            self._diffs[call] = {name: outcome.get(name) for name in ("changes", "success", "status")}
            if len(self._diffs) > _MOST_OPEN_CALLS:
                self._diffs.popitem(last=False)

    def _output(self, item: Fields) -> Iterator[Record]:
        call = str(item.get("call_id"))
        name, given = self._calls.pop(call, ("", None))
        outcome = self._diffs.pop(call, {})
        if not name:
            return
        if _failed(item.get("output")):
            self._tally.failed += name == "apply_patch"
            return
        yield from self._speaking.edits(name, given, outcome, call, self._time)


def _is_typed(item: Fields) -> bool:
    """Whether a user message is the person's: newer rollouts say of what kind each part is."""
    about = fields_in(item.get("internal_chat_message_metadata_passthrough"))
    kinds = about.get("content_item_kinds")
    return not isinstance(kinds, list) or any(str(kind).startswith("user") for kind in list[object](kinds))


def _parent(agent: object) -> str | None:
    """The thread that a sub-agent was started from."""
    for value in fields_in(agent).values():
        found = string_in(fields_in(value), "parent_thread_id", "parent_id")
        if found is not None:
            return found
    return None


def _failed(output: object) -> bool:
    """Whether the output of a call says that it did not succeed."""
    fields = fields_in(output) if isinstance(output, dict) or (isinstance(output, str) and output[:1] == "{") else {}
    code = fields_in(fields.get("metadata")).get("exit_code")
    if isinstance(code, int):
        return code != 0
    if fields.get("success") is False:
        return True
    text = string_in(fields, "content", "output") or (output if isinstance(output, str) else "")
    text = text or "\n".join(text_of([part], "input_text", "output_text", "text") for part in items_in(output))
    head = text[:2000]
    found = _EXIT_CODE.search(head)
    if found is not None:
        return int(found[1]) != 0
    return any(refusal in head for refusal in _REFUSALS)
