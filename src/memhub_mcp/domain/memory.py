"""What is remembered."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memhub_mcp.domain.scope import Tier


class Kind(StrEnum):
    """What sort of knowledge a memory is."""

    FACT = "fact"
    DECISION = "decision"
    PREFERENCE = "preference"
    EXPERIENCE = "experience"
    INTENTION = "intention"
    SUMMARY = "summary"
    MODEL = "model"
    TURN = "turn"


WRITABLE_KINDS = frozenset({Kind.FACT, Kind.DECISION, Kind.PREFERENCE, Kind.EXPERIENCE, Kind.INTENTION})
"""The kinds an assistant or a person may store; the others are made by memhub itself."""


TOLD_UNASKED = frozenset(Kind) - {Kind.TURN}
"""The kinds an assistant may be told of without asking: what was said word for word is found by who asks."""


class Status(StrEnum):
    """Whether a memory takes part in recall."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


class Feedback(StrEnum):
    """A judgement on a memory that was recalled."""

    USEFUL = "useful"
    WRONG = "wrong"
    OUTDATED = "outdated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory as its author gave it: checked and redacted, not yet stored."""

    text: str
    kind: Kind = Kind.FACT
    subject: str | None = None
    tier: Tier | None = None
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    search_keys: tuple[str, ...] = ()
    solution: str | None = None
    environment: str | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A stored memory in its latest version.

    `seq` is its row in its store; words and vectors are keyed by it. `anchor` names the row that
    says on which branch and commit a branch memory stands (None for the other tiers). `commit` is
    the commit it was true at. `sources` holds every host that wrote it. `origin_workspace` is the name of the
    workspace it was written in, and `origin_id` its id: names may be shared.
    """

    seq: int
    id: str
    version: int
    kind: Kind
    tier: Tier
    status: Status
    text: str
    subject: str | None = None
    branch: str | None = None
    anchor: int | None = None
    commit: str | None = None
    sources: tuple[str, ...] = ()
    session: str | None = None
    origin_workspace: str | None = None
    origin_id: str | None = None
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    search_keys: tuple[str, ...] = ()
    solution: str | None = None
    environment: str | None = None
    created_at: datetime
    updated_at: datetime
    valid_until: datetime | None = None
    last_used_at: datetime | None = None
    generation: int
    useful: int = 0
    wrong: int = 0
    outdated: int = 0

    @property
    def source(self) -> str:
        """The one host that wrote it, or `mixed`."""
        return self.sources[0] if len(self.sources) == 1 else "mixed"

    def is_expired(self, now: datetime) -> bool:
        """Whether its author said that it holds no longer."""
        return self.valid_until is not None and self.valid_until <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVersion:
    """One earlier or current wording of a memory."""

    version: int
    text: str
    source: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """That a person stands by a memory as it is: through which door, and when."""

    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Link:
    """A directed relation between two memories of one store: `supersedes`, `session`, `related`."""

    from_seq: int
    to_seq: int
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a reader may see. An empty field does not narrow, except `anchors`.

    `anchors` are the branch anchors visible from the caller's HEAD; None means every branch.
    Exclusion of a source wins over inclusion; a memory of several sources (`mixed`) is left out
    while a source filter is active unless `mixed` itself is named.
    `files` match a stored path exactly or as its folder. `valid_at` leaves out what has expired by then.
    `undisputed` leaves out what was judged wrong or outdated more often than useful.
    `told_in` is the id of the workspace where an assistant would be told unasked: only what was written there, or what
    a person confirmed, is left.
    `shadowed` are rows that something nearer stands before: the branch's own word on the same subject.
    """

    anchors: frozenset[int] | None = frozenset()
    kinds: frozenset[Kind] = frozenset()
    files: tuple[str, ...] = ()
    include_sources: frozenset[str] = frozenset()
    exclude_sources: frozenset[str] = frozenset()
    since: datetime | None = None
    until: datetime | None = None
    valid_at: datetime | None = None
    undisputed: bool = False
    told_in: str | None = None
    shadowed: frozenset[int] = frozenset()
    statuses: frozenset[Status] = frozenset({Status.ACTIVE})


EVERYTHING = Filter(anchors=None, statuses=frozenset())
"""No narrowing at all: every branch, every status."""
