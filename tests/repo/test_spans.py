"""Intervals go through differences as a slow, obvious method says they must."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memhub_mcp.domain.revision import Hunk, Span, Spans
from memhub_mcp.repo.contents import patch_of
from memhub_mcp.repo.spans import carry_back, carry_forward, hull, union

lines = st.lists(st.sampled_from("abcdefgh"), max_size=24)
span = st.tuples(st.integers(0, 24), st.integers(0, 24)).map(lambda ends: (min(ends), max(ends)))


def difference(before: list[str], after: list[str]) -> tuple[Hunk, ...]:
    old, new = ("".join(f"{line}\n" for line in text).encode() for text in (before, after))
    return patch_of(old, new)[0]


def naive(spans: Spans, before: list[str], after: list[str], hunks: tuple[Hunk, ...]) -> tuple[set[int], bool]:
    """Line by line: unchanged lines keep their partner, a hunk that reaches into a span brings all it replaced."""
    wanted = {line for start, end in spans for line in range(start, end)}
    found: set[int] = set()
    touched = False
    old = new = 0
    for hunk in hunks:
        first_old = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        first_new = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
        assert first_old - old == first_new - new
        for step in range(first_old - old):
            assert before[old + step] == after[new + step]
            if new + step in wanted:
                found.add(old + step)
        reaches = any(first_new < end and start < first_new + hunk.new_lines for start, end in spans)
        if reaches:
            touched = True
            found |= set(range(first_old, first_old + hunk.old_lines))
        old, new = first_old + hunk.old_lines, first_new + hunk.new_lines
    assert before[old:] == after[new:]
    found |= {old + step for step in range(len(before) - old) if new + step in wanted}
    return found, touched


def covered(spans: Spans) -> set[int]:
    return {line for start, end in spans for line in range(start, end)}


@given(lines, lines, st.lists(span, max_size=3))
def test_a_span_keeps_exactly_its_lines(before: list[str], after: list[str], given_spans: list[Span]) -> None:
    spans = union([(min(start, len(after)), min(end, len(after))) for start, end in given_spans])
    hunks = difference(before, after)
    found, touched = carry_back(spans, hunks)
    assert (covered(found), touched) == naive(spans, before, after, hunks)
    assert found == union(found)


@given(lines, lines, span)
def test_lines_that_nobody_touched_come_back_unchanged(before: list[str], after: list[str], given_span: Span) -> None:
    spans = union([(min(given_span[0], len(after)), min(given_span[1], len(after)))])
    hunks = difference(before, after)
    earlier, touched = carry_back(spans, hunks)
    if not touched:
        assert carry_forward(earlier, hunks) == (spans, False)
        assert [before[i] for i in sorted(covered(earlier))] == [after[i] for i in sorted(covered(spans))]


@given(st.lists(span, max_size=6))
def test_a_union_is_sorted_and_holds_each_line_once(spans: list[Span]) -> None:
    found = union(spans)
    assert covered(found) == covered(tuple(spans))
    assert all(a[1] < b[0] for a, b in pairwise(found))
    if found:
        assert hull(found) == (min(covered(found)), max(covered(found)) + 1)
