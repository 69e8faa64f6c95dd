"""What happened in a session, drawn from what was captured of it, without a language model."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memhub_mcp.capture.redact import redact
from memhub_mcp.capture.said import is_filler, shortened
from memhub_mcp.domain.revision import ChangeKind, EditEvent
from memhub_mcp.domain.session import SessionFact
from memhub_mcp.repo.reflog import LogEntry

UNKNOWN_OUTCOME = "not known, only the edits were seen"

_LONGEST_TASK = 500
_LONGEST_QUOTE = 300
_MOST_REQUESTS = 4
_MOST_FILES_NAMED = 12
_MOST_FILES = 50
_MOST_FILES_COUNTED = 5_000
_MOST_COMMITS = 5
_DID = {ChangeKind.ADD: "wrote", ChangeKind.DELETE: "deleted", ChangeKind.RENAME: "renamed"}


@dataclass(slots=True)
class SessionStory:
    """One session as it is read: what was asked for, what was done, what was said last. Of bounded size."""

    started_at: datetime
    ended_at: datetime = field(init=False)
    requests: list[str] = field(default_factory=list[str])
    further_requests: int = 0
    last_words: str | None = None
    edits: int = 0
    files: Counter[str] = field(default_factory=Counter[str])
    kinds: dict[str, ChangeKind] = field(default_factory=dict[str, ChangeKind])

    def __post_init__(self) -> None:
        self.ended_at = self.started_at

    def ask(self, words: str, time: datetime) -> None:
        """The person said something."""
        self.ended_at = max(self.ended_at, time)
        if is_filler(words):
            return
        if len(self.requests) < _MOST_REQUESTS:
            self.requests.append(shortened(words))
        else:
            self.further_requests += 1

    def answer(self, words: str, time: datetime) -> None:
        """The assistant said something."""
        self.ended_at = max(self.ended_at, time)
        self.last_words = words[: 4 * _LONGEST_QUOTE] if words.strip() else self.last_words

    def edit(self, event: EditEvent) -> None:
        """A file of the workspace was changed; `event.path` is relative to its root."""
        self.ended_at = max(self.ended_at, event.time)
        self.edits += 1
        if event.path in self.files or len(self.files) < _MOST_FILES_COUNTED:
            self.files[event.path] += 1
            self.kinds.setdefault(event.path, event.kind)

    def fact(self, commits: Sequence[LogEntry] = ()) -> SessionFact | None:
        """The one fact of the session; None when nobody asked for anything. `commits` were made meanwhile."""
        if not self.requests:
            return None
        outcome, made = UNKNOWN_OUTCOME, _commits(commits)
        if self.last_words:
            outcome = f"not checked; the assistant said last: “{_beginning_of(self.last_words, _LONGEST_QUOTE)}”"
        return SessionFact(
            task=redact(self.requests[0][:_LONGEST_TASK]),
            approach=self._approach(),
            outcome=redact(f"{outcome}. {made}" if made else outcome),
            files=tuple(path for path, _ in self.files.most_common(_MOST_FILES)),
        )

    def _approach(self) -> str | None:
        parts: list[str] = []
        if self.edits:
            named = [self._named(path, count) for path, count in self.files.most_common(_MOST_FILES_NAMED)]
            rest = len(self.files) - len(named)
            more = f" and {rest} more" if rest else ""
            files = "1 file" if len(self.files) == 1 else f"{len(self.files)} files"
            edits = "1 edit" if self.edits == 1 else f"{self.edits} edits"
            parts.append(f"{edits} in {files}: {', '.join(named)}{more}")
        later = [f"“{_beginning_of(words)}”" for words in self.requests[1:]]
        if later:
            more = f" and {self.further_requests} more requests" if self.further_requests else ""
            parts.append(f"then asked for: {', '.join(later)}{more}")
        return "; ".join(parts) or None

    def _named(self, path: str, count: int) -> str:
        did = _DID.get(self.kinds[path])
        facts = [fact for fact in (did, f"{count} edits" if count > 1 else None) if fact]
        return f"{path} ({', '.join(facts)})" if facts else path


def story_of(events: Iterable[EditEvent]) -> SessionStory | None:
    """What hooks reported of a session: its edits and the requests behind them. None when it edited nothing."""
    story: SessionStory | None = None
    said: str | None = None
    for event in events:
        story = story or SessionStory(event.time)
        if event.said and event.said != said:
            said = event.said
            story.ask(said, event.time)
        story.edit(event)
    return story


def _commits(entries: Sequence[LogEntry]) -> str | None:
    if not entries:
        return None
    named = [f"{entry.new[:10]} “{_beginning_of(entry.message.partition(': ')[2])}”" for entry in entries]
    more = f" and {len(named) - _MOST_COMMITS} more" if len(named) > _MOST_COMMITS else ""
    return f"Commits made on the branch meanwhile: {', '.join(named[:_MOST_COMMITS])}{more}"


def _beginning_of(words: str, most: int = 120) -> str:
    line = " ".join(words.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
