"""JSON with comments, edited as text: nothing but the edit itself changes.

Every edit has an inverse: `remove` after `put` or `append` gives the former text back, with its comments,
commas, indentation and line ends.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from memhub_mcp.errors import ConfigError
from memhub_mcp.hosts.lines import line_end, position_of

Key = str | int

_SPACE = re.compile(r"[ \t\r\n]*")
_BLANKS = re.compile(r"[ \t]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(rf"{_STRING.pattern}|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null")
_DEEPEST = 100


@dataclass(slots=True)
class Node:
    """A value, where it stands, and what it means; `items` are its members or elements."""

    start: int
    end: int
    value: Any
    items: list["Item"] = field(default_factory=list["Item"])


@dataclass(slots=True)
class Item:
    """A member or an element. It starts at its key if it has one; `comma` is where the comma behind it stands."""

    start: int
    node: Node
    key: str | None
    comma: int | None = None


def parse(text: str) -> Node:
    """The root value.

    Raises:
        ConfigError: the text is not JSON with comments; says line and column.
    """
    reader = _Reader(text)
    root = reader.value(reader.skip(0), 0)
    rest = reader.skip(root.end)
    if rest != len(text):
        reader.refuse(rest, "the end of the file")
    return root


def is_blank(text: str) -> bool:
    """Whether there is nothing in `text` but space and comments."""
    return _Reader(text).skip(0) == len(text)


def find(root: Node, path: tuple[Key, ...]) -> Node | None:
    """The value at `path`, None when there is none. Of equal keys the last counts, as it does for the hosts."""
    node = root
    for step in path:
        item = _item(node, step)
        if item is None:
            return None
        node = item.node
    return node


def put(text: str, path: tuple[Key, ...], value: Any) -> tuple[str, int]:
    """`text` with `value` at `path`, and how many objects had to be created on the way."""
    root = parse(text)
    node, depth = root, 0
    while depth < len(path) and (item := _item(node, path[depth])) is not None:
        node, depth = item.node, depth + 1
    if depth == len(path):
        return text[: node.start] + _written(value, text, node.start) + text[node.end :], 0
    if not isinstance(node.value, dict):
        where = ".".join(map(str, path[:depth])) or "the file"
        raise ConfigError(f"{position_of(text, node.start)}: {where} is not an object, so {path[depth]!r} has no place")
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    return _insert(text, node, str(path[depth]), value), len(path) - depth - 1


def append(text: str, path: tuple[Key, ...], value: Any) -> tuple[str, int]:
    """`text` with `value` at the end of the array at `path`, and how many containers had to be created."""
    array = find(parse(text), path)
    if array is None:
        text, created = put(text, path, [value])
        return text, created + 1
    if not isinstance(array.value, list):
        raise ConfigError(f"{position_of(text, array.start)}: {'.'.join(map(str, path))} is not an array")
    return _insert(text, array, None, value), 0


def put_raw(text: str, path: tuple[Key, ...], raw: str) -> str:
    """`text` with `raw` in place of the value at `path`."""
    node = find(parse(text), path)
    return text if node is None else text[: node.start] + raw + text[node.end :]


def remove(text: str, path: tuple[Key, ...]) -> str:
    """`text` without the member or element at `path`; unchanged when there is none."""
    container = find(parse(text), path[:-1])
    item = _item(container, path[-1]) if container else None
    if container is None or item is None:
        return text
    place = next(number for number, other in enumerate(container.items) if other is item)
    before = container.items[place - 1] if place else None
    end = item.node.end if item.comma is None else item.comma + 1
    if len(container.items) == 1:
        return _emptied(text, container, item, end)
    if item is not container.items[-1] and not _line_is_over(text, end):
        return text[: item.start] + text[_after_blanks(text, end) :]
    start = _start_with_line_end(text, item.start)
    if before is not None and before.comma is not None and item.comma is None:
        # It was the last one: the comma before it goes too, what stands between them stays.
        start = max(start, before.comma + 1)
        return text[: before.comma] + text[before.comma + 1 : start] + text[end:]
    return text[:start] + text[end:]


def prune(text: str, path: tuple[Key, ...]) -> str:
    """`text` without the container at `path` if nothing is left in it, not even a comment."""
    node = find(parse(text), path)
    if node is None or text[node.start + 1 : node.end - 1].strip() or not isinstance(node.value, dict | list):
        return text
    return remove(text, path)


def _item(node: Node, step: Key) -> Item | None:
    if isinstance(step, int):
        return node.items[step] if isinstance(node.value, list) and step < len(node.items) else None
    return next((item for item in reversed(node.items) if item.key == step), None)


def _insert(text: str, container: Node, key: str | None, value: Any) -> str:
    name = "" if key is None else f"{_scalar(key)}: "
    newline = line_end(text)
    if not container.items:
        outer = _indentation(text, container.start)
        inner = outer + _step(text)
        item = name + _rendered(value, inner, _step(text), newline)
        at = container.start + 1
        return f"{text[:at]}{newline}{inner}{item}{newline}{outer}{text[at:]}"
    last = container.items[-1]
    own_line = _start_with_line_end(text, last.start) < last.start and _stands_on_own_line(text, last.start)
    indent = _indentation(text, last.start)
    item = name + _rendered(value, indent, _step(text), newline)
    lead = f"{newline}{indent}" if own_line else " "
    if last.comma is not None:
        at = _end_of_line_comments(text, last.comma + 1) if own_line else last.comma + 1
        return f"{text[:at]}{lead}{item},{text[at:]}"
    comma = last.node.end
    at = _end_of_line_comments(text, comma) if own_line else comma
    return f"{text[:comma]},{text[comma:at]}{lead}{item}{text[at:]}"


def _emptied(text: str, container: Node, item: Item, end: int) -> str:
    """The container without its only item and without the line ends that came with it."""
    head = text[container.start + 1 : item.start]
    tail = text[end:]
    closing = line_end(text) + _indentation(text, container.start)
    if not head.strip():
        head = ""
        tail = tail.removeprefix(closing)
    return text[: container.start + 1] + head + tail


def _start_with_line_end(text: str, start: int) -> int:
    """Where to cut in front of `start`: with the line end before it, or with the blanks before it."""
    cut = start
    while cut and text[cut - 1] in " \t":
        cut -= 1
    if cut and text[cut - 1] == "\n":
        return cut - 2 if text[cut - 2 : cut - 1] == "\r" else cut - 1
    return cut


def _stands_on_own_line(text: str, start: int) -> bool:
    return text[:start].rstrip(" \t").endswith("\n")


def _line_is_over(text: str, end: int) -> bool:
    rest = _after_blanks(text, _end_of_line_comments(text, end))
    return rest == len(text) or text[rest] in "\r\n"


def _after_blanks(text: str, position: int) -> int:
    blanks = _BLANKS.match(text, position)
    return blanks.end() if blanks else position


def _end_of_line_comments(text: str, position: int) -> int:
    """The end of the last comment that stands on the same line behind `position`."""
    while True:
        comment = _COMMENT.match(text, _after_blanks(text, position))
        if comment is None or "\n" in comment[0]:
            return position
        position = comment.end()


def _indentation(text: str, position: int) -> str:
    line = text.rfind("\n", 0, position) + 1
    return text[line : min(_after_blanks(text, line), position)]


def _step(text: str) -> str:
    """One level of indentation as this file has it."""
    first = re.search(r"\n([ \t]+)[^\s]", text)
    return first[1] if first and len(first[1]) <= 8 else "  "


def _written(value: Any, text: str, position: int) -> str:
    return _rendered(value, _indentation(text, position), _step(text), line_end(text))


def _rendered(value: Any, indent: str, step: str, newline: str) -> str:
    inner = indent + step
    if isinstance(value, dict) and value:
        members = [f"{inner}{_scalar(key)}: {_rendered(part, inner, step, newline)}" for key, part in value.items()]
        return f"{{{newline}{f',{newline}'.join(members)}{newline}{indent}}}"
    if isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        elements = [inner + _rendered(part, inner, step, newline) for part in value]
        return f"[{newline}{f',{newline}'.join(elements)}{newline}{indent}]"
    return json.dumps(value, ensure_ascii=False)


def _scalar(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def skip(self, position: int) -> int:
        """The next position that is neither space nor comment."""
        while True:
            space = _SPACE.match(self._text, position)
            position = space.end() if space else position
            comment = _COMMENT.match(self._text, position)
            if comment is None:
                return position
            position = comment.end()

    def refuse(self, position: int, expected: str) -> NoReturn:
        raise ConfigError(f"{position_of(self._text, position)}: not valid JSON, expected {expected}")

    def value(self, start: int, depth: int) -> Node:
        if depth > _DEEPEST:
            self.refuse(start, f"fewer than {_DEEPEST} levels")
        match self._text[start : start + 1]:
            case "{":
                node = self._items(start, "}", self._member, depth)
                node.value = {item.key: item.node.value for item in node.items}
                return node
            case "[":
                node = self._items(start, "]", self._element, depth)
                node.value = [item.node.value for item in node.items]
                return node
            case _:
                found = _SCALAR.match(self._text, start)
                if found is None:
                    self.refuse(start, "a value")
                return Node(start, found.end(), json.loads(found[0]))

    def _items(self, start: int, closing: str, read: Callable[[int, int], Item], depth: int) -> Node:
        items: list[Item] = []
        position = self.skip(start + 1)
        while self._text[position : position + 1] != closing:
            if items and items[-1].comma is None:
                self.refuse(position, f"a comma or {closing}")
            item = read(position, depth + 1)
            items.append(item)
            position = self.skip(item.node.end)
            if self._text[position : position + 1] == ",":
                item.comma = position
                position = self.skip(position + 1)
        return Node(start, position + 1, None, items)

    def _member(self, start: int, depth: int) -> Item:
        key = _STRING.match(self._text, start)
        if key is None:
            self.refuse(start, "a key in double quotes")
        colon = self.skip(key.end())
        if self._text[colon : colon + 1] != ":":
            self.refuse(colon, "a colon")
        return Item(start, self.value(self.skip(colon + 1), depth), json.loads(key[0]))

    def _element(self, start: int, depth: int) -> Item:
        return Item(start, self.value(start, depth), None)
