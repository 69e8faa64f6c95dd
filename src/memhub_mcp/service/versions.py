"""What a chain is made of."""

from dataclasses import dataclass
from datetime import datetime

from memhub_mcp.domain.revision import ChangeKind, Revision


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Who asked for a change, in which words, through which host; `edit` is the id of the edit that was captured."""

    source: str
    said: str | None
    at: datetime
    session: str | None = None
    edit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a block. Without a `revision`, `before` and `after` hold its lines.

    `commit` is None for what never reached one. `same_as` and `reverted_by` count versions from 0, `lines` (first and
    last) from 1. The code of what was erased on request is `withheld`.
    """

    kind: ChangeKind
    at: datetime | None
    path: str
    lines: tuple[int, int] | None
    digest: str
    commit: str | None = None
    revision: Revision | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    author: str | None = None
    subject: str | None = None
    requests: tuple[Request, ...] = ()
    branch: str | None = None
    same_as: int | None = None
    reverted_by: int | None = None
    current: bool = False
    uncommitted: bool = False
    withheld: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """All versions of one block, oldest first."""

    path: str
    symbol: str | None
    versions: tuple[Version, ...]
    notes: tuple[str, ...] = ()
