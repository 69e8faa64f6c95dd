"""The working tree a call is about: HEAD, branch and files, read afresh each time."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import pygit2

from memhub_mcp.domain.scope import Checkout
from memhub_mcp.errors import RepoError
from memhub_mcp.repo.config import read_config
from memhub_mcp.repo.layout import Layout, find_layout
from memhub_mcp.repo.opening import open_repository, why
from memhub_mcp.repo.plain_files import read_inside, read_plain_file

__all__ = ["checkout_of", "printable", "read_checkout", "read_inside"]

_HEADS = "refs/heads/"
_USUAL_DEFAULTS = ("main", "master", "trunk")


@dataclass(frozen=True, slots=True)
class _Reading:
    branch: str | None
    head: str | None
    default_branch: str | None


def read_checkout(path: Path, *, never: Collection[Path] = ()) -> Checkout | None:
    """The checkout that holds `path` as it is now; None outside a repository and in the folders of `never`."""
    layout = find_layout(path, never=never)
    return checkout_of(layout) if layout else None


def checkout_of(layout: Layout) -> Checkout:
    """The checkout of a repository that was found. A repository libgit2 cannot read is read by hand, and says why."""
    limited: str | None = None
    try:
        reading = _read(open_repository(layout), layout)
    except RepoError as error:
        limited = str(error)
    except (pygit2.GitError, KeyError, ValueError) as error:
        limited = why(error)
    else:
        return _checkout(layout, reading, None)
    return _checkout(layout, _read_by_hand(layout), limited)


def printable(name: str) -> str:
    """A reference or path as it is stored: undecodable bytes stand as `\\xNN`."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _checkout(layout: Layout, reading: _Reading, limited: str | None) -> Checkout:
    return Checkout(
        root=layout.root,
        git_dir=layout.git_dir,
        common_dir=layout.common_dir,
        branch=printable(reading.branch) if reading.branch else None,
        head=reading.head,
        default_branch=printable(reading.default_branch) if reading.default_branch else None,
        shallow=layout.limited is None and bool(read_plain_file(layout.common_dir / "shallow")),
        limited=limited,
    )


def _read(repo: pygit2.Repository, layout: Layout) -> _Reading:
    target = repo.references["HEAD"].target
    branch = _branch_of(target)
    head: str | None = None
    try:
        head = str(repo.head.peel(pygit2.Commit).id)
    except pygit2.GitError:
        if branch is None:
            raise
    config = read_config(layout.common_dir / "config")
    return _Reading(branch, head, _default_branch(repo, config, branch))


def _default_branch(repo: pygit2.Repository, config: Mapping[str, str], current: str | None) -> str | None:
    origin = repo.references.get("refs/remotes/origin/HEAD")
    if origin is not None and isinstance(origin.target, str):
        return origin.target.removeprefix("refs/remotes/origin/")
    for name in (config.get("init.defaultbranch"), *_USUAL_DEFAULTS):
        if name and repo.references.get(f"{_HEADS}{name}") is not None:
            return name
    locals_ = [name for name in repo.references if name.startswith(_HEADS)]
    if not locals_:
        return current
    return locals_[0].removeprefix(_HEADS) if len(locals_) == 1 else None


def _read_by_hand(layout: Layout) -> _Reading:
    """Branch and commit from the files of git, as far as they say it in plain text."""
    if layout.limited is not None:
        return _Reading(None, None, None)
    text = _text(layout.git_dir / "HEAD")
    target = text.removeprefix("ref:").strip() if text.startswith("ref:") else None
    branch = _branch_of(target)
    if branch == ".invalid":  # what reftable leaves in HEAD
        return _Reading(None, None, None)
    head = text if target is None else _resolve_by_hand(layout, target)
    config = read_config(layout.common_dir / "config")
    candidates = [config.get("init.defaultbranch"), *_USUAL_DEFAULTS]
    default = next((name for name in candidates if name and _resolve_by_hand(layout, f"{_HEADS}{name}")), None)
    return _Reading(branch, head if _is_object_id(head) else None, default)


def _resolve_by_hand(layout: Layout, reference: str) -> str | None:
    if ".." in reference or not reference.startswith("refs/"):
        return None
    loose = _text(layout.common_dir / reference)
    if _is_object_id(loose):
        return loose
    for line in _text(layout.common_dir / "packed-refs").splitlines():
        commit, _, name = line.partition(" ")
        if name == reference and _is_object_id(commit):
            return commit
    return None


def _branch_of(target: object) -> str | None:
    return target.removeprefix(_HEADS) if isinstance(target, str) and target.startswith(_HEADS) else None


def _is_object_id(text: str | None) -> bool:
    return text is not None and len(text) in (40, 64) and all(character in "0123456789abcdef" for character in text)


def _text(file: Path) -> str:
    return (read_plain_file(file) or b"").decode("utf-8", "surrogateescape").strip()
