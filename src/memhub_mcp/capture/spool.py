"""Captured events on their way to the store: one small file each, so that a hook needs no database.

A file is written under a temporary name and renamed; it goes away only when its event is committed. Names begin with
the time in nanoseconds, so their order is the order of the events. Standard library only: the hook path imports this.
"""

import itertools
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress

SPOOL_VERSION = 1
"""Raised when an older reader could not make sense of an entry; such a reader leaves the entry to a newer one."""

MAX_ENTRY_BYTES = 8 << 20
"""An entry over this was not written by us."""

Home = str | os.PathLike[str]

_ENDING, _TEMPORARY, _BROKEN = ".json", ".tmp", ".broken"
_ABANDONED_AFTER_S = 3600.0
_counter = itertools.count()


def write(home: Home, event: Mapping[str, object]) -> str:
    """The path of the entry that now holds `event`, readable by this user alone.

    Raises:
        OSError: the disk is full or the home cannot be written; nothing is left behind.
    """
    folder = _folder(home)
    for directory in (os.fspath(home), folder):
        if not os.path.isdir(directory):
            os.makedirs(directory, mode=0o700, exist_ok=True)
    name = f"{time.time_ns():019}-{os.getpid()}-{next(_counter) & 0xFFFF:04x}{os.urandom(4).hex()}"
    temporary, final = os.path.join(folder, name + _TEMPORARY), os.path.join(folder, name + _ENDING)
    body = json.dumps({"v": SPOOL_VERSION, **event}, separators=(",", ":")).encode("ascii")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(body)
        os.replace(temporary, final)
    except OSError:
        os.unlink(temporary)
        raise
    return final


def pending(home: Home) -> list[str]:
    """The entries that wait, oldest first. What a killed writer left half-written is cleared away after an hour."""
    folder = _folder(home)
    entries: list[str] = []
    for name in _names(folder):
        if name.endswith(_ENDING):
            entries.append(os.path.join(folder, name))
        elif name.endswith(_TEMPORARY):
            _remove_abandoned(os.path.join(folder, name))
    return entries


def read(entry: str) -> dict[str, object] | None:
    """What the entry holds. None when it is gone, is for a newer memhub, or is broken: then it is set aside.

    One that cannot be read stays: a reader of memories does not fail because of it.
    """
    try:
        with open(entry, "rb") as file:
            body = file.read(MAX_ENTRY_BYTES + 1)
    except IsADirectoryError:
        body = b""  # no entry of ours
    except OSError:
        return None
    try:
        event = json.loads(body) if len(body) <= MAX_ENTRY_BYTES else None
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("v"), int):
        set_aside(entry)
        return None
    return event if event["v"] <= SPOOL_VERSION else None


def remove(entry: str) -> None:
    """Forget the entry: its event is committed. One that cannot be removed is taken in again, which changes nothing."""
    _unlink_if_there(entry)


def set_aside(entry: str) -> None:
    """Rename the entry, so that it neither blocks the rest nor is lost; `broken` lists such entries."""
    with suppress(OSError):  # gone, or on media that can only be read
        os.replace(entry, entry + _BROKEN)


def broken(home: Home) -> list[str]:
    """The entries that were set aside, oldest first."""
    folder = _folder(home)
    return [os.path.join(folder, name) for name in _names(folder) if name.endswith(_BROKEN)]


def _folder(home: Home) -> str:
    return os.path.join(home, "spool")


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def _remove_abandoned(temporary: str) -> None:
    try:
        age_s = time.time() - os.stat(temporary).st_mtime
    except OSError:
        return
    if age_s > _ABANDONED_AFTER_S:
        _unlink_if_there(temporary)


def _unlink_if_there(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
