"""Claude Code sessions: `~/.claude/projects/<folder>/<session>.jsonl`, sub-agents in `<session>/subagents/`."""

from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memhub_mcp.capture.said import Requests
from memhub_mcp.capture.transcripts.conversation import Asked, Conversation, Record, Speaking, Tally, moment
from memhub_mcp.capture.transcripts.lines import (
    Fields,
    changed_at,
    fields_in,
    items_in,
    json_lines,
    string_in,
    text_of,
)

SOURCE = "claude-code"

_MOST_OPEN_CALLS = 512
_NO_MODEL = "<synthetic>"  # an error of the network, or a reply that nobody asked for, as a message
_NOT_THE_PERSON = ("isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")


def read(path: Path, tally: Tally) -> Iterator[Record]:
    """The records of a session file and of its sub-agents, or of one sub-agent's file."""
    main = _main_of(path)
    if main is not None:
        yield from _Reader(path, tally, _requests_in(main)).records()
        return
    yield from _Reader(path, tally, None).records()
    agents = sorted((path.with_suffix("") / "subagents").glob("agent-*.jsonl"))
    asked = _requests_in(path) if agents else None
    for agent in agents:
        records = _Reader(agent, tally, asked).records()
        yield from (record for record in records if not isinstance(record, Conversation))


class _Reader:
    """One file, line by line. `asked` is given for the file of a sub-agent, whose words are nobody's request."""

    def __init__(self, path: Path, tally: Tally, asked: Asked | None) -> None:
        self._path = path
        self._tally = tally
        self._time = changed_at(path)
        self._speaking = Speaking(source=SOURCE, is_agent=asked is not None, asked_at=asked)
        self._calls: OrderedDict[str, tuple[str, Any]] = OrderedDict()
        self._message: str | None = None
        self._texts: list[str] = []
        self._spoken_at = self._time
        self._by_agent = False

    def records(self) -> Iterator[Record]:
        begun = False
        for line in json_lines(self._path, self._tally):
            kind = line.get("type")
            if kind not in ("user", "assistant", "attachment"):
                self._tally.skipped += isinstance(kind, str)
                self._tally.damaged += not isinstance(kind, str)
                continue
            self._time = moment(line.get("timestamp"), self._time)
            if not begun:
                begun = True
                yield self._begin(line)
            self._speaking.branch = string_in(line, "gitBranch") or self._speaking.branch
            message = fields_in(line.get("message"))
            if kind == "assistant":
                yield from self._assistant(message, line.get("isSidechain") is True)
            else:
                yield from self._user(message, line)
        yield from self._finish_message()

    def _begin(self, line: Fields) -> Conversation:
        speaking = self._speaking
        speaking.session = string_in(line, "sessionId") or self._path.stem
        speaking.cwd, speaking.branch = string_in(line, "cwd"), string_in(line, "gitBranch")
        return Conversation(
            source=SOURCE,
            session=speaking.session,
            started_at=self._time,
            cwd=speaking.cwd,
            branch=speaking.branch,
        )

    def _assistant(self, message: Fields, by_agent: bool) -> Iterator[Record]:
        """One message comes as several lines, a block each, under one id."""
        if message.get("id") is None or message.get("id") != self._message:
            yield from self._finish_message()
            self._message, self._spoken_at, self._by_agent = string_in(message, "id"), self._time, by_agent
        content = message.get("content")
        for block in items_in(content):
            if block.get("type") == "tool_use":
                self._calls[str(block.get("id"))] = (str(block.get("name")), block.get("input"))
                if len(self._calls) > _MOST_OPEN_CALLS:
                    self._calls.popitem(last=False)
        text = text_of(content)
        if text and message.get("model") != _NO_MODEL:
            self._texts.append(text)

    def _user(self, message: Fields, line: Fields) -> Iterator[Record]:
        results = [block for block in items_in(message.get("content")) if block.get("type") == "tool_result"]
        if results:
            yield from self._finish_message()
        for result in results:
            yield from self._tool_result(result, line.get("toolUseResult") if len(results) == 1 else None)
        text = _words_in(line)
        if text:
            yield from self._finish_message()
            self._speaking.turn = string_in(line, "promptId", "uuid") or self._speaking.turn
            yield from self._speaking.person(text, self._time)

    def _tool_result(self, result: Fields, outcome: object) -> Iterator[Record]:
        call = str(result.get("tool_use_id"))
        name, given = self._calls.pop(call, ("", None))
        if result.get("is_error") is True:
            self._tally.failed += name in ("Edit", "MultiEdit", "Write", "NotebookEdit")
        elif name:
            yield from self._speaking.edits(name, given, outcome, call, self._time)

    def _finish_message(self) -> Iterator[Record]:
        if self._texts:
            yield from self._speaking.assistant("\n\n".join(self._texts), self._spoken_at, by_agent=self._by_agent)
        self._texts = []
        self._message = None


def _words_in(line: Fields) -> str:
    """The text of a user turn; "" when it is a tool's result or was written by the harness."""
    if line.get("type") == "attachment":
        queued = fields_in(line.get("attachment"))
        typed = queued.get("type") == "queued_command" and queued.get("commandMode", "prompt") == "prompt"
        return text_of(queued.get("prompt")) if typed else ""
    origin = fields_in(line.get("origin")).get("kind", "human")
    if line.get("type") != "user" or origin != "human" or any(line.get(name) for name in _NOT_THE_PERSON):
        return ""
    content = fields_in(line.get("message")).get("content")
    if any(block.get("type") == "tool_result" for block in items_in(content)):
        return ""
    return text_of(content)


def _main_of(path: Path) -> Path | None:
    """The session file of a sub-agent's file."""
    if path.parent.name != "subagents" or not path.name.startswith("agent-"):
        return None
    return path.parent.parent.with_suffix(".jsonl")


def _requests_in(main: Path) -> Asked:
    """What the person asked for in a session at each time; nothing else of it is kept."""
    asked = Asked()
    if main.is_file():
        requests, time = Requests(), changed_at(main)
        for line in json_lines(main, Tally()):
            text = _words_in(line)
            if text and requests.hear(text):
                asked.note(moment(line.get("timestamp"), time), requests.behind)
    return asked
