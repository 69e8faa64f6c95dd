"""A table in TOML, edited as text: a block of lines under its own header, at the end of the file.

`remove` after `put` gives the former text back.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from memhub_mcp.errors import ConfigError
from memhub_mcp.hosts.lines import line_end, without_blank_line

Path = tuple[str, ...]

_PLACE = re.compile(r"\s*\(at (line \d+, column \d+|end of document)\)")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
# Strings and comments first: brackets and line ends in them count for nothing.
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*"
    r"|[\[\]{}\n]",
    re.DOTALL,
)


def parse(text: str) -> dict[str, Any]:
    """What the text means.

    Raises:
        ConfigError: the text is not TOML; says line and column.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        why = _PLACE.sub("", str(error))
        raise ConfigError(f"{place[1] if place else 'somewhere'}: not valid TOML, {why}") from error


def find(text: str, path: Path) -> Any:
    """The value at `path`, None when there is none."""
    value: Any = parse(text)
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def put(text: str, path: Path, table: Mapping[str, Any]) -> str:
    """`text` with the table at `path`: in place of the former one, else at the end."""
    newline = line_end(text)
    block = _block(path, table, newline)
    if find(text, path) is not None:
        return put_raw(text, path, block)
    if text and not text.endswith("\n"):
        changed = f"{text}{newline}{newline}{block}"
    else:
        changed = f"{text}{newline if text else ''}{block}{newline}"
    try:
        parse(changed)
    except ConfigError:
        raise ConfigError(f"[{_dotted(path[:-1])}] takes no further table; add this by hand:\n{block}") from None
    return changed


def raw(text: str, path: Path) -> str:
    """The lines of the table at `path`, as they stand."""
    start, end = _extent(text, path)
    return text[start:end]


def put_raw(text: str, path: Path, lines: str) -> str:
    """`text` with `lines` in place of the table at `path`."""
    start, end = _extent(text, path)
    return text[:start] + lines + text[end:]


def put_values(text: str, path: Path, values: Mapping[str, Any]) -> str:
    """`text` with `values` in the table at `path`, each in place of the former one, else below the header."""
    if not values:
        return text
    lines = raw(text, path)
    for key, value in values.items():
        lines = _with_value(lines, key, f"{_name(key)} = {_value(value)}")
    return put_raw(text, path, lines)


def remove(text: str, path: Path) -> str:
    """`text` without the table at `path` and the tables below it; unchanged when there is none."""
    while find(text, path) is not None:
        start, end = _extent(text, path, below=True)
        text = without_blank_line(text, start, end)
    return text


def _extent(text: str, path: Path, *, below: bool = False) -> tuple[int, int]:
    """From the table's header to the end of its last line; `below` also accepts a table under it."""
    start: int | None = None
    end = 0
    for line_start, line in _logical_lines(text):
        content = line.strip()
        if content.startswith("["):
            if start is not None:
                break
            header = _header(content)
            if header == path or (below and header[: len(path)] == path):
                start = line_start
        if start is not None and content and not content.startswith("#"):
            end = line_start + len(line.rstrip())
    if start is None:
        raise ConfigError(f"{_dotted(path)} does not stand under a [{_dotted(path)}] header; change it by hand")
    return start, end


def _with_value(lines: str, key: str, assignment: str) -> str:
    for start, line in _logical_lines(lines):
        content = line.strip()
        if content and not content.startswith(("[", "#")) and tomllib.loads(content).keys() == {key}:
            return lines[:start] + assignment + line[len(line.rstrip()) :] + lines[start + len(line) :]
    header = next(_logical_lines(lines))[1].rstrip()
    return f"{header}{line_end(lines)}{assignment}{lines[len(header) :]}"


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their offset; a value that spans several lines belongs to its first."""
    start = depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
        elif token[0] == "\n" and depth == 0:
            yield start, text[start : token.end()]
            start = token.end()
    yield start, text[start:]


def _header(line: str) -> Path:
    names: list[str] = []
    value: Any = tomllib.loads(line)
    while value:
        value = value[0] if isinstance(value, list) else value
        for name in value:
            names.append(name)
            value = value[name]
            break
    return tuple(names)


def _block(path: Path, table: Mapping[str, Any], newline: str) -> str:
    lines = [f"[{_dotted(path)}]", *(f"{_name(key)} = {_value(value)}" for key, value in table.items())]
    return newline.join(lines)


def _dotted(path: Path) -> str:
    return ".".join(map(_name, path))


def _name(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: str | int | bool | list[str]) -> str:
    """A TOML value; JSON writes it alike but for the delete character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
