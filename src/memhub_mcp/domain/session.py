"""Conversations and what was said in them."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation in one host. `id` is ours; `host_session` is the host's own name for it."""

    id: str
    source: str
    host_session: str | None
    started_at: datetime
    branch: str | None = None
    head: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One utterance. `memory` is the row of the `turn` memory that carries its text."""

    memory: int
    session: str
    position: int
    speaker: str
    caption: str | None
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """What one speaker said at one point of a conversation, before it is stored. `caption` describes a picture."""

    position: int
    speaker: str
    text: str
    time: datetime
    caption: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFact:
    """The one fact of a session, as the assistant reports it."""

    task: str
    approach: str | None = None
    outcome: str | None = None
    files: tuple[str, ...] = ()
