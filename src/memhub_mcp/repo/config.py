"""Git's configuration format, read by hand: no includes, no defaults of the machine, nothing that can block."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from memhub_mcp.repo.plain_files import read_plain_file

_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]{1,200})(?:\s+"((?:[^"\\]|\\.){0,4000})")?\s*\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]{0,200})\s*(?:=\s*(.*))?$", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}


def read_config(file: Path) -> Mapping[str, str]:
    """The last value of every key, named `section.subsection.key`; section and key in lower case.

    A missing or unreadable file is empty; a line that is not understood is passed over.
    """
    data = read_plain_file(file)
    return parse_config(data.decode("utf-8", "surrogateescape")) if data else {}


@lru_cache(maxsize=32)  # a call reads the same file several times
def parse_config(text: str) -> Mapping[str, str]:
    """Like `read_config`, from text."""
    found: dict[str, str] = {}
    section = ""
    for line in _logical_lines(text.removeprefix("\ufeff")):
        rest = line.strip()
        header = _SECTION.match(rest)
        if header:
            name, subsection = header.groups()
            section = name.lower() if subsection is None else f"{name.lower()}.{_unescape(subsection)}"
            rest = rest[header.end() :].strip()
        entry = _KEY.match(rest)
        if entry and section:
            key, value = entry.groups()
            found[f"{section}.{key.lower()}"] = "true" if value is None else _value(value)
    return MappingProxyType(found)


def subsections(config: Mapping[str, str], section: str, key: str) -> dict[str, str]:
    """`{subsection: value}` of every `section.<subsection>.key`, in the order of the file."""
    head, tail = f"{section}.", f".{key}"
    return {
        name[len(head) : -len(tail)]: value
        for name, value in config.items()
        if name.startswith(head) and name.endswith(tail) and len(name) > len(head) + len(tail)
    }


def _logical_lines(text: str) -> list[str]:
    lines: list[str] = []
    pending = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        if (len(line) - len(line.rstrip("\\"))) % 2:  # an odd number of backslashes continues the line
            pending += line[:-1]
            continue
        lines.append(pending + line)
        pending = ""
    return [*lines, pending] if pending else lines


def _value(raw: str) -> str:
    """The value without quotes, escapes and comment."""
    kept: list[str] = []
    quoted, position, solid = False, 0, 0
    while position < len(raw):
        character = raw[position]
        if character == "\\" and position + 1 < len(raw):
            position += 1
            kept.append(_ESCAPES.get(raw[position], raw[position]))
            solid = len(kept)
        elif character == '"':
            quoted = not quoted
            solid = len(kept)
        elif character in "#;" and not quoted:
            break
        else:
            kept.append(character)
            if quoted or not character.isspace():
                solid = len(kept)
        position += 1
    return "".join(kept[:solid])


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
