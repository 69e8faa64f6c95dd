"""One file's change as line ranges: found in the file as it was, or told from the file as it became.

A hunk is (old start, old lines, new start, new lines) without context, counted as git counts: from 1, and a length of
0 stands after the line it names. Lines end at `\\n` alone. Standard library only, no dataclasses: the hook path
imports this.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

Hunk = tuple[int, int, int, int]
Replacement = tuple[str, str, bool]
"""What is replaced, by what, and whether at every place."""


_EFFORT = 16  # how often each line may be looked at: a text made to split badly ends as one larger hunk


class Change:
    """What one tool call did to one file.

    With `hunks`, `old_text` and `new_text` are the lines of those ranges, one hunk after another; without, or with
    hunks that start nowhere, they are what was replaced and by what, wherever that was. `before` and
    `after` are the whole file, where it is known. `everywhere`: each place that held the old text was replaced.
    """

    __slots__ = ("after", "before", "everywhere", "hunks", "kind", "new_text", "old_path", "old_text", "path")

    def __init__(
        self,
        path: str,
        *,
        kind: str = "modify",
        hunks: Sequence[Hunk] = (),
        old_text: str | None = None,
        new_text: str | None = None,
        old_path: str | None = None,
        before: str | None = None,
        after: str | None = None,
        everywhere: bool = False,
    ) -> None:
        self.path = path
        self.kind = kind
        self.hunks = tuple(hunks)
        self.old_text = old_text
        self.new_text = new_text
        self.old_path = old_path
        self.before = before
        self.after = after
        self.everywhere = everywhere


def split_lines(text: str) -> list[str]:
    """Lines with their ends."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def change_between(path: str, before: str, after: str) -> Change:
    """The change from one whole text to the other, as few lines as a patience diff finds."""
    old, new = split_lines(before), split_lines(after)
    hunks = list(_hunks(old, new))
    removed = [line for start, count, _, _ in hunks for line in old[start - 1 : start - 1 + count] if count]
    added = [line for _, _, start, count in hunks for line in new[start - 1 : start - 1 + count] if count]
    return Change(path, hunks=hunks, old_text="".join(removed), new_text="".join(added), before=before, after=after)


def change_of_replacing(path: str, before: str, replacements: Sequence[Replacement]) -> Change | None:
    """The change that replacing makes to `before`, one after another; None when one of them has no certain place."""
    after = _replace(before, replacements)
    return None if after is None else change_between(path, before, after)


def change_undone(path: str, after: str, replacements: Sequence[Replacement]) -> Change | None:
    """The change that replacing made, told from the file afterwards; None when a place is not certain."""
    before = _replace(after, [(new, old, everywhere) for old, new, everywhere in reversed(replacements)])
    return None if before is None else change_between(path, before, after)


def change_unplaced(path: str, replacements: Sequence[Replacement]) -> Change:
    """The change when nothing tells where it was; hunks that start nowhere keep several replacements apart."""
    old = "\n".join(old for old, _, _ in replacements)
    new = "\n".join(new for _, new, _ in replacements)
    sizes = [(0, old.count("\n") + 1, 0, new.count("\n") + 1) for old, new, _ in replacements]
    everywhere = all(everywhere for _, _, everywhere in replacements)
    return Change(path, hunks=sizes if len(sizes) > 1 else (), old_text=old, new_text=new, everywhere=everywhere)


def change_of_patch(path: str, patch: Sequence[tuple[int, int, Sequence[str]]], before: str | None) -> Change | None:
    """The change that unified hunks describe: (old start, new start, lines with their sign) each.

    When `before` is known the hunks must fit it: otherwise None.
    """
    hunks: list[Hunk] = []
    removed: list[str] = []
    added: list[str] = []
    for old_start, new_start, lines in patch:
        _read_unified(old_start, new_start, lines, hunks, removed, added)
    after = None if before is None else _apply(before, hunks, removed, added)
    if before is not None and after is None:
        return None
    return Change(path, hunks=hunks, old_text="".join(removed), new_text="".join(added), before=before, after=after)


def _replace(text: str, replacements: Sequence[Replacement]) -> str | None:
    for old, new, everywhere in replacements:
        if "\r\n" in text and "\n" in old and old not in text:
            old, new = old.replace("\r\n", "\n").replace("\n", "\r\n"), new.replace("\r\n", "\n").replace("\n", "\r\n")
        places = text.count(old) if old else int(not text)
        if places == 0 or (places > 1 and not everywhere):
            return None
        text = text.replace(old, new) if old else new
    return text


