"""Paths in a transcript are claims about another place or time: where they would lie in this checkout."""

import hashlib
import os
import posixpath
from collections.abc import Iterator
from pathlib import Path

from memhub_mcp.capture.paths import path_within
from memhub_mcp.errors import InvalidInput
from memhub_mcp.service.blocks import plain_path

_LONGEST = 4_096


def project_hash(folder: str) -> str:
    """The name that Gemini gives a project, of the path of its folder with forward slashes."""
    return hashlib.sha256(folder.encode("utf-8", "replace")).hexdigest()


class ClaimedPaths:
    """The paths of one session, relative to `root`.

    A session in a folder of this checkout is read as it is. One of `other_root`, another checkout of the workspace, is
    taken from there; one of another machine, or of a folder that is gone, is taken to have stood at the root.
    """

    def __init__(
        self, root: Path, folder: str | None, *, other_root: Path | None = None, project_hash: str | None = None
    ) -> None:
        self._root = root
        self._real_root = os.path.realpath(root)
        self._folder = folder
        self._project_hash = project_hash
        self._bases = [base for base in (root.as_posix(), other_root.as_posix() if other_root else None) if base]
        in_this = folder is not None and (folder == self._bases[0] or path_within(self._bases[0], folder))
        above = folder is not None and path_within(folder, root.as_posix()) is not None
        if folder is not None and not in_this and not above and other_root is None:
            self._bases.append(folder)

    def place(self, path: str) -> str | None:
        """`path` relative to the root, with forward slashes, links resolved; None when it lies outside."""
        if not path or len(path) > _LONGEST or "\0" in path:
            return None
        for base in (*self._bases, *self._hashed(path)):
            found = path_within(base, self._whole(path))
            if found is not None:
                return self._checked(found)
        return self._checked(posixpath.basename(path)) if self._is_folder_elsewhere(path) else None

    def _is_folder_elsewhere(self, path: str) -> bool:
        """Whether a session of another machine edited what it names as its folder: a file, or it would have failed."""
        return path == self._folder and self._bases[-1] == path and path not in ("", "/")

    def _whole(self, path: str) -> str:
        is_relative = path_within(None, path) is not None
        return posixpath.join(self._folder or self._bases[0], path) if is_relative else path

    def _checked(self, path: str) -> str | None:
        try:
            plain = plain_path(self._root, path)
        except InvalidInput:
            return None
        real = os.path.realpath(self._root / plain)
        inside = real.startswith(self._real_root.rstrip(os.sep) + os.sep)
        return Path(real).relative_to(self._real_root).as_posix() if inside else None

    def _hashed(self, path: str) -> Iterator[str]:
        """The folder above `path` whose SHA-256 the transcript tells, when it tells no folder."""
        if self._folder is not None or self._project_hash is None:
            return
        folder = posixpath.dirname(path.replace("\\", "/"))
        while len(folder) > 1:
            if project_hash(folder) == self._project_hash:
                yield folder
                return
            outer = posixpath.dirname(folder)
            folder = "" if outer == folder else outer
