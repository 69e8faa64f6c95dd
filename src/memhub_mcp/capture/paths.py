"""Paths as transcripts name them: claims about another place or time, compared as texts alone."""

import posixpath
import re

_DRIVE = re.compile(r"/?([A-Za-z]):(?=/|$)")


def path_within(folder: str | None, path: str) -> str | None:
    """`path` relative to `folder`, with forward slashes; None when it leaves it or is the folder itself.

    A relative path is taken as one below the folder. Drive letters are compared without case.
    """
    place = _plain(path)
    if not _is_absolute(place):
        return place if place != "." and not place.startswith("../") and place != ".." else None
    if folder is None or not _is_absolute(_plain(folder)):
        return None
    root = _plain(folder).rstrip("/") + "/"
    return place[len(root) :].lstrip("/") or None if place.startswith(root) else None


def _plain(path: str) -> str:
    """One way of writing a path: forward slashes, a small drive letter, no `.` or `..` that can be done without."""
    place = path.replace("\\", "/") if "\\" in path and ("/" not in path or _DRIVE.match(path)) else path
    place = _DRIVE.sub(lambda drive: drive[1].lower() + ":", place, count=1)
    return posixpath.normpath(place)


def _is_absolute(place: str) -> bool:
    return place.startswith("/") or place[1:3] == ":/" or place[1:] == ":"
