"""Time is injected, so that tests and imports can say what time it is."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Returns the present moment, timezone-aware, UTC."""


def system_clock() -> datetime:
    """The present moment of this machine."""
    return datetime.now(UTC)
