"""Objects of a repository: opened without running anything, their bytes made into text."""

from datetime import UTC, datetime
from pathlib import Path

import pygit2

from memhub_mcp.errors import RepoError
from memhub_mcp.repo.layout import find_layout
from memhub_mcp.repo.opening import open_repository

_LATEST_TIME = 253_402_300_799  # the last second that a datetime can hold


def open_objects(root: Path) -> pygit2.Repository:
    """The objects of the repository whose folder is `root` (a checkout, or a bare repository); one for each thread.

    Raises:
        RepoError: there is none, or it cannot be read; the text says why.
    """
    layout = find_layout(root)
    if layout is None:
        raise RepoError(f"{root} is not in a git repository")
    return open_repository(layout)


def path_text(raw: bytes) -> str:
    """A path as text; bytes that are not UTF-8 stand as `\\xNN`."""
    return raw.decode("utf-8", "backslashreplace")


def raw_path(path: str) -> bytes:
    """The bytes that `path_text` made `path` from."""
    if "\\x" not in path:
        return path.encode("utf-8")
    pieces = path.split("\\x")
    out = [pieces[0].encode("utf-8")]
    for piece in pieces[1:]:
        try:
            out.append(bytes((int(piece[:2], 16),)) + piece[2:].encode("utf-8"))
        except ValueError:
            out.append(b"\\x" + piece.encode("utf-8"))
    return b"".join(out)


def message_text(commit: pygit2.Commit) -> str:
    """The message of a commit in whatever encoding it was written."""
    return _decode(commit.raw_message, commit.message_encoding)


def author_text(commit: pygit2.Commit) -> str:
    """The name of the author, without the address."""
    return _decode(commit.author.raw_name, commit.message_encoding) or "unknown"


def moment(seconds: int) -> datetime:
    """A time as git keeps it; absurd ones are moved to the nearest that can be written down."""
    return datetime.fromtimestamp(min(max(seconds, 0), _LATEST_TIME), UTC)


def _decode(raw: bytes, encoding: str | None) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        try:
            text = raw.decode(encoding or "latin-1", "replace")
        except LookupError:
            text = raw.decode("latin-1")
    return text.replace("\0", "").strip()
