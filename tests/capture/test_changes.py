"""A change says exactly which lines went and which came."""

from hypothesis import given
from hypothesis import strategies as st

from memhub_mcp.capture.changes import (
    Change,
    change_between,
    change_of_patch,
    change_of_replacing,
    change_undone,
    split_lines,
)

lines = st.sampled_from(["a\n", "b\n", "c\n", "\n", "a\r\n", "\u2028x\n", "é\n"])
files = st.tuples(st.lists(lines, max_size=12).map("".join), st.sampled_from(["", "end"])).map("".join)


def applied(before: str, change: Change) -> str:
    """`before` with the hunks put in by hand."""
    old, new = split_lines(before), split_lines(change.new_text or "")
    gone = split_lines(change.old_text or "")
    result: list[str] = []
    place = taken = given_ = 0
    for start, count, new_start, new_count in change.hunks:
        at = start - 1 if count else start
        result += old[place:at]
        assert len(result) == (new_start - 1 if new_count else new_start)
        assert old[at : at + count] == gone[taken : taken + count]
        result += new[given_ : given_ + new_count]
        place, taken, given_ = at + count, taken + count, given_ + new_count
    return "".join(result + old[place:])


@given(files, files)
def test_hunks_lead_from_one_text_to_the_other(before: str, after: str) -> None:
    change = change_between("f", before, after)
    assert applied(before, change) == after
    assert bool(change.hunks) == (before != after)


@given(files, st.data())
def test_a_replacement_is_found_where_it_was(before: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(before)))
    end = data.draw(st.integers(start, len(before)))
    old, new = before[start:end], data.draw(files)
    change = change_of_replacing("f", before, [(old, new, False)])
    if old and before.count(old) == 1:
        assert change is not None
        assert applied(before, change) == before.replace(old, new)
    elif before:
        assert change is None


def test_places_far_apart_stay_apart() -> None:
    before = "".join(f"line {number} old\n" if number in (3, 50, 90) else f"line {number}\n" for number in range(100))
    change = change_of_replacing("f", before, [("old", "new", True)])
    assert change is not None
    assert change.hunks == ((4, 1, 4, 1), (51, 1, 51, 1), (91, 1, 91, 1))


def test_one_of_several_places_is_not_guessed() -> None:
    assert change_of_replacing("f", "x\nx\n", [("x", "y", False)]) is None
    assert change_undone("f", "y\ny\n", [("x", "y", False)]) is None


def test_edits_of_a_file_with_carriage_returns_are_found() -> None:
    change = change_of_replacing("f", "a\r\nb\r\nc\r\n", [("a\nb", "a\nB", False)])
    assert change is not None
    assert (change.hunks, change.new_text) == (((2, 1, 2, 1),), "B\r\n")


def test_a_file_afterwards_tells_what_it_was_before() -> None:
    change = change_undone("f", "one\nTWO\nthree\n", [("two", "TWO", False)])
    assert change is not None
    assert (change.before, change.hunks) == ("one\ntwo\nthree\n", ((2, 1, 2, 1),))


@given(files, files)
def test_a_unified_hunk_is_read_without_its_context(before: str, after: str) -> None:
    old, new = split_lines(before), split_lines(after)
    no_end = "\\ No newline at end of file"
    shown: list[str] = []
    for sign, side in (("-", old), ("+", new)):
        for line in side:
            shown.append(sign + line.removesuffix("\n"))
            if not line.endswith("\n"):
                shown.append(no_end)
    change = change_of_patch("f", [(1 if old else 0, 1 if new else 0, shown)], None)
    assert change is not None
    assert (change.old_text, change.new_text) == (before, after)


def test_a_patch_that_does_not_fit_its_file_is_refused() -> None:
    patch = [(1, 1, ["-gone", "+come", " kept"])]
    assert change_of_patch("f", patch, "other\nkept\n") is None
    fitting = change_of_patch("f", patch, "gone\nkept\n")
    assert fitting is not None
    assert fitting.after == "come\nkept\n"


def test_a_large_file_rewritten_line_by_line_does_not_hold_anyone_up() -> None:
    before = "".join(f"{number % 7}\n" for number in range(20_000))
    after = "".join(f"{number % 5}\n" for number in range(20_000))
    assert applied(before, change_between("f", before, after)) == after
