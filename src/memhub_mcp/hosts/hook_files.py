"""The small files by which hooks know what they may do, what to say, and what was asked.

    <home>/capture.json               which checkouts belong to which store, what may be recorded in each
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
    """A repository as hooks know it: its root, its store's folder, what may be recorded there.

    `capture` is `off`, `edits`, `all` or `paused`.
    """

    __slots__ = ("capture", "root", "store")

    def __init__(self, root: str | None, store: str | None, capture: str) -> None:
        self.root = root
        self.store = store
        self.capture = capture

    @property
    def records(self) -> bool:
        """Whether it is a repository, and what happens in it may be recorded now."""
        return self.root is not None and self.capture not in ("off", "paused")


def place_of(home: Home, folder: str) -> Place:
    """The repository that holds `folder`; without one, what may be recorded in general.

    A working tree that was never seen is known by the repository it belongs to.
    """
    known = _read(os.path.join(home, CAPTURE_FILE))
    root = root_of(folder)
    roots = _fields(known.get("roots"))
    entry = root and (roots.get(root) or roots.get(_first_checkout(root)))
    store = _text(_fields(entry).get("store"))
    rule = _fields(_fields(known.get("stores")).get(store or ""))
    capture = _text(rule.get("capture")) or _text(known.get("capture")) or "edits"
    return Place(root, store, "paused" if _lasts(rule.get("paused")) else capture)


def _lasts(pause: object) -> bool:
    """Whether a pause, `true` or the second since 1970 it ends in, is one now."""
    return pause is True or (isinstance(pause, (int, float)) and time.time() < pause)


def root_of(folder: str) -> str | None:
    """The nearest folder upwards that holds `.git`, links resolved. The person's home is none, nor what lies above."""
    never = os.path.realpath(os.path.expanduser("~"))
    current = os.path.realpath(folder)
    while True:
        outer = os.path.dirname(current)
        if current in (never, outer):
            return None
        if os.path.lexists(os.path.join(current, ".git")):
            return current
        current = outer


def knows(home: Home, capture: str, roots: Mapping[str, str], stores: Mapping[str, Any]) -> bool:
    """Whether hooks know all this already; see `note_rules`. They know the defaults without being told."""
    known = _read(os.path.join(home, CAPTURE_FILE))
    rules = (known.get("capture", "edits"), _fields(known.get("stores")))
    there = _fields(known.get("roots"))
    return rules == (capture, stores) and all(
        _fields(there.get(root)).get("store") == store for root, store in roots.items()
    )


def note_rules(home: Home, capture: str, roots: Mapping[str, str], stores: Mapping[str, Any]) -> None:
    """Hooks go by this from now on. The caller sees to it that nobody else does this at the same time.

    `roots`: the folder of the store for the root of a checkout; those noted before stay, as long as they are there.
    `stores`: `{"capture": …, "paused": true or the second it ends}` for the folder of each store that has such a rule.
    """
    path = os.path.join(home, CAPTURE_FILE)
    earlier = _fields(_read(path).get("roots"))
    there = {root: facts for root, facts in earlier.items() if os.path.isdir(root)}
    places = {**there, **{root: {"store": store} for root, store in roots.items()}}
    write_private(path, {"capture": capture, "roots": places, "stores": stores})


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
    roots = _fields(known.get("roots"))
    entry = {"standing": standing, "lines": [_plain(line) for line in lines]}
    changed = {"shared": [_plain(line) for line in shared], "roots": {**roots, place.root: entry}}
    if changed != known:
        write_private(path, changed)


def digest_of(home: Home, place: Place) -> str | None:
    """What a session there begins with: what was last written for what is checked out, as far as it holds now."""
    if place.store is None or place.root is None:
        return None
    known = _read(os.path.join(home, place.store, DIGEST_FILE))
    roots = _fields(known.get("roots"))
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
    temporary = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.tmp"  # threads of one process may do this at once
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


def _first_checkout(root: str) -> str:
    """The folder that all working trees of a repository share, as git wrote it down; `root` for the first of them.

    A `.git` file is believed only if what it names points back: anybody can write one that names another repository.
    """
    with suppress(OSError):
        folder = os.path.realpath(_git_folder(root))
        common = os.path.realpath(common_git_folder(root))
        back = os.path.realpath(os.path.join(folder, _first_of(os.path.join(folder, "gitdir"))))
        if back == os.path.join(root, ".git") and os.path.dirname(folder) == os.path.join(common, "worktrees"):
            return os.path.dirname(common) if os.path.basename(common) == ".git" else common
    return root


def _head_at(root: str) -> str | None:
    """The commit that is checked out: from the reference's own file, else from the file of packed ones."""
    with suppress(OSError):
        folder = _git_folder(root)
        name = _first_of(os.path.join(folder, "HEAD"))
        if not name.startswith("ref: "):
            return name
        name = name.removeprefix("ref: ")
        folder = common_git_folder(root)
        with suppress(OSError):
            return _first_of(os.path.join(folder, name))
        packed = os.path.join(folder, "packed-refs")
        if os.path.isfile(packed):  # a pipe would never answer
            with open(packed, encoding="utf-8", errors="replace") as file:
                return next((line[:-1].partition(" ")[0] for line in file if line.endswith(f" {name}\n")), None)
    return None


def common_git_folder(root: str) -> str:
    """Where git keeps what all working trees share: a worktree has a HEAD of its own, and their references."""
    folder = _git_folder(root)
    with suppress(OSError):
        return os.path.join(folder, _first_of(os.path.join(folder, "commondir")))
    return folder


def _git_folder(root: str) -> str:
    folder = os.path.join(root, ".git")
    if os.path.isfile(folder):
        with suppress(OSError):
            return os.path.join(root, _first_of(folder).removeprefix("gitdir:").strip())
    return folder


def _first_of(path: str) -> str:
    if not os.path.isfile(path):  # a pipe would never answer
        raise FileNotFoundError(path)
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
    return _fields(found)


def _fields(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
