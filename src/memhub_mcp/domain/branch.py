"""What is known of a branch, and where a memory stands on one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A place on a branch. `commit` None = pending: visible on that branch only, until its next commit is seen.

    `pending_at` is the branch's tip when the anchor was made pending.
    """

    id: int
    branch: str
    commit: str | None
    pending_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchFacts:
    """A branch as it was last seen; rewritten commits get pruned, so this is kept when seen.

    `commits` are its own commits since `merge_base`, newest first, with their patch-ids (None for
    merges and empty diffs). `patch_id` is that of merge_base..tip. `paths` are the paths it touched
    with their blob at the tip (None: deleted there).
    """

    branch: str
    tip: str
    merge_base: str | None = None
    commits: tuple[tuple[str, str | None], ...] = ()
    patch_id: str | None = None
    paths: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    seen_at: datetime
    deleted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """Which of the commits `asked` are `head` or lead to it."""

    head: str
    asked: frozenset[str]
    reached: frozenset[str]
