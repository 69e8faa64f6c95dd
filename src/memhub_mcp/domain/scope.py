"""Where a call stands: workspace, checkout, caller."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Tier(StrEnum):
    """How far a memory reaches."""

    USER = "user"
    WORKSPACE = "workspace"
    BRANCH = "branch"


class AliasKind(StrEnum):
    """What a store can be found by, in the order it is looked up."""

    REMOTE = "remote"
    ROOT_COMMIT = "root-commit"
    PATH = "path"


@dataclass(frozen=True, slots=True)
class Alias:
    """One name a store answers to: a normalised remote, a root commit or a real path."""

    kind: AliasKind
    value: str


@dataclass(frozen=True, slots=True)
class Workspace:
    """One repository with all its clones and worktrees. `id` is the full id that stands in its file."""

    id: str
    name: str
    directory: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """The working tree a call is about, read afresh for each call.

    `branch` is None on a detached HEAD, `head` is None before the first commit.
    `operation` is what HEAD is in the middle of, `rebase` or `bisect`; a rebased branch counts as checked out.
    `limited` says why libgit2 cannot read the repository, and is None when it can.
    """

    root: Path
    git_dir: Path
    common_dir: Path
    branch: str | None = None
    head: str | None = None
    default_branch: str | None = None
    shallow: bool = False
    operation: str | None = None
    limited: str | None = None

    @property
    def on_default_branch(self) -> bool:
        """Whether new facts belong to the whole workspace rather than to a line of work."""
        return self.branch is None or self.branch == self.default_branch


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, and every hint about where they stand. Built by a door, once a call.

    `is_person` says that a person typed it, at a terminal of their own.
    `workspace` is what the call itself asks for; `named` is what the host's configuration says, like `--workspace`
    but for one connection (a path, a name or an id).
    """

    source: str
    is_person: bool = False
    session: str | None = None
    workspace: str | None = None
    named: str | None = None
    roots: tuple[Path, ...] = ()
    cwd: Path | None = None
    paths: tuple[str, ...] = field(default=())
