"""One piece of a configuration file that is ours: put in, recognised, taken out."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any, cast

from memhub_mcp.hosts import json_text, marked_text, toml_text
from memhub_mcp.hosts.lines import line_end

_NAMES = ("memhub-mcp", "memhub_mcp")
_HOOK = re.compile(r"""memhub[-_]mcp(?:\.exe)?['"]*\s+hook\s+[a-z-]+\s+[a-z-]+""")


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

    @property
    def key(self) -> tuple[Kind, tuple[str, ...]]:
        """Which piece of its file it is."""
        return (self.kind, self.path)


@dataclass(frozen=True, slots=True)
class Trace:
    """What an edit did, enough to undo it: how many containers it made, the source of what it replaced."""

    kind: Kind
    path: tuple[str, ...]
    created: int = 0
    replaced: str | None = None

    @property
    def key(self) -> tuple[Kind, tuple[str, ...]]:
        """Which piece of its file it is about."""
        return (self.kind, self.path)

    def to_json(self) -> dict[str, Any]:
        """For the record of installations."""
        return {"kind": self.kind, "path": list(self.path), "created": self.created, "replaced": self.replaced}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Trace":
        """What `to_json` wrote."""
        return cls(Kind(data["kind"]), tuple(data["path"]), data["created"], data["replaced"])


def is_blank(kind: Kind, text: str) -> bool:
    """Whether a file holds nothing yet that an edit of this kind could go into."""
    return not text.strip() or (kind in (Kind.MEMBER, Kind.ELEMENT) and json_text.is_blank(text))


def start_of(kind: Kind, text: str) -> str:
    """What the first edit of a kind goes into, in a file that is blank but for comments."""
    if kind not in (Kind.MEMBER, Kind.ELEMENT):
        return ""
    newline = line_end(text)
    comments = text if text.strip() else ""
    return f"{comments}{newline if comments and not comments.endswith(newline) else ''}{{}}{newline}"


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
    around = {Kind.MEMBER: len(edit.path) - 1, Kind.ELEMENT: len(edit.path)}
    return Trace(edit.kind, edit.path, around.get(edit.kind, 0))


def containers(trace: Trace) -> tuple[tuple[str, ...], ...]:
    """The paths of the objects and arrays that an edit made, innermost first."""
    innermost = {Kind.MEMBER: len(trace.path) - 1, Kind.ELEMENT: len(trace.path)}.get(trace.kind, 0)
    return tuple(trace.path[:length] for length in range(innermost, max(innermost - trace.created, 0), -1))


def is_there(text: str, piece: Edit | Trace) -> bool:
    """Whether the piece stands in `text`, whatever its value."""
    return undo(text, Trace(piece.kind, piece.path)) != text


def is_memhub(text: str, edit: Edit) -> bool:
    """Whether what stands in the place of an edit is plainly memhub, whoever put it there."""
    if not text.strip() or edit.keep:
        return False
    match edit.kind:
        case Kind.MEMBER:
            if json_text.is_blank(text):
                return False
            found = json_text.find(json_text.parse(text), edit.path)
            return found is not None and is_memhub_server(found.value)
        case Kind.TABLE:
            return is_memhub_server(toml_text.find(text, edit.path))
        case Kind.ELEMENT:
            return not json_text.is_blank(text) and is_there(text, edit)
        case Kind.BLOCK:
            return is_there(text, edit)


def hook_at(text: str, path: tuple[str, ...]) -> str | None:
    """The command of our hook in the array at `path`, if it is there."""
    place = None if json_text.is_blank(text) else _our_element(text, path)
    node = json_text.find(json_text.parse(text), place) if place else None
    if node is None:
        return None
    hooks = cast("dict[str, Any]", node.value).get("hooks", [node.value])
    return str(hooks[0]["command"])


def is_memhub_server(entry: object) -> bool:
    """Whether a server entry starts memhub, in whatever way."""
    return any(PurePath(word).stem in _NAMES or word.startswith("memhub-mcp==") for word in words_of(entry))


def words_of(entry: object) -> tuple[str, ...]:
    """The command line of a server entry, however its host writes it."""
    if not isinstance(entry, dict):
        return ()
    facts = cast("dict[str, object]", entry)
    command, args = facts.get("command"), facts.get("args")
    words = [*(cast("list[object]", command) if isinstance(command, list) else [command])]
    words += cast("list[object]", args) if isinstance(args, list) else []
    return tuple(word for word in words if isinstance(word, str))


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
    if not _is_ours(found.value):
        replaced = Trace(edit.kind, edit.path, 0, text[found.start : found.end])
        return json_text.put(text, edit.path, edit.value)[0], replaced
    for path, value in _differences(found.value, edit.value):
        text, _ = json_text.put(text, (*edit.path, *path), value)
    return text, unrecorded(edit)


def _differences(found: object, wanted: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What an entry of ours lacks, as paths and values. What the person added stays, and a switch they turned."""
    facts = cast("dict[str, object]", found) if isinstance(found, dict) else {}
    for key, value in wanted.items():
        there = facts.get(key)
        if isinstance(value, dict) and isinstance(there, dict):
            yield from (((key, *path), inner) for path, inner in _differences(there, cast("dict[str, Any]", value)))
        elif there != value and not (isinstance(value, bool) and isinstance(there, bool)):
            yield (key,), value


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
        if is_our_hook(element):
            return (*path, number)
        hooks = cast("dict[str, Any]", element).get("hooks") if isinstance(element, dict) else None
        if not isinstance(hooks, list):
            continue
        ours = [place for place, hook in enumerate(cast("list[Any]", hooks)) if is_our_hook(hook)]
        if ours and len(ours) == len(hooks):
            return (*path, number)
        if ours:
            return (*path, number, "hooks", ours[0])
    return None


def _apply_table(text: str, edit: Edit) -> tuple[str, Trace | None]:
    found = toml_text.find(text, edit.path)
    if found is not None and _is_ours(found):
        changed = {path[0]: value for path, value in _differences(found, edit.value)}
        return toml_text.put_values(text, edit.path, changed), unrecorded(edit)
    replaced = None if found is None else toml_text.raw(text, edit.path)
    return toml_text.put(text, edit.path, edit.value), Trace(edit.kind, edit.path, replaced=replaced)


def _is_ours(entry: object) -> bool:
    """Whether a server entry is one we wrote: an absolute path to our own script, or to a Python with our module."""
    program, *args = words_of(entry) or ("",)
    if not (PurePosixPath(program).is_absolute() or PureWindowsPath(program).is_absolute()):
        return False
    return PurePath(program).stem == "memhub-mcp" or args[:2] == ["-m", "memhub_mcp"]


def is_our_hook(value: object) -> bool:
    """Whether a hook command is one of ours, whatever version wrote it."""
    command = cast("dict[str, object]", value).get("command") if isinstance(value, dict) else None
    return isinstance(command, str) and _HOOK.search(command) is not None
