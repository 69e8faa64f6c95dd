"""The small files by which hooks know what they may do, what to say, and what was asked.

    <home>/capture.json               which repositories there are and what may be recorded in each
    <home>/<store>/digest.json        what a session begins with, for each checkout and its branch
    <home>/run/said/<session>.json    the request a session is working on, until it ends

Standard library only: the hook path imports this.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

CAPTURE_FILE, DIGEST_FILE = "capture.json", "digest.json"
_SAID = os.path.join("run", "said")
_LARGEST = 1 << 20
_FORGOTTEN_AFTER_S = 3 * 24 * 3600.0

Home = str | os.PathLike[str]


class Place:
    """A repository as hooks know it: its root, its store's folder, what may be recorded there."""

    __slots__ = ("capture", "root", "store")

    def __init__(self, root: str | None, store: str | None, capture: str) -> None:
        self.root = root
        self.store = store
        self.capture = capture


def place_of(home: Home, folder: str) -> Place:
    """The repository that holds `folder`; without one, what may be recorded in general."""
    known = _read(os.path.join(home, CAPTURE_FILE))
    capture = _text(known.get("capture")) or "edits"
    roots = cast("dict[str, Any]", known.get("roots")) if isinstance(known.get("roots"), dict) else {}
    root = root_of(folder)
    entry = roots.get(root) if root else None
    if not isinstance(entry, dict):
        return Place(root, None, capture)
    facts = cast("dict[str, Any]", entry)
    return Place(root, _text(facts.get("store")), _text(facts.get("capture")) or capture)


def root_of(folder: str) -> str | None:
    """The nearest folder upwards that holds `.git`, links resolved."""
    current = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(current, ".git")):
        outer = os.path.dirname(current)
        if outer == current:
            return None
        current = outer
    return current


def note_place(home: Home, root: str, store: str, capture: str) -> None:
    """Hooks in the checkout at `root` belong to the store in the folder `store` of the home."""
    path = os.path.join(home, CAPTURE_FILE)
    known = _read(path)
    roots = cast("dict[str, Any]", known.get("roots")) if isinstance(known.get("roots"), dict) else {}
    entry = {**roots.get(root, {}), "store": store}
    if known.get("capture") != capture or roots.get(root) != entry:
        there = {place: facts for place, facts in roots.items() if os.path.isdir(place)}
        write_private(path, {"capture": capture, "roots": {**there, root: entry}})


class Line:
    """One line of a digest: told `until` then (seconds since 1970), and only while `head` is checked out."""

    __slots__ = ("head", "text", "until")

    def __init__(self, text: str, until: float | None = None, head: str | None = None) -> None:
        self.text = text
        self.until = until
        self.head = head


def note_digest(home: Home, place: Place, standing: str | None, lines: Sequence[Line], shared: Sequence[Line]) -> None:
    """A session at this place begins with `lines` while `standing` is checked out, otherwise with `shared`.

    `standing` is a branch, or the commit of a detached HEAD.
    """
    if place.store is None or place.root is None:
        return
    path = os.path.join(home, place.store, DIGEST_FILE)
    known = _read(path)
    roots = cast("dict[str, Any]", known.get("roots")) if isinstance(known.get("roots"), dict) else {}
    entry = {"standing": standing, "lines": [_plain(line) for line in lines]}
    changed = {"shared": [_plain(line) for line in shared], "roots": {**roots, place.root: entry}}
    if changed != known:
        write_private(path, changed)


def digest_of(home: Home, place: Place) -> str | None:
    """What a session there begins with: what was last written for what is checked out, as far as it holds now."""
    if place.store is None or place.root is None:
        return None
    known = _read(os.path.join(home, place.store, DIGEST_FILE))
    roots = cast("dict[str, Any]", known.get("roots")) if isinstance(known.get("roots"), dict) else {}
    own = roots.get(place.root)
    standing = _standing_at(place.root)
    is_own = isinstance(own, dict) and own.get("standing") == standing
    found = cast("dict[str, Any]", own).get("lines") if is_own else known.get("shared")
    lines = cast("list[Any]", found) if isinstance(found, list) else []
    head = _head_at(place.root) if any(isinstance(line, dict) and "head" in line for line in lines) else None
    return "\n".join(text for line in lines if (text := _told(line, head))) or None


