"""One piece of a configuration file that is ours: put in, recognised, taken out."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePath
from typing import Any, cast

from memhub_mcp.hosts import json_text, marked_text, toml_text


class Kind(StrEnum):
    """What sort of piece it is."""

    MEMBER = "member"
    ELEMENT = "element"
    TABLE = "table"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Edit:
    """`value` belongs at `path` in `file`. `keep` leaves a value that is already there, whatever it is."""

    file: Path
    kind: Kind
    path: tuple[str, ...]
    value: Any
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """What an edit did, enough to undo it: how many containers it made, the source of what it replaced."""

    kind: Kind
    path: tuple[str, ...]
    created: int = 0
    replaced: str | None = None

    def to_json(self) -> dict[str, Any]:
        """For the record of installations."""
        return {"kind": self.kind, "path": list(self.path), "created": self.created, "replaced": self.replaced}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Trace":
        """What `to_json` wrote."""
        return cls(Kind(data["kind"]), tuple(data["path"]), data["created"], data["replaced"])


EMPTY = {Kind.MEMBER: "{}\n", Kind.ELEMENT: "{}\n", Kind.TABLE: "", Kind.BLOCK: ""}
"""What a file holds before the first edit of a kind, when there was none."""


def apply(text: str, edit: Edit) -> tuple[str, Trace | None]:
    """`text` with the piece in it, and how to undo that; no trace when nothing of it is ours to undo.

    What is there already and is ours, by an installation that nobody recorded, counts as put in now.
    """
    match edit.kind:
        case Kind.MEMBER:
            return _apply_member(text, edit)
        case Kind.ELEMENT:
            return _apply_element(text, edit)
        case Kind.TABLE:
            return _apply_table(text, edit)
        case Kind.BLOCK:
            return marked_text.put(text, edit.value), Trace(edit.kind, edit.path)


def unrecorded(edit: Edit) -> Trace:
    """How to undo an edit of which only the result is known: with every container that is empty then."""
    containers = {Kind.MEMBER: len(edit.path) - 1, Kind.ELEMENT: len(edit.path)}
    return Trace(edit.kind, edit.path, containers.get(edit.kind, 0))


def undo(text: str, trace: Trace) -> str:
    """`text` without the piece; unchanged when it is gone already."""
    match trace.kind:
        case Kind.MEMBER:
            return _undo_member(text, trace)
        case Kind.ELEMENT:
            return _undo_element(text, trace)
        case Kind.TABLE:
            if trace.replaced is not None and toml_text.find(text, trace.path) is not None:
                return toml_text.put_raw(text, trace.path, trace.replaced)
            return toml_text.remove(text, trace.path)
        case Kind.BLOCK:
            return marked_text.remove(text)


def _apply_member(text: str, edit: Edit) -> tuple[str, Trace | None]:
    found = json_text.find(json_text.parse(text), edit.path)
    if found is None:
        changed, created = json_text.put(text, edit.path, edit.value)
        return changed, Trace(edit.kind, edit.path, created)
    if edit.keep:
        return text, None
    if found.value == edit.value:
        return text, unrecorded(edit)
    trace = unrecorded(edit) if _is_ours(found.value) else Trace(edit.kind, edit.path, 0, text[found.start : found.end])
    return json_text.put(text, edit.path, edit.value)[0], trace


def _undo_member(text: str, trace: Trace) -> str:
    if trace.replaced is not None:
        return json_text.put_raw(text, trace.path, trace.replaced)
    text = json_text.remove(text, trace.path)
    for level in range(1, trace.created + 1):
        text = json_text.prune(text, trace.path[:-level])
    return text


def _apply_element(text: str, edit: Edit) -> tuple[str, Trace | None]:
    place = _our_element(text, edit.path)
    if place is None:
        changed, created = json_text.append(text, edit.path, edit.value)
        return changed, Trace(edit.kind, edit.path, created)
    wanted = edit.value if len(place) == len(edit.path) + 1 else edit.value["hooks"][0]
    node = json_text.find(json_text.parse(text), place)
    if node is not None and node.value != wanted:
        text, _ = json_text.put(text, place, wanted)
    return text, unrecorded(edit)


def _undo_element(text: str, trace: Trace) -> str:
    place = _our_element(text, trace.path)
    if place is None:
        return text
    text = json_text.remove(text, place)
    for level in range(trace.created):
        text = json_text.prune(text, trace.path[: len(trace.path) - level])
    return text


def _our_element(text: str, path: tuple[str, ...]) -> tuple[json_text.Key, ...] | None:
    """Where our hook stands: the element, or, in a group that others share, the command in it."""
    array = json_text.find(json_text.parse(text), path)
    if array is None or not isinstance(array.value, list):
        return None
    for number, element in enumerate(cast("list[Any]", array.value)):
        if _is_our_hook(element):
            return (*path, number)
        hooks = cast("dict[str, Any]", element).get("hooks") if isinstance(element, dict) else None
        if not isinstance(hooks, list):
            continue
        ours = [place for place, hook in enumerate(cast("list[Any]", hooks)) if _is_our_hook(hook)]
        if ours and len(ours) == len(hooks):
            return (*path, number)
        if ours:
            return (*path, number, "hooks", ours[0])
    return None


def _apply_table(text: str, edit: Edit) -> tuple[str, Trace | None]:
    found = toml_text.find(text, edit.path)
    if found is not None and all(found.get(key) == value for key, value in edit.value.items()):
        return text, unrecorded(edit)
    theirs = found is not None and not _is_ours(found)
    replaced = toml_text.raw(text, edit.path) if theirs else None
    return toml_text.put(text, edit.path, edit.value), Trace(edit.kind, edit.path, replaced=replaced)


def _is_ours(entry: object) -> bool:
    """Whether a server entry is one we wrote: an absolute path to our own script."""
    command = cast("dict[str, object]", entry).get("command") if isinstance(entry, dict) else None
    program = cast("list[object]", command)[:1] if isinstance(command, list) else [command]
    return any(
        isinstance(word, str) and PurePath(word).is_absolute() and PurePath(word).stem == "memhub-mcp"
        for word in program
    )


def _is_our_hook(value: object) -> bool:
    """Whether a hook command is one of ours, whatever version wrote it."""
    command = cast("dict[str, object]", value).get("command") if isinstance(value, dict) else None
    return isinstance(command, str) and "memhub-mcp" in command and " hook " in command