def _hunks(old: list[str], new: list[str]) -> Iterator[Hunk]:
    """The ranges that differ, in order."""
    effort = _EFFORT * (len(old) + len(new))
    todo = [(0, len(old), 0, len(new))]
    while todo:
        old_at, old_end, new_at, new_end = todo.pop()
        while old_at < old_end and new_at < new_end and old[old_at] == new[new_at]:
            old_at, new_at = old_at + 1, new_at + 1
        while old_at < old_end and new_at < new_end and old[old_end - 1] == new[new_end - 1]:
            old_end, new_end = old_end - 1, new_end - 1
        effort -= old_end - old_at + new_end - new_at
        both = old_at < old_end and new_at < new_end and effort > 0
        anchors = _anchors(old, new, old_at, old_end, new_at, new_end) if both else []
        if anchors:
            edges = [(old_at, new_at), *((i + 1, j + 1) for i, j in anchors)]
            ends = [*anchors, (old_end, new_end)]
            todo += [(i, k, j, m) for (i, j), (k, m) in zip(reversed(edges), reversed(ends), strict=True)]
        elif old_at < old_end or new_at < new_end:
            yield _hunk(old_at, old_end - old_at, new_at, new_end - new_at)


def _anchors(
    old: list[str], new: list[str], old_at: int, old_end: int, new_at: int, new_end: int
) -> list[tuple[int, int]]:
    """Places of lines that occur once in each range, as many as keep their order.

    Source: Bram Cohen's patience diff.
    """
    seen_old, seen_new = _once(old, old_at, old_end), _once(new, new_at, new_end)
    pairs = [(i, seen_new[line]) for line, i in seen_old.items() if line in seen_new]
    tops: list[int] = []
    chain: list[tuple[int, int, int]] = []  # old line, new line, the entry before it in `chain`
    ends: list[int] = []
    for i, j in pairs:
        pile = bisect_left(tops, j)
        chain.append((i, j, ends[pile - 1] if pile else -1))
        if pile == len(tops):
            tops.append(j)
            ends.append(len(chain) - 1)
        else:
            tops[pile] = j
            ends[pile] = len(chain) - 1
    longest: list[tuple[int, int]] = []
    entry = ends[-1] if ends else -1
    while entry >= 0:
        i, j, entry = chain[entry]
        longest.append((i, j))
    return longest[::-1]


def _once(lines: list[str], start: int, end: int) -> dict[str, int]:
    """The lines that occur once in a range, with their places, in order."""
    places: dict[str, int] = {}
    repeated: set[str] = set()
    for place in range(start, end):
        line = lines[place]
        if line in places:
            repeated.add(line)
        places[line] = place
    return {line: place for line, place in places.items() if line not in repeated}


def _hunk(old_at: int, old_lines: int, new_at: int, new_lines: int) -> Hunk:
    return (old_at + (old_lines > 0), old_lines, new_at + (new_lines > 0), new_lines)


def _read_unified(
    old_start: int, new_start: int, lines: Sequence[str], hunks: list[Hunk], removed: list[str], added: list[str]
) -> None:
    """Add what one unified hunk says: its runs of `-` and `+` lines."""
    old_at = max(old_start - 1, 0)
    new_at = max(new_start - 1, 0)
    run: tuple[int, int] | None = None
    gone = come = 0
    last: list[str] = []
    for line in [*lines, " "]:
        sign, text = line[:1] or " ", line[1:].removesuffix("\n") + "\n"
        if sign == "\\":
            if last:
                last[-1] = last[-1].removesuffix("\n")
            continue
        if sign in "+-":
            run = run or (old_at, new_at)
            last = added if sign == "+" else removed
            last.append(text)
            gone, come = gone + (sign == "-"), come + (sign == "+")
        elif run is not None:
            hunks.append(_hunk(run[0], gone, run[1], come))
            run, gone, come = None, 0, 0
            last = []
        old_at, new_at = old_at + (sign != "+"), new_at + (sign != "-")


def _apply(before: str, hunks: Sequence[Hunk], removed: Sequence[str], added: Sequence[str]) -> str | None:
    """`before` with the hunks applied; None when they do not fit."""
    old = split_lines(before)
    crlf = bool(old) and all(line.endswith("\r\n") for line in old)
    kept: list[str] = []
    position = gone = come = 0
    for start, count, _, new_count in hunks:
        at = start - 1 if count else start
        if at < position or [line.rstrip("\r\n") for line in old[at : at + count]] != [
            line.rstrip("\r\n") for line in removed[gone : gone + count]
        ]:
            return None
        kept += old[position:at]
        lines = added[come : come + new_count]
        kept += [line.rstrip("\r\n") + "\r\n" for line in lines] if crlf else lines
        position, gone, come = at + count, gone + count, come + new_count
    kept += old[position:]
    return "".join(kept)
