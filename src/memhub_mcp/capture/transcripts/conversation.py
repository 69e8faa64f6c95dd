"""What a transcript holds: a conversation, what was said in it, the edits that were made."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memhub_mcp.capture.edits import changes_of
from memhub_mcp.capture.events import edit_from_json
from memhub_mcp.capture.records import Circumstances, edit_record
from memhub_mcp.capture.redact import redact
from memhub_mcp.capture.said import Requests
from memhub_mcp.domain.revision import EditEvent

MAX_UTTERANCE = 1 << 20
"""Characters of one turn that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One session of one assistant. It comes before everything that happened in it.

    `parent` is the session that started this one as a sub-agent. `project_hash` is all that Gemini tells of its folder:
    the SHA-256 of the path. `untimed`: it is not told when anything happened, only when the file was last written.
    """

    source: str
    session: str
    started_at: datetime
    cwd: str | None = None
    branch: str | None = None
    parent: str | None = None
    project_hash: str | None = None
    untimed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """What one side said, redacted. `speaker` is `person`, `assistant`, or `agent` for a sub-agent."""

    session: str
    speaker: str
    text: str
    time: datetime
    turn: str | None = None


Record = Conversation | Utterance | EditEvent


@dataclass(slots=True)
class Tally:
    """What was seen while reading. `damaged` lines could not be understood, `failed` edits did not happen."""

    lines: int = 0
    damaged: int = 0
    skipped: int = 0
    failed: int = 0


class Asked:
    """What the person asked for in a session, by time: told to the sub-agents that it started."""

    def __init__(self) -> None:
        self._times: list[datetime] = []
        self._said: list[str | None] = []

    def note(self, time: datetime, said: str | None) -> None:
        """From `time` on, `said` is the request. Times do not decrease."""
        self._times.append(time)
        self._said.append(said)

    def __call__(self, time: datetime) -> str | None:
        place = bisect_right(self._times, time)
        return self._said[place - 1] if place else None


@dataclass(slots=True)
class Speaking:
    """The running state of one conversation: who asked for what, where it works."""

    source: str
    session: str = ""
    cwd: str | None = None
    branch: str | None = None
    turn: str | None = None
    is_agent: bool = False
    requests: Requests = field(default_factory=Requests)
    asked_at: Callable[[datetime], str | None] | None = None
    """What the person asked for at a time, where that is told elsewhere: in the session that started a sub-agent."""
    asked: Asked = field(default_factory=Asked)

    def person(self, text: str, time: datetime) -> list[Record]:
        """The utterance in a user turn; nothing when a harness wrote it. In a sub-agent nobody speaks but agents."""
        if self.is_agent:
            return []
        words = self.requests.hear(text)
        if words:
            self.asked.note(time, self.requests.behind)
        return [self._utterance("person", words, time)] if words else []

    def assistant(self, text: str, time: datetime, *, by_agent: bool = False) -> list[Record]:
        """What the assistant said, or a sub-agent of it."""
        words = redact(text[:MAX_UTTERANCE].encode("utf-8", "replace").decode("utf-8").replace("\0", "")).strip()
        return [self._utterance("agent" if self.is_agent or by_agent else "assistant", words, time)] if words else []

    def edits(self, tool: str, given: object, result: object, call: str | None, time: datetime) -> list[Record]:
        """The edits of one successful tool call."""
        said = self.asked_at(time) if self.asked_at is not None else self.requests.behind
        circumstances = Circumstances(
            tool=tool,
            source=self.source,
            time=time.isoformat(),
            session=self.session or None,
            tool_call=call,
            turn=self.turn,
            cwd=self.cwd,
            said=said,
            branch=self.branch,
        )
        changes = changes_of(tool, given, result)
        return [
            edit_from_json(edit_record(change, circumstances, ordinal=number)) for number, change in enumerate(changes)
        ]

    def _utterance(self, speaker: str, text: str, time: datetime) -> Utterance:
        return Utterance(session=self.session, speaker=speaker, text=text, time=time, turn=self.turn)


def moment(value: object, default: datetime) -> datetime:
    """A time as hosts write it: ISO 8601, or seconds or milliseconds since 1970."""
    if isinstance(value, bool):
        return default
    if isinstance(value, (int, float)):
        if not 0 < value < 1e14:
            return default
        return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
            return found.astimezone(UTC) if found.tzinfo is not None else found.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            return default
    return default
