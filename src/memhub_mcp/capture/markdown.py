"""A Markdown text as passages: a short section is one, a long one goes apart where its blocks end. Nothing is cut.

The lines of a block are told by a CommonMark parser: a `#` in a code fence is no heading, a fence in a list item stays
with its item.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

SHORT_CHARACTERS = 800
"""A section up to this length is one passage: about as much as the embedded model reads at once."""

_TABLE_CHARACTERS = 2_500  # a list of short items says one thing, as a table does
_SHORT_ITEM = 90
_LEAD_CHARACTERS = 60
_NESTING = 20
_LISTS = ("bullet_list_open", "ordered_list_open")
_FENCES = ("fence", "code_block")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\n]{0,1000}\)")
_MARKER = re.compile(r"^\s{0,20}(?:[-*+]|\d{1,9}[.)])\s{1,4}(?:\[[ xX]\]\s)?")
_MARKUP = re.compile(  # what stands in a code span, and the `_` of a name, is none
    r"(?P<ticks>`{1,5})(?P<code>[^`\n]{1,500})(?P=ticks)|`+|[*|~]+|(?<!\w)_+|_+(?!\w)|(?<!\S)[#>]+"
)
_SPACE = re.compile(r"\s+")

_PARSER = MarkdownIt("commonmark", {"maxNesting": _NESTING}).enable("table")
_PARSER.core.ruler.enableOnly(["normalize", "block"])


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a text that says one thing. `headings` lead to it, `lead` begins it if its section has others.

    `line` counts from 1.
    """

    text: str
    line: int
    headings: tuple[str, ...] = ()
    lead: str | None = None


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines `start` to `end`, the end left out. `items` are those of a list."""

    kind: str
    start: int
    end: int
    items: tuple[tuple[int, int], ...] = ()


def passages_of(text: str) -> list[Passage]:
    """The passages of `text` in order. Comments, and headings that nothing follows, are none."""
    lines = text.split("\n")
    found: list[Passage] = []
    for headings, blocks in _sections(_PARSER.parse(text), lines):
        found += _passages(lines, headings, blocks)
    return found


def outside_fences(text: str) -> str:
    """`text` without its blocks of code."""
    lines = text.split("\n")
    for token in _PARSER.parse(text):
        if token.type in _FENCES and token.map is not None:
            lines[token.map[0] : token.map[1]] = [""] * (token.map[1] - token.map[0])
    return "\n".join(lines)


def _sections(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[tuple[tuple[str, ...], list[_Block]]]:
    """The blocks under each heading, with the headings that lead there. The title of the text leads to its own."""
    titles = [token for token in tokens if token.type == "heading_open" and token.level == 0]
    only_title = bool(titles) and titles[0].tag == "h1" and sum(token.tag == "h1" for token in titles) == 1
    path: list[tuple[int, str]] = []
    blocks: list[_Block] = []
    reached = 0
    for number, token in enumerate(tokens):
        if token.level != 0 or token.map is None:
            continue
        blocks += _unread(lines, reached, token.map[0])
        reached = token.map[1]
        if token.type == "heading_open":
            yield tuple(name for _, name in path), blocks
            blocks = []
            depth = int(token.tag[1])
            path = [(level, name) for level, name in path if level < depth and not (only_title and level == 1)]
            path.append((depth, _plain(tokens[number + 1].content)))
        elif token.type != "hr":
            blocks += _block(tokens, number, lines)
    blocks += _unread(lines, reached, len(lines))
    yield tuple(name for _, name in path), blocks


def _unread(lines: Sequence[str], start: int, end: int) -> list[_Block]:
    """Lines that are no block for the parser: where the links of a text lead."""
    while start < end and not lines[start].strip():
        start += 1
    end = _trimmed(lines, start, end)[1]
    return [_Block("links", start, end)] if start < end else []


def _block(tokens: Sequence[Token], number: int, lines: Sequence[str]) -> list[_Block]:
    token = tokens[number]
    start, end = _trimmed(lines, *(token.map or [0, 0]))
    if start >= end:
        return []
    if token.type == "html_block" and not _COMMENT.sub("", "\n".join(lines[start:end])).strip():
        return []
    items: list[tuple[int, int]] = []
    if token.type in _LISTS:
        for inner in tokens[number + 1 :]:
            if inner.level == 0:
                break
            if inner.type == "list_item_open" and inner.level == 1 and inner.map is not None:
                items.append(_trimmed(lines, *inner.map))
    return [_Block(token.type, start, end, tuple(items))]


def _passages(lines: Sequence[str], headings: tuple[str, ...], blocks: Sequence[_Block]) -> list[Passage]:
    if not blocks:
        return []
    whole = Passage(_text(lines, blocks), blocks[0].start + 1, headings)
    if len(whole.text) <= SHORT_CHARACTERS:
        return [whole] if whole.text.strip() else []
    pieces = [piece for group in _groups(lines, blocks) for piece in _pieces(lines, group)]
    found = [Passage(_text(lines, piece), piece[0].start + 1, headings) for piece in pieces]
    found = [passage for passage in found if passage.text.strip()]
    return [replace(passage, lead=_lead(passage.text)) for passage in found] if len(found) > 1 else found


def _groups(lines: Sequence[str], blocks: Sequence[_Block]) -> Iterator[list[_Block]]:
    """Blocks that belong together: a bold line or a colon introduces the next one, code belongs to what precedes it."""
    group: list[_Block] = []
    for block in blocks:
        introduced = bool(group) and _introduces(lines[group[-1].start : group[-1].end])
        explained = bool(group) and block.kind in _FENCES and group[-1].kind == "paragraph_open"
        if group and not introduced and not explained:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _introduces(lines: Sequence[str]) -> bool:
    last = lines[-1].strip()
    return last.endswith((":", "：")) or (len(lines) == 1 and last.startswith("**") and last.endswith("**"))


def _pieces(lines: Sequence[str], group: list[_Block]) -> list[list[_Block]]:
    """A group as one, or, when it ends in a long list, its items apart; what introduces them stays with the first."""
    *before, last = group
    size = len(_text(lines, group))
    if len(last.items) < 2 or size <= SHORT_CHARACTERS:
        return [group]
    if size <= _TABLE_CHARACTERS and size / len(last.items) <= _SHORT_ITEM:
        return [group]
    items = [_Block("item", start, end) for start, end in last.items if start < end]
    return [[*before, items[0]], *([item] for item in items[1:])]


def _text(lines: Sequence[str], blocks: Sequence[_Block]) -> str:
    """The lines of the blocks and what is between them; of comments only what stands beside them."""
    kept: list[str] = []
    for number, block in enumerate(blocks):
        text = "\n".join(lines[block.start : block.end])
        if block.kind == "html_block":
            text = _COMMENT.sub("", text).strip("\n")
        gap = block.start - blocks[number - 1].end if number else 0
        kept.append("\n" * (min(gap, 1) + 1 if number else 0) + text)
    return "".join(kept)


def _trimmed(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def _lead(text: str) -> str:
    """What a passage is about: what it names before a colon, else its first words."""
    for line in text.split("\n"):
        words = _plain(_MARKER.sub("", line))
        if words and not line.lstrip().startswith(("```", "~~~")):
            named = words.partition(": ")[0]
            if len(named) <= _LEAD_CHARACTERS:
                return named
            return words[:_LEAD_CHARACTERS].rpartition(" ")[0] or words[:_LEAD_CHARACTERS]
    return ""


def _plain(text: str) -> str:
    """A line without its markup."""
    bare = _MARKUP.sub(lambda found: found["code"] or "", _LINK.sub(r"\1", text))
    return _SPACE.sub(" ", bare).strip(" :：")
