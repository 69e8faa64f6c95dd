"""Tool arguments as hosts really send them, made what the schema says.

A string stands for a list, JSON text for an object, `"8"` for 8, null for nothing, `id` for `ids`,
`includeSources` for `include_sources`, one memory's fields for a list of one memory. What is unknown is left
out and named in a note; what cannot be read is refused. Whether a value makes sense is the service's to say.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from memhub_mcp.errors import InvalidInput

LIMITS = {"limit": (1, 50), "budget_tokens": (200, 8_000)}
"""Numbers that are moved into their range, with a note. The schema says them in words, for hosts strip keywords."""

_SAME_AS = {"content": "text"}
_SEPARATED_BY_COMMAS = frozenset({"kinds", "include_sources", "exclude_sources", "ids"})
_YES, _NO = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0", ""})
_BEGINS_LIKE_JSON = re.compile(r"""\s*(\{\s*"|\[\s*[\["{])""")
_LARGEST_NUMBER = 2**53  # what every JSON reader keeps exactly

Schema = Mapping[str, Any]


def read_arguments(
    schema: Schema, arguments: Mapping[str, Any], defaults: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], list[str]]:
    """The arguments of a tool as its `schema` types them, absent ones by default or left out, and notes for the caller.

    Raises:
        InvalidInput: a value that cannot be read as its type, or nothing for what is required.
    """
    reader = _Reader()
    values = {**(defaults or {}), **reader.fields(schema, arguments, "")}
    for name in schema.get("required", ()):
        if name not in values:
            raise InvalidInput(f"{name} is missing; {schema['properties'][name]['description']}")
    return values, reader.notes()


class _Reader:
    """Reads one call; collects what has to be said about it."""

    def __init__(self) -> None:
        self._unknown: dict[str, None] = {}
        self._moved: list[str] = []

    def notes(self) -> list[str]:
        unknown = [f"ignored unknown fields: {', '.join(self._unknown)[:300]}"] if self._unknown else []
        return unknown + self._moved

    def fields(self, schema: Schema, given: Mapping[str, Any], where: str) -> dict[str, Any]:
        properties = cast("Mapping[str, Schema]", schema["properties"])
        values: dict[str, Any] = {}
        loose: dict[str, Any] = {}
        for key, value in given.items():
            name = _name(key, properties)
            if value is None:
                continue
            if name is None:
                loose[key] = value
            elif (read := self.value(properties[name], value, where + name)) is not None:
                values[name] = read
        self._gather(properties, values, loose, where)
        self._unknown.update(dict.fromkeys(where + key for key in loose))
        return values

    def _gather(
        self, properties: Mapping[str, Schema], values: dict[str, Any], loose: dict[str, Any], where: str
    ) -> None:
        """Fields of one entry that stand where a list of entries belongs become that list."""
        for name, schema in properties.items():
            if name in values or schema["type"] != "array" or schema["items"]["type"] != "object":
                continue
            fields = schema["items"]["properties"]
            entry = {key: loose.pop(key) for key in list(loose) if _name(key, fields) is not None}
            if entry:
                values[name] = [self.fields(schema["items"], entry, f"{where}{name}.")]

    def value(self, schema: Schema, value: object, where: str) -> Any:
        """`value` as its type; None when it says nothing."""
        match schema["type"]:
            case "array":
                return self.entries(schema["items"], value, where)
            case "object":
                return self.entry(schema, value, where) or None
            case "integer":
                return self.integer(value, where)
            case "boolean":
                return _boolean(value, where)
            case _:
                return _string(schema, value, where)

    def entries(self, items: Schema, value: object, where: str) -> list[Any] | None:
        if isinstance(value, str) and isinstance(spelled_out := _spelled_out(value, where), list):
            value = cast("list[object]", spelled_out)
        if isinstance(value, str) and where in _SEPARATED_BY_COMMAS:
            value = [part.strip() for part in value.split(",")]
        given = cast("list[object]", value) if isinstance(value, list) else [value]
        read_one = self.entry if items["type"] == "object" else self.value
        read = [read_one(items, entry, where) for entry in given if entry is not None]
        return [entry for entry in read if entry is not None] or None

    def entry(self, schema: Schema, value: object, where: str) -> dict[str, Any]:
        properties = cast("Mapping[str, Schema]", schema["properties"])
        if isinstance(value, str):
            spelled_out = _spelled_out(value, where)
            if isinstance(spelled_out, dict) and any(
                _name(key, properties) for key in cast("dict[str, Any]", spelled_out)
            ):
                value = cast("dict[str, Any]", spelled_out)
            else:  # plain words stand for the first field: a memory's text, a session's task
                value = {next(iter(properties)): value}
        if not isinstance(value, Mapping):
            raise InvalidInput(f"{where} holds {_shown(value)}; send an object with {', '.join(properties)}")
        return self.fields(schema, cast("Mapping[str, Any]", value), f"{where}.")

    def integer(self, value: object, where: str) -> int | None:
        if isinstance(value, str) and not value.strip():
            return None
        number = _whole(value)
        if number is None or abs(number) > _LARGEST_NUMBER:
            raise InvalidInput(f"{where} is {_shown(value)}; send a whole number")
        lowest, highest = LIMITS.get(where, (number, number))
        within = min(max(number, lowest), highest)
        if within != number:
            self._moved.append(f"{where} {number} is outside {lowest}-{highest}: {within} was used")
        return within


def _name(key: str, properties: Mapping[str, Schema]) -> str | None:
    """The property that `key` means, in whatever case or number it is written."""
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).replace("-", "_").lower()
    for name in (key, plain, _SAME_AS.get(plain, ""), f"{plain}s", plain.removesuffix("s")):
        if name in properties:
            return name
    return None


def _spelled_out(text: str, where: str) -> object:
    """What JSON text stands for; None for words."""
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if _BEGINS_LIKE_JSON.match(text):
            raise InvalidInput(
                f"{where} begins like JSON but does not parse; send it as a value, not as text"
            ) from None
        return None


def _string(schema: Schema, value: object, where: str) -> str | None:
    while isinstance(value, list) and len(cast("list[object]", value)) == 1:
        value = cast("list[object]", value)[0]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidInput(f"{where} is {_shown(value)}; send a string")
    text = str(value)
    if "enum" in schema:
        plain = text.strip().lower()
        return (plain if plain in schema["enum"] else text) or None
    return text or None


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d{1,18}(\.0*)?\s*", value):
        return int(value.strip().partition(".")[0])
    return None


def _boolean(value: object, where: str) -> bool:
    plain = str(value).strip().lower()
    if isinstance(value, bool | int | str) and plain in _YES | _NO:
        return plain in _YES
    raise InvalidInput(f"{where} is {_shown(value)}; send true or false")


def _shown(value: object) -> str:
    """A value in a message: short, on one line."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "a value nested too deep"
    return text if len(text) <= 40 else f"{text[:37]}..."
