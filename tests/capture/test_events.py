"""An edit becomes an event without its secrets, and is the same after a journey through the spool."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memhub_mcp.capture import spool
from memhub_mcp.capture.changes import Change, change_between
from memhub_mcp.capture.events import edit_from_json
from memhub_mcp.capture.records import MAX_TEXT_BYTES, Circumstances, blob_id, edit_record
from memhub_mcp.capture.redact import redact
from memhub_mcp.domain.revision import ChangeKind, EditEvent, Hunk

NOW = "2026-03-04T05:06:07.000008+00:00"
KEY = "ghp_" + "a1b2" * 9
PEM = "-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY-----\n"


def circumstances(**more: str) -> Circumstances:
    return Circumstances(tool="Edit", source="claude-code", time=NOW, **more)


def event_of(change: Change, **more: str) -> EditEvent:
    return edit_from_json(edit_record(change, circumstances(**more)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("ordinal", 1 << 70), ("ordinal", -1), ("hunks", [[1, 1, 1, 1 << 70]]), ("hunks", [[1, 1, 1]])),
        *(
            ("time", "0001-01-01T00:00:00+10:00"),
            ("time", "9999-12-31T23:59:59-10:00"),
            ("time", "2026-03-04T05:06:07"),
        ),
    ],
)
def test_what_no_store_could_hold_is_no_event(name: str, value: object) -> None:
    record = edit_record(change_between("a.py", "1\n", "2\n"), circumstances())
    with pytest.raises(ValueError, match=r"."):
        edit_from_json({**record, name: value})


def test_half_a_character_in_a_file_breaks_nothing() -> None:
    event = event_of(Change("a.py", kind="add", new_text="\ud83d\n", after="\ud83d\n"))
    assert event.content_after == "?\n"


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)


@given(texts, texts)
def test_an_event_survives_the_spool(tmp_path_factory: pytest.TempPathFactory, before: str, after: str) -> None:
    assume(redact(before) == before and redact(after) == after)
    change = change_between("src/a.py", before, after)
    about = circumstances(session="s", tool_call="c", turn="t", cwd="/w", said="do it", branch="b")
    record = edit_record(change, about)
    home = tmp_path_factory.getbasetemp() / "home"
    entry = spool.write(home, record)
    data = spool.read(entry)
    spool.remove(entry)
    assert data is not None
    event = edit_from_json(data)
    assert event == edit_from_json(record)
    assert (event.time, event.path) == (datetime(2026, 3, 4, 5, 6, 7, 8, UTC), "src/a.py")
    assert (event.session, event.tool_call, event.turn, event.cwd) == ("s", "c", "t", "/w")
    assert (event.said, event.branch, event.kind) == ("do it", "b", ChangeKind.MODIFY)
    assert (event.old_text, event.new_text, event.content_after) == (change.old_text, change.new_text, after)
    assert event.hunks == tuple(Hunk(*hunk) for hunk in change.hunks)
    assert "".join(old for _, old, _ in event.pieces()) == event.old_text
    assert "".join(new for _, _, new in event.pieces()) == event.new_text


def test_no_secret_is_in_an_event() -> None:
    event = event_of(change_between("a.py", "", f"key = '{KEY}'\nnext = 1\n"))
    assert event.new_text == event.content_after == "key = '[redacted:github]'\nnext = 1\n"


def test_a_line_inside_a_private_key_is_seen_as_one() -> None:
    lines = [f"{letter * 64}\n" for letter in "ABCD"]
    before, after = PEM.format("".join(lines)), PEM.format("".join([*lines[:2], "E" * 64 + "\n", lines[3]]))
    event = event_of(change_between("notes.txt", before, after))
    assert event.hunks == (Hunk(4, 1, 4, 1),)
    assert event.old_text == event.new_text == "[redacted:key-block]\n"


@pytest.mark.parametrize("path", [".env", "conf/server.pem", "id_ed25519", "C:\\w\\.ENV.local"])
def test_of_a_file_of_secrets_only_the_path_is_kept(path: str) -> None:
    event = event_of(change_between(path, "A=1\n", "A=2\n"))
    assert (event.path, event.old_text, event.new_text, event.content_after, event.hash_after) == (path, *[None] * 4)


def test_a_secret_file_that_is_renamed_stays_one() -> None:
    change = change_between("settings.txt", "A=1\n", "A=2\n")
    change.kind, change.old_path = "rename", ".env"
    assert event_of(change).content_after is None


def test_a_file_that_is_too_large_leaves_its_ranges_and_its_hash() -> None:
    after = "x = 1\n" * (MAX_TEXT_BYTES // 5)
    event = event_of(change_between("a.py", "", after))
    assert (event.new_text, event.content_after) == (None, None)
    assert event.hunks == (Hunk(0, 0, 1, after.count("\n")),)
    assert event.hash_after == blob_id(after.encode())


def test_a_formatter_that_ran_since_is_part_of_the_change() -> None:
    change = change_between("a.py", "a = 1\nb = 2\n", "a = 1\nb=3\n")
    change.after = "a = 1\nb = 3\n"
    event = event_of(change)
    assert (event.new_text, event.content_after, event.old_text) == ("b = 3\n", "a = 1\nb = 3\n", "b = 2\n")
    unknown = Change("a.py", hunks=[(2, 1, 2, 1)], old_text="b = 2\n", new_text="b=3\n", after="a = 1\nb = 3\n")
    assert event_of(unknown).new_text == "b=3\n"


def test_bytes_are_no_text() -> None:
    event = event_of(Change("a.bin", new_text="a\0b", after="a\0b"))
    assert (event.new_text, event.content_after) == (None, None)
    assert event.hash_after is not None


def test_what_is_no_unicode_is_replaced() -> None:
    event = event_of(Change("caf\udce9.py", new_text="\ud800"))
    assert (event.path, event.new_text) == ("caf?.py", "?")
    assert event_of(Change("a.py", new_text="\ud800", after="\ud800")).hash_after is None


def test_the_hash_is_the_one_that_git_gives() -> None:
    assert blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


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
    record = edit_record(Change("a.py"), circumstances())
    with pytest.raises(ValueError, match=re.compile(".")):
        edit_from_json({**record, **change})


def test_pieces_are_the_lines_of_each_hunk() -> None:
    event = event_of(
        Change(
            "a.py",
            hunks=[(2, 1, 2, 2), (9, 1, 10, 0), (20, 0, 20, 1)],
            old_text="b\nj\n",
            new_text="B\nC\x0b\u2028c\nend",
        )
    )
    assert event.pieces() == [
        (Hunk(2, 1, 2, 2), "b\n", "B\nC\x0b\u2028c\n"),
        (Hunk(9, 1, 10, 0), "j\n", ""),
        (Hunk(20, 0, 20, 1), "", "end"),
    ]


LIGHT = [
    *("assignments", "changes", "edits", "key_blocks", "key_formats", "logins", "markers", "never_stored"),
    *("patches", "records", "redact", "said", "secret_values", "spool"),
]


@pytest.mark.parametrize("name", LIGHT)
def test_what_a_hook_loads_stays_small(name: str) -> None:
    heavy = re.compile(r"^(?:from|import) (?:typing|pathlib|dataclasses|datetime|logging|argparse|subprocess)\b", re.M)
    source = Path(spool.__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    assert not heavy.search(source)
