"""What git noted of a branch: when it was made, what was committed on it, what it was called before; and of HEAD."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from memhub_mcp.repo.plain_files import read_beginning, read_plain_file

_HEADS = "refs/heads/"
_LARGEST_BYTES = 4 << 20
_LONGEST_LINE = 4_096
_LATEST = 253_402_300_799  # the end of the year 9999: a log may say anything
_LINE = re.compile(r"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (.{0,1000}?) (\d{1,20}) ([+-]\d{4})(?:\t(.*))?")
_MOVED_ONLY = re.compile(r"reset:|branch:|checkout:|clone:|fetch|update by push|.*: fast-forward", re.IGNORECASE)
_RENAMED = re.compile(r"Branch: renamed refs/heads/(\S+) to refs/heads/(\S+)")
_LEFT = re.compile(r"(?:checkout: moving from |Branch: renamed refs/heads/)(\S+) to ")
_COMMIT = re.compile(r"[0-9a-f]{40,64}")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One move of a branch. `old` is all zeros when the branch was made."""

    old: str
    new: str
    stamp: str
    message: str

    @property
    def at(self) -> datetime:
        """When the branch moved."""
        return datetime.fromtimestamp(min(int(self.stamp.split(" ")[-2]), _LATEST), UTC)

    @property
    def is_commit(self) -> bool:
        """Whether something was committed, rather than the branch set to a commit that existed."""
        return self.message.startswith(("commit", "cherry-pick", "revert", "am:"))

    @property
    def is_move(self) -> bool:
        """Whether the branch was only set to a commit that existed."""
        return _MOVED_ONLY.match(self.message) is not None or _RENAMED.match(self.message) is not None

    @property
    def signature(self) -> str:
        """What tells this entry from others, without saying who made it."""
        return sha256(f"{self.old} {self.new} {self.stamp} {self.message}".encode(errors="replace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class BranchLog:
    """The reflog of one branch, oldest entry first; empty when git keeps none."""

    entries: tuple[LogEntry, ...] = ()

    @property
    def born(self) -> LogEntry | None:
        """The entry that made the branch, unless it has expired."""
        first = self.entries[0] if self.entries else None
        return first if first and not first.old.strip("0") else None

    def since(self, commit: str | None) -> tuple[LogEntry, ...]:
        """The entries after the branch last stood at `commit`; all when it never did."""
        for position in range(len(self.entries) - 1, -1, -1):
            if self.entries[position].new == commit:
                return self.entries[position + 1 :]
        return self.entries

    def between(self, first: datetime, last: datetime) -> tuple[LogEntry, ...]:
        """The entries of that time, the whole seconds it begins and ends in included."""
        return tuple(entry for entry in self.entries if first.replace(microsecond=0) <= entry.at <= last)

    def tip_at(self, time: datetime) -> str | None:
        """Where the branch stood at `time`; None when the log does not reach back so far."""
        return next((entry.new for entry in reversed(self.entries) if entry.at <= time), None)

    def was_called(self, name: str) -> bool:
        """Whether the branch had the name `name` once."""
        renames = (_RENAMED.match(entry.message) for entry in self.entries)
        return any(rename is not None and rename[1] == name for rename in renames)


@dataclass(frozen=True, slots=True)
class HeadLog:
    """The reflog of a working tree, oldest entry first; empty when git keeps none."""

    entries: tuple[LogEntry, ...] = ()

    def branch_at(self, time: datetime, now: str | None) -> str | None:
        """The branch that was checked out at `time`, by the name it had; `now` is the one that is checked out now.

        None when none was, or when the log does not reach back so far.
        """
        if not self.entries or self.entries[0].at > time.replace(microsecond=0):
            return None
        later = (_LEFT.match(entry.message) for entry in self.entries if entry.at > time)
        left = next((found[1] for found in later if found is not None), now)
        return None if left is None or _COMMIT.fullmatch(left) else left


def read_head_log(git_dir: Path) -> HeadLog:
    """The reflog of the working tree of `git_dir`. A log that is too large or no regular file counts as none."""
    data = read_plain_file(git_dir / "logs" / "HEAD", max_bytes=_LARGEST_BYTES)
    return HeadLog(_entries(data)) if data else HeadLog()


def read_log(common_dir: Path, branch: str) -> BranchLog:
    """The reflog of a local branch. A log that is too large or no regular file counts as none."""
    file = _file(common_dir, branch)
    data = read_plain_file(file, max_bytes=_LARGEST_BYTES) if file else None
    return BranchLog(_entries(data)) if data else BranchLog()


def read_birth(common_dir: Path, branch: str) -> str | None:
    """The signature of the entry that made a branch, without reading the whole of its log."""
    file = _file(common_dir, branch)
    first = _entries(read_beginning(file, _LONGEST_LINE).partition(b"\n")[0]) if file else ()
    born = BranchLog(first).born
    return born.signature if born else None


def _file(common_dir: Path, branch: str) -> Path | None:
    parts = branch.split("/")
    return (
        None if any(part in ("", ".", "..") for part in parts) else common_dir.joinpath("logs", "refs", "heads", *parts)
    )


def _entries(data: bytes) -> tuple[LogEntry, ...]:
    found: list[LogEntry] = []
    for line in data.decode("utf-8", "surrogateescape").splitlines():
        match = _LINE.fullmatch(line)
        if match:
            old, new, who, at, zone, message = match.groups()
            found.append(LogEntry(old, new, f"{who} {at} {zone}", message or ""))
    return tuple(found)
