"""Line intervals carried through differences, exactly, as git's line log carries them."""

from collections.abc import Iterable, Sequence

from memhub_mcp.domain.revision import Hunk, Span, Spans


def carry_back(spans: Spans, hunks: Sequence[Hunk]) -> tuple[Spans, bool]:
    """`spans` of the text after a difference as spans of the text before it, and whether any hunk touched them.

    A hunk that overlaps a span brings all the lines it replaced; a pure deletion touches a span only strictly
    inside it. `hunks` are in order of the text.

    Source: git's line-log.c, `range_set_map_across_diff`.
    """
    return _carry(spans, [(new, old) for old, new in map(_sides, hunks)])


def carry_forward(spans: Spans, hunks: Sequence[Hunk]) -> tuple[Spans, bool]:
    """`spans` of the text before a difference as spans of the text after it, and whether any hunk touched them."""
    return _carry(spans, [_sides(hunk) for hunk in hunks])


def union(*sets: Iterable[Span]) -> Spans:
    """One set with the lines of all."""
    out: list[Span] = []
    for start, end in sorted(span for spans in sets for span in spans if span[0] < span[1]):
        if out and out[-1][1] >= start:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return tuple(out)


def hull(spans: Spans) -> Span:
    """The smallest interval that holds all of `spans`, which are not empty."""
    return spans[0][0], spans[-1][1]


def _sides(hunk: Hunk) -> tuple[Span, Span]:
    """Before and after; a length of 0 starts after the line it names."""
    old = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
    new = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
    return (old, old + hunk.old_lines), (new, new + hunk.new_lines)


def _carry(spans: Spans, pairs: list[tuple[Span, Span]]) -> tuple[Spans, bool]:
    touched = [(here, there) for here, there in pairs if any(_overlap(here, span) for span in spans)]
    kept = _difference(spans, [here for here, _ in touched])
    return union(_shift(kept, pairs), [there for _, there in touched]), bool(touched)


def _overlap(a: Span, b: Span) -> bool:
    return a[1] > b[0] and b[1] > a[0]


def _difference(spans: Spans, removed: list[Span]) -> list[Span]:
    out: list[Span] = []
    for start, end in spans:
        for first, last in removed:
            if last <= start or first >= end:
                continue
            if start < first:
                out.append((start, first))
            start = last
        if start < end:
            out.append((start, end))
    return out


def _shift(spans: list[Span], pairs: list[tuple[Span, Span]]) -> list[Span]:
    out: list[Span] = []
    offset = index = 0
    for start, end in spans:
        while index < len(pairs) and start >= pairs[index][0][0]:
            here, there = pairs[index]
            offset += (there[1] - there[0]) - (here[1] - here[0])
            index += 1
        out.append((start + offset, end + offset))
    return out
