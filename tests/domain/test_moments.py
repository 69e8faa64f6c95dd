"""A moment is understood as people write it."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhub_mcp.domain.moments import read_phrase

NOW = datetime(2026, 11, 30, 12, 30, tzinfo=UTC)  # a Monday


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-05-31", datetime(2026, 5, 31, tzinfo=UTC)),
        ("2026-05-31T10:00:00+02:00", datetime(2026, 5, 31, 8, tzinfo=UTC)),
        ("now", NOW),
        ("today", datetime(2026, 11, 30, tzinfo=UTC)),
        ("Yesterday", datetime(2026, 11, 29, tzinfo=UTC)),
        ("2 days ago", datetime(2026, 11, 28, 12, 30, tzinfo=UTC)),
        ("a day ago", datetime(2026, 11, 29, 12, 30, tzinfo=UTC)),
        ("last week", datetime(2026, 11, 23, 12, 30, tzinfo=UTC)),
        ("last 3 weeks", datetime(2026, 11, 9, 12, 30, tzinfo=UTC)),
        ("past hour", datetime(2026, 11, 30, 11, 30, tzinfo=UTC)),
        ("3d", datetime(2026, 11, 27, 12, 30, tzinfo=UTC)),
        ("2w", datetime(2026, 11, 16, 12, 30, tzinfo=UTC)),
        ("last monday", datetime(2026, 11, 23, tzinfo=UTC)),
        ("friday", datetime(2026, 11, 27, tzinfo=UTC)),
    ],
)
def test_a_phrase_is_a_moment(text: str, moment: datetime) -> None:
    assert read_phrase(text, NOW) == moment


@pytest.mark.parametrize("text", ["", "soon", "week", "days ago", "5 parsecs ago", "2026-13-45", "999999 years ago"])
def test_what_means_no_moment_is_none(text: str) -> None:
    assert read_phrase(text, NOW) is None


@given(st.text(max_size=40))
def test_any_text_is_a_moment_or_none(text: str) -> None:
    found = read_phrase(text, NOW)
    assert found is None or found.tzinfo is not None
