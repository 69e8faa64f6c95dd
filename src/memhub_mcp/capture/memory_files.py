"""The memories an assistant keeps for itself as Markdown: what in such a file is the person's, what is not."""

import re
from dataclasses import dataclass

from memhub_mcp.capture.markdown import Passage, outside_fences, passages_of
from memhub_mcp.errors import InvalidInput

MOST_LINES = 20_000

_WHOLE_NOTE = 4_000  # characters
_MOST_IMPORTS = 50
_FRONT = re.compile(r"\A---[ \t]*\n(.{0,20000}?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^[ \t]{0,8}([A-Za-z_-]{1,40}):[ \t]*(.{0,2000})$")
_ITEM = re.compile(r"^[ \t]{0,8}-[ \t]+(.{1,500})$")
_COMMENT_LINE = re.compile(r"[ \t]{0,3}<!--(.{1,300}?)-->[ \t]*$")
_WORD = re.compile(r"[\w./-]*\w")
_BEGINS, _ENDS = frozenset({"start", "begin"}), frozenset({"end", "stop"})
# What memhub and other memories put into such a file or a turn, to be read by a model.
_TOLD = re.compile(
    r"^<(memhub-evidence|claude-mem-context|system-reminder)>$.*?(?:^</\1>$|\Z)", re.DOTALL | re.MULTILINE
)
_CODE = re.compile(r"(`{1,5})[^`\n]{1,500}\1")
_IMPORT = re.compile(r"(?:^|(?<=\s))@((?:\\ |[^\s\\`@]){1,300})", re.MULTILINE)
_LINKED = re.compile(r"[\w./-]{1,300}\.(?:md|mdc)")  # what a checkout without links holds instead of one
_IMAGE = r"!\[[^\]\n]{0,300}\]\([^)\n]{0,1000}\)"
_BADGE = re.compile(rf"\[\s{{0,4}}{_IMAGE}\s{{0,4}}\]\([^)\n]{{0,1000}}\)|{_IMAGE}")
_CONTENTS = re.compile(r"\s{0,20}(?:[-*+]|\d{1,9}[.)])\s{1,4}\[[^\]\n]{0,300}\]\(#[^)\n]{0,300}\)\s{0,20}")
_GUIDANCE = re.compile(r"This file provides guidance to .{1,120} when working with code in this repository\.?")
_POINTER = re.compile(r"^\s{0,8}[-*+]\s+\[[^\]\n]{0,300}\]\([^)\s]{1,300}\.md\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFile:
    """What a file of memories says.

    `description`, `paths` (the files it is about) and `sort` come from the head of the file. `imports` are the files
    it names to be read with it, as written. `generated` blocks of other tools were left out.
    """

    passages: tuple[Passage, ...] = ()
    description: str | None = None
    paths: tuple[str, ...] = ()
    sort: str | None = None
    imports: tuple[str, ...] = ()
    generated: int = 0


def text_of_file(data: bytes) -> str:
    r"""The text of a file, with `\n` alone at the end of lines.

    Raises:
        InvalidInput: it is no text that can be kept; the message is the reason alone.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif b"\0" in data:
        raise InvalidInput("it holds NUL bytes, so it is no text")
    else:
        encoding = "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"it is not {encoding.removesuffix('-sig').upper()} text (byte {error.start})") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise InvalidInput("it holds NUL characters, so it is no text")
    if text.count("\n") > MOST_LINES:
        raise InvalidInput(f"it has more than {MOST_LINES:,} lines; import a part of it")
    return text


def read_memory_file(text: str, *, is_note: bool = False) -> MemoryFile:
    """What a memory file says. `is_note`: an assistant's own note, one memory a file, its index only leads to them."""
    head, text = _without_head(text)
    fields = _fields(head)
    text = _TOLD.sub(lambda found: "\n" * found[0].count("\n"), text)
    text, generated = _without_generated(text)
    if _LINKED.fullmatch(text.strip()):
        return MemoryFile(imports=(text.strip(),))
    passages = _note(text) if is_note else passages_of(text)
    return MemoryFile(
        passages=tuple(passage for passage in passages if not _says_nothing(passage.text)),
        description=_first(fields, "description"),
        paths=tuple(dict.fromkeys(path for name in ("globs", "paths", "applyTo") for path in fields.get(name, ()))),
        sort=_first(fields, "type"),
        imports=tuple(dict.fromkeys(_imports(outside_fences(text))))[:_MOST_IMPORTS],
        generated=generated,
    )


def _note(text: str) -> list[Passage]:
    """A note is one passage, unless it is long; of the index of notes, what does not lead to one."""
    lines = text.split("\n")
    kept = ["" if _POINTER.match(line) else line for line in lines]
    if kept != lines or len(text) > _WHOLE_NOTE:
        return passages_of("\n".join(kept))
    found = text.strip()
    line = text[: text.find(found)].count("\n") + 1
    return [Passage(found, line)] if found else []


def _without_head(text: str) -> tuple[str, str]:
    """The head of the file and the rest, with as many lines as before."""
    found = _FRONT.match(text)
    if found is None:
        return "", text
    return found[1], "\n" * found[0].count("\n") + text[found.end() :]


def _fields(head: str) -> dict[str, list[str]]:
    """The fields of a head, read line by line: globs are written there in ways that are no YAML."""
    fields: dict[str, list[str]] = {}
    name = ""
    for line in head.split("\n"):
        item, field = _ITEM.match(line), _FIELD.match(line)
        if item is not None and name:
            fields[name].append(_bare(item[1]))
        elif field is not None:
            name = field[1]
            value = field[2].strip()
            values = value.strip("[]").split(",") if name in ("globs", "paths", "applyTo") else [value]
            fields[name] = [bare for one in values if (bare := _bare(one))]
    return fields


def _bare(value: str) -> str:
    return value.strip().strip("\"'").strip()


def _first(fields: dict[str, list[str]], name: str) -> str | None:
    return next(iter(fields.get(name, ())), None)


def _without_generated(text: str) -> tuple[str, int]:
    """`text` without what tools wrote between two comments that name them, and how many of them were others than us."""
    lines = text.split("\n")
    opened: list[tuple[int, frozenset[str]]] = []
    others = 0
    for number, line in enumerate(outside_fences(text).split("\n")):
        mark = _COMMENT_LINE.match(line)
        if mark is None:
            continue
        name, ends = _name_of(mark[1])
        at = next((n for n in reversed(range(len(opened))) if ends and name <= opened[n][1]), None) if name else None
        if at is not None:
            lines[opened[at][0] : number + 1] = [""] * (number + 1 - opened[at][0])
            others += "memhub" not in name
            del opened[at:]
        elif name and not ends:
            opened.append((number, name))
    return "\n".join(lines), others


def _name_of(comment: str) -> tuple[frozenset[str], bool]:
    """The words of a comment without `begin` and `end`, and whether it ends a block."""
    words = frozenset(word.strip("./-").lower() for word in _WORD.findall(comment))
    return words - _BEGINS - _ENDS, comment.strip().startswith("/") or bool(words & _ENDS)


def _says_nothing(text: str) -> bool:
    """Whether a passage holds only what files to read, badges, a table of contents, or what every such file is for."""
    if not _IMPORT.sub("", text).strip(" \n\t-*+:") or not _BADGE.sub("", text).strip():
        return True
    return _GUIDANCE.fullmatch(text) is not None or all(
        _CONTENTS.fullmatch(line) for line in text.split("\n") if line.strip()
    )


def _imports(text: str) -> list[str]:
    """The paths after `@`, outside of code."""
    found = [path.replace("\\ ", " ") for path in _IMPORT.findall(_CODE.sub("", text))]
    return [path.partition("#")[0].rstrip(".,;:)") for path in found]
