"""What may be recorded in a workspace by itself, and when nothing was to be recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Level(StrEnum):
    """How much hooks may record, and what is kept of it."""

    OFF = "off"
    EDITS = "edits"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Silence:
    """A time in which nothing is recorded. `until` None: it lasts."""

    since: datetime
    until: datetime | None = None

    def holds(self, moment: datetime) -> bool:
        """Whether `moment` lies in it."""
        return self.since <= moment and (self.until is None or moment < self.until)

    def touches(self, first: datetime, last: datetime) -> bool:
        """Whether any of the time from `first` to `last` lies in it."""
        return self.since <= last and (self.until is None or first < self.until)


@dataclass(frozen=True, slots=True)
class Silences:
    """All times in which nothing was to be recorded in a workspace."""

    times: Sequence[Silence] = ()

    def hold(self, moment: datetime) -> bool:
        """Whether `moment` lies in one of them."""
        return any(time.holds(moment) for time in self.times)

    def touch(self, first: datetime, last: datetime) -> bool:
        """Whether any of the time from `first` to `last` lies in one of them."""
        return any(time.touches(first, last) for time in self.times)


@dataclass(frozen=True, slots=True)
class Capture:
    """What may be recorded in a workspace now. `own`: it was said for this workspace, not in config.toml."""

    level: Level
    own: bool
    pause: Silence | None = None

    @property
    def state(self) -> str:
        """`off`, `edits`, `all`, or `paused`."""
        return "paused" if self.pause else self.level.value

    @property
    def paused_until(self) -> datetime | None:
        """When a pause ends by itself."""
        return self.pause.until if self.pause else None
