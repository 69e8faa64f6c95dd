"""Which lines a question about code means: a file, a symbol, a line, a range; here or as a branch has it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rapidfuzz import fuzz, process

from memhub_mcp.domain.revision import Spans
from memhub_mcp.errors import InvalidInput
from memhub_mcp.repo.contents import difference, is_binary, text_lines
from memhub_mcp.repo.plain_files import read_inside
from memhub_mcp.repo.spans import carry_back
from memhub_mcp.repo.symbols import FileSymbols, Symbol, enclosing, find_symbols, read_symbols
from memhub_mcp.service.tracing import BlockHistory

MAX_BLOCKS = 3
_SUGGESTED = 3
_CLOSE = 60.0
_PLACE = re.compile(r"(?P<path>.+?):(?P<rest>[^:/\\].*)", re.DOTALL)
_RANGE = re.compile(r"L?(\d{1,9})(?:\s*[-,:]\s*L?(\d{1,9}))?")

Lines = tuple[int, int]
"""First and last line, both included, counted from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Lines of a file as a person sees them, and as HEAD has them.

    `text` are the block's lines in the working tree, None when HEAD's are meant or the file is as HEAD has it.
    `edited` says that they differ from HEAD's.
    """

    path: str
    symbol: str | None
    spans: Spans
    here: Spans
    data: bytes
    text: tuple[str, ...] | None = None
    edited: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """The blocks that were meant, and what the asker should know."""

    blocks: tuple[Block, ...] = ()
    notes: tuple[str, ...] = ()


def split_place(text: str) -> tuple[str, str | None, Lines | None]:
    """`src/app.py:Client.send`, `src/app.py:120`, `src/app.py:10-20` or `src/app.py`: path, symbol, lines."""
    match = _PLACE.fullmatch(text)
    if match is None or re.fullmatch(r"[A-Za-z]", match["path"]):
        return text, None, None
    lines = _RANGE.fullmatch(match["rest"].strip())
    if lines is None:
        return match["path"], match["rest"].strip(), None
    first = int(lines[1])
    return match["path"], None, (first, int(lines[2] or first))


def plain_path(root: Path, path: str) -> str:
    """`path` relative to the root of the checkout, with forward slashes.

    Raises:
        InvalidInput: it lies outside, or is no path.
    """
    text = path.strip().replace("\\", "/") if "\\x" not in path else path.strip()
    if "\0" in text or not text:
        raise InvalidInput("path is empty or holds NUL; give a file relative to the repository")
    base = root.as_posix().rstrip("/")
    if text == base or text.startswith(f"{base}/"):
        text = text[len(base) :].lstrip("/")
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if text.startswith("/") or ".." in parts or ".git" in map(str.casefold, parts) or re.match(r"[A-Za-z]:", text):
        raise InvalidInput(f"{path[:200]!r} lies outside the repository; give a file relative to its root")
    if not parts:
        raise InvalidInput("path names the whole repository; give a file, or ask with query")
    return "/".join(parts)


def find_blocks(
    history: BlockHistory,
    head: str,
    root: Path | None,
    path: str,
    *,
    symbol: str | None = None,
    lines: Lines | None = None,
    untracked: bool = False,
    remembered: bytes | None = None,
) -> Found:
    """The blocks of `path` that are meant. `root` is the working tree, None when only `head` counts.

    A file that HEAD does not have is read only when it is `untracked` but known; one that is nowhere is taken as it is
    `remembered`.
    """
    blob = history.walked.blob(head, path)
    committed = history.contents.data(blob) if blob else None
    disk = read_inside(root, path) if root is not None and (blob is not None or untracked) else None
    if disk is None and committed is None:
        disk = remembered
    data = disk if disk is not None else committed
    if data is None or is_binary(data):
        return Found()
    notes: list[str] = []
    if root is not None and disk is None and committed is not None:
        notes.append("the file is not in the working tree; this is how HEAD has it")
    spots = _spots(path, data, symbol, lines, notes)
    blocks = [_block(path, name, here, data, committed, disk) for name, here in spots]
    return Found(tuple(blocks), tuple(notes))


def near_misses(wanted: str, names: Sequence[str]) -> list[str]:
    """Names that may have been meant: those that end in the same file name first."""
    last = wanted.rpartition("/")[2].lower()
    same = [name for name in names if name.rpartition("/")[2].lower() == last]
    close = process.extract(wanted, names, scorer=fuzz.WRatio, limit=_SUGGESTED, score_cutoff=_CLOSE)
    return list(dict.fromkeys([*same[:_SUGGESTED], *(name for name, _, _ in close)]))[:_SUGGESTED]


def _spots(
    path: str, data: bytes, symbol: str | None, lines: Lines | None, notes: list[str]
) -> list[tuple[str | None, Spans]]:
    total = len(text_lines(data))
    if symbol is None and lines is None:
        return [(None, ((0, total),) if total else ())]
    parsed = read_symbols(path, data)
    if symbol is not None:
        return _by_symbol(parsed, symbol, lines, notes)
    assert lines is not None
    first, last = sorted(lines)
    if first < 1 or first > total:
        notes.append(f"the file has {total} lines")
        return []
    if last > first:
        return [(None, ((first - 1, min(last, total)),))]
    return [_by_line(parsed, data, first - 1, notes)]


def _by_symbol(
    parsed: FileSymbols, symbol: str, lines: Lines | None, notes: list[str]
) -> list[tuple[str | None, Spans]]:
    found = find_symbols(parsed.symbols, symbol)
    if lines is not None:
        found = [each for each in found if each.start < lines[0] <= each.end] or found
    if len(found) > MAX_BLOCKS:
        notes.append(f"{len(found)} symbols match; the first {MAX_BLOCKS} are shown: add parameters or a line")
    if not found and parsed.why:
        notes.append(f"symbols of this file are not known: {parsed.why}; ask by line")
    elif not found:
        names = near_misses(symbol, list(dict.fromkeys(each.name for each in parsed.symbols)))
        notes.append(f"no symbol {symbol[:80]!r} here" + (f"; did you mean {', '.join(names)}?" if names else ""))
    several = len(found) > 1
    return [(_label(each, several=several), ((each.start, each.end),)) for each in found[:MAX_BLOCKS]]


def _by_line(parsed: FileSymbols, data: bytes, line: int, notes: list[str]) -> tuple[str | None, Spans]:
    symbol = enclosing(parsed.symbols, line)
    if symbol is not None:
        return symbol.name, ((symbol.start, symbol.end),)
    if parsed.why:
        notes.append(f"the paragraph around the line is taken: {parsed.why}")
    text = text_lines(data)
    first = last = line
    while first > 0 and text[first - 1].strip() and text[line].strip():
        first -= 1
    while last + 1 < len(text) and text[last + 1].strip() and text[line].strip():
        last += 1
    return None, ((first, last + 1),)


def _label(symbol: Symbol, *, several: bool) -> str:
    return f"{symbol.name}{symbol.detail}" if several else symbol.name


def _block(
    path: str, symbol: str | None, here: Spans, data: bytes, committed: bytes | None, disk: bytes | None
) -> Block:
    if disk is None or disk == committed:
        return Block(path=path, symbol=symbol, spans=here, here=here, data=data)
    if committed is None:
        return Block(path=path, symbol=symbol, spans=(), here=here, data=data, text=_text(data, here), edited=True)
    if b"\r\n" in disk and b"\r\n" not in committed:
        disk = disk.replace(b"\r\n", b"\n")  # as git would commit it
    hunks = difference(committed, disk)
    if hunks is None:
        return Block(path=path, symbol=symbol, spans=(), here=here, data=data)
    spans, edited = carry_back(here, hunks)
    return Block(path=path, symbol=symbol, spans=spans, here=here, data=disk, text=_text(disk, here), edited=edited)


def _text(data: bytes, spans: Spans) -> tuple[str, ...]:
    lines = text_lines(data)
    return tuple(line for start, end in spans for line in lines[start:end])