def withdraw_digest(home: Home, store: Home) -> None:
    """Nothing in it is told any more; it is written anew when there is time."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(home, store, DIGEST_FILE))


def forget_all_said(home: Home) -> None:
    """Nothing that was asked for stays in these files."""
    with suppress(FileNotFoundError):
        for entry in list(os.scandir(os.path.join(home, _SAID))):
            os.unlink(entry.path)


def note_said(home: Home, source: str, session: str, said: str, turn: str | None) -> None:
    """Keep what the person asked for, for the edits that follow in this session."""
    path = _said_path(home, source, session)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    write_private(path, {"said": said, "turn": turn})


def said_in(home: Home, source: str, session: str) -> tuple[str | None, str | None]:
    """What the person asked for last in a session, and the host's name for that exchange."""
    noted = _read(_said_path(home, source, session))
    return _text(noted.get("said")), _text(noted.get("turn"))


def forget_said(home: Home, source: str, session: str) -> None:
    """The session ended; what sessions that never ended left behind for days goes along."""
    folder = os.path.join(home, _SAID)
    with suppress(FileNotFoundError):
        os.unlink(_said_path(home, source, session))
    with suppress(FileNotFoundError):
        for entry in list(os.scandir(folder)):
            with suppress(FileNotFoundError):
                if time.time() - entry.stat().st_mtime > _FORGOTTEN_AFTER_S:
                    os.unlink(entry.path)


def write_private(path: str, content: Mapping[str, Any]) -> None:
    """The file at `path` now holds `content`, whole, for this user alone."""
    temporary = f"{path}.{os.getpid()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(json.dumps(content, separators=(",", ":")).encode("ascii"))
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def _plain(line: Line) -> dict[str, Any]:
    found = {"text": line.text, "until": line.until, "head": line.head}
    return {name: value for name, value in found.items() if value is not None}


def _told(line: object, head: str | None) -> str | None:
    """The text of a line as it was written, if it may be told now."""
    facts = cast("dict[str, Any]", line) if isinstance(line, dict) else {}
    until, bound = facts.get("until"), facts.get("head")
    if isinstance(until, int | float) and time.time() >= until:
        return None
    return None if bound is not None and bound != head else _text(facts.get("text"))


def _standing_at(root: str) -> str | None:
    """The branch that is checked out, or the commit of a detached HEAD. Read from the files, as git writes them."""
    with suppress(OSError):
        head = _first_of(os.path.join(_git_folder(root), "HEAD"))
        return head.removeprefix("ref: refs/heads/") or None
    return None


def _head_at(root: str) -> str | None:
    """The commit that is checked out: from the reference's own file, else from the file of packed ones."""
    with suppress(OSError):
        folder = _git_folder(root)
        name = _first_of(os.path.join(folder, "HEAD"))
        if not name.startswith("ref: "):
            return name
        name = name.removeprefix("ref: ")
        with suppress(OSError):  # a worktree has a HEAD of its own, and the references of its repository
            folder = os.path.join(folder, _first_of(os.path.join(folder, "commondir")))
        with suppress(OSError):
            return _first_of(os.path.join(folder, name))
        with open(os.path.join(folder, "packed-refs"), encoding="utf-8", errors="replace") as file:
            return next((line[:-1].partition(" ")[0] for line in file if line.endswith(f" {name}\n")), None)
    return None


def _git_folder(root: str) -> str:
    folder = os.path.join(root, ".git")
    if os.path.isfile(folder):
        folder = os.path.join(root, _first_of(folder).removeprefix("gitdir:").strip())
    return folder


def _first_of(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(4096).strip()


def _said_path(home: Home, source: str, session: str) -> str:
    name = hashlib.sha256(f"{source}\0{session}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return os.path.join(home, _SAID, name + ".json")


def _read(path: str) -> dict[str, Any]:
    """What the file holds; nothing when it is missing, too large or broken: a hook goes on without it."""
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
