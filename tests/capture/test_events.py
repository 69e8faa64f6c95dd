"""An edit event is the same after a journey through the spool."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhub_mcp.capture import spool
from memhub_mcp.capture.events import edit_from_json, edit_to_json
from memhub_mcp.domain.revision import ChangeKind, EditEvent, Hunk

texts = st.text(max_size=40)
maybe = st.none() | texts
counts = st.integers(min_value=0, max_value=10**6)
events = st.builds(
    EditEvent,
    tool=texts,
    path=texts,
    source=texts,
    session=maybe,
    tool_call=maybe,
    time=st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])),
    kind=st.sampled_from(ChangeKind),
    hunks=st.lists(st.builds(Hunk, counts, counts, counts, counts), max_size=4).map(tuple),
    ordinal=counts,
    turn=maybe,
    cwd=maybe,
    old_text=maybe,
    new_text=maybe,
    content_after=maybe,
    hash_after=maybe,
    old_path=maybe,
    said=maybe,
)


@given(events)
def test_an_event_survives_the_spool(tmp_path_factory: pytest.TempPathFactory, event: EditEvent) -> None:
    home = tmp_path_factory.getbasetemp() / "home"
    entry = spool.write(home, edit_to_json(event))
    data = spool.read(entry)
    spool.remove(entry)
    assert data is not None
    assert edit_from_json(data) == event


@pytest.mark.parametrize(
    "change",
    [
        {"event": "prompt"},
        {"path": 7},
        {"path": None},
        {"time": "yesterday"},
        {"time": "2026-01-01T10:00:00"},
        {"hunks": [[1, 2, 3]]},
        {"hunks": [[1, 2, 3, -4]]},
        {"hunks": "1"},
        {"kind": "explode"},
        {"ordinal": -1},
        {"said": 5},
    ],
)
def test_an_event_that_makes_no_sense_is_refused(change: dict[str, object]) -> None:
    event = EditEvent(tool="Edit", path="a.py", source="x", session=None, tool_call=None, time=datetime.now(UTC))
    with pytest.raises(ValueError, match=r"\w"):
        edit_from_json({**edit_to_json(event), **change})


def test_pieces_are_the_lines_of_each_hunk() -> None:
    event = EditEvent(
        tool="Edit",
        path="a.py",
        source="x",
        session=None,
        tool_call=None,
        time=datetime.now(UTC),
        hunks=(Hunk(2, 1, 2, 2), Hunk(9, 1, 10, 0), Hunk(20, 0, 20, 1)),
        old_text="b\nj\n",
        new_text="B\nC\x0b\u2028c\nend",
    )
    assert event.pieces() == [
        (Hunk(2, 1, 2, 2), "b\n", "B\nC\x0b\u2028c\n"),
        (Hunk(9, 1, 10, 0), "j\n", ""),
        (Hunk(20, 0, 20, 1), "", "end"),
    ]
