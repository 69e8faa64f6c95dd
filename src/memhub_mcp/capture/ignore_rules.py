"""`.memhubignore`: paths whose content is never stored, written as in `.gitignore`.

A repository may be hostile: names are compared without regular expressions, in time length × length.
Standard library only, no dataclasses: the hook path imports this.
"""

import re
from collections.abc import Iterable

_MAX_RULES = 500
_MAX_RULE_LENGTH = 500
_MAX_DEPTH = 100
_STAR, _ANY = re.compile(r"\*{1,1000}"), re.compile(r".", re.DOTALL)

Glob = tuple[re.Pattern[str], ...]
"""One pattern a character of a name; _STAR stands for any number of them."""


class _Rule:
    """One line. A None among `folders` stands for any number of folders."""

    __slots__ = ("folders", "folders_only", "negated")

    def __init__(self, folders: tuple[Glob | None, ...], *, negated: bool, folders_only: bool) -> None:
        self.folders = folders
        self.negated = negated
        self.folders_only = folders_only


class IgnoreRules:
    """The rules of one `.memhubignore`, for paths relative to the folder it stands in. The last match decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        rules = [rule for line in lines if (rule := _rule(line)) is not None]
        self._rules = rules[:_MAX_RULES]

    def ignores(self, path: str) -> bool:
        """Whether `path`, a file with forward slashes, or a folder above it is named by the rules."""
        parts = path.split("/", _MAX_DEPTH)
        ignored = [False] * (len(parts) + 1)  # by how many names of the path are looked at
        for rule in self._rules:
            for depth in _depths(rule.folders, parts):
                if depth < len(parts) or not rule.folders_only:
                    ignored[depth] = not rule.negated
        return any(ignored)


def _rule(line: str) -> _Rule | None:
    line = line.rstrip("\r\n")
    if not line.endswith("\\ "):
        line = line.rstrip(" ")
    if not line or line.startswith("#") or len(line) > _MAX_RULE_LENGTH:
        return None
    negated = line.startswith("!")
    line = line.removeprefix("!")
    folders_only = line.endswith("/")
    line = line.rstrip("/")
    names = line.removeprefix("/").split("/")
    try:
        folders = [None if name == "**" else _glob(name) for name in names]
    except re.error:
        return None  # `[z-a]`: git, too, lets such a rule match nothing
    if folders == [()]:
        return None
    if folders[-1] is None:
        folders.append((_STAR,))  # `a/**` is everything inside, not `a` itself
    if "/" not in line:
        folders.insert(0, None)
    return _Rule(tuple(folders), negated=negated, folders_only=folders_only)


def _glob(name: str) -> Glob:
    found: list[re.Pattern[str]] = []
    place = 0
    while place < len(name):
        character, end = name[place], name.find("]", place + 2)
        if character == "*":
            if not found or found[-1] is not _STAR:
                found.append(_STAR)
        elif character == "?":
            found.append(_ANY)
        elif character == "[" and end > 0:
            inside = name[place + 1 : end].replace("\\", "\\\\")
            found.append(re.compile(f"[^{inside[1:]}]" if inside[0] in "!^" else f"[{inside}]"))
            place = end
        else:
            if character == "\\" and place + 1 < len(name):
                place += 1
            found.append(re.compile(re.escape(name[place])))
        place += 1
    return tuple(found)


def _depths(folders: tuple[Glob | None, ...], parts: list[str]) -> set[int]:
    """How many names from the start of the path the rule's names can be; None takes any number of them."""
    reached = {0}
    for folder in folders:
        if not reached:
            break
        if folder is None:
            reached = set(range(min(reached), len(parts)))
        else:
            reached = {place + 1 for place in reached if place < len(parts) and _fits(folder, parts[place])}
    return reached


def _fits(glob: Glob, name: str) -> bool:
    """Whether the whole of `name` fits: on a mismatch the last star takes one character more."""
    at = place = 0
    star = marked = -1
    while place < len(name):
        if at < len(glob) and glob[at] is _STAR:
            star, marked = at, place
            at += 1
        elif at < len(glob) and glob[at].match(name, place):
            at, place = at + 1, place + 1
        elif star >= 0:
            marked += 1
            at, place = star + 1, marked
        else:
            return False
    return all(pattern is _STAR for pattern in glob[at:])
