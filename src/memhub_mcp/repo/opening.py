"""A pygit2 repository, opened so that nothing in it decides where we read, and its refusal put into words."""

import os
import re
from pathlib import Path

import pygit2
from pygit2.enums import RepositoryOpenFlag

from memhub_mcp.errors import RepoError
from memhub_mcp.repo.config import read_config
from memhub_mcp.repo.layout import Layout
from memhub_mcp.repo.plain_files import is_odd

_AS_IT_IS = RepositoryOpenFlag.NO_SEARCH | RepositoryOpenFlag.BARE  # bare: no index, no core.worktree
_REASONS = (
    ("not owned by current user", "it belongs to another user of this machine"),
    ("unknown object format", "its objects are sha256, which libgit2 cannot read"),
    ("failed to parse config", "its .git/config does not parse"),
)


def open_repository(layout: Layout) -> pygit2.Repository:
    """The repository for reading objects and references, ownership validated; open one for each thread.

    Raises:
        RepoError: it cannot be read; the text is the reason alone.
    """
    if layout.limited:
        raise RepoError(layout.limited)
    config = read_config(layout.common_dir / "config")
    if config.get("extensions.refstorage", "files").lower() != "files":
        raise RepoError(f"its references are kept as {config['extensions.refstorage']}, which libgit2 cannot read")
    for key in ("include.path", *(name for name in config if name.startswith("includeif."))):
        if is_odd(layout.common_dir / config.get(key, "config")):
            raise RepoError("its .git/config includes something that is not a regular file")
    if any(_holds_odd_reference(folder / "refs") for folder in {layout.git_dir, layout.common_dir}):
        raise RepoError("one of its references is not a regular file")  # libgit2 would wait for a pipe to be written to
    try:
        return pygit2.Repository(str(layout.git_dir), _AS_IT_IS)
    except (pygit2.GitError, KeyError, OSError, UnicodeError) as error:
        raise RepoError(why(error)) from error


def why(error: Exception) -> str:
    """A libgit2 error as a short reason without the paths of this machine."""
    text = str(error)
    for mark, reason in _REASONS:
        if mark in text:
            return reason
    return re.sub(r"\S*/\S*:?\s*", "", text).strip()[:200] or type(error).__name__


def _holds_odd_reference(folder: Path) -> bool:
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    elif not entry.is_file(follow_symlinks=False) and (is_odd(Path(entry.path)) or entry.is_dir()):
                        return True
        except OSError:
            continue  # gone meanwhile, or not ours to read
    return False
