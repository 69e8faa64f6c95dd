"""The working tree a call is about: HEAD, branch and files, read afresh each time."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from memhub_mcp.domain.scope import Checkout
from memhub_mcp.errors import RepoError
from memhub_mcp.repo.config import read_config
from memhub_mcp.repo.history import HEADS, REMOTES, History, LibgitHistory, open_history
from memhub_mcp.repo.layout import Layout, find_layout
from memhub_mcp.repo.opening import open_repository
from memhub_mcp.repo.plain_files import read_inside, read_plain_file

__all__ = ["checkout_of", "printable", "read_checkout", "read_inside"]

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
    """The checkout of a repository that was found. One that libgit2 cannot read says why, and is read another way."""
    history, limited = _history_of(layout)
    try:
        reading = _read(history, layout) if history else _read_by_hand(layout)
    except RepoError as error:
        limited = limited or str(error)
        reading = _read_by_hand(layout)
    operation, rebased = _operation(layout)
    return Checkout(
        root=layout.root,
        git_dir=layout.git_dir,
        common_dir=layout.common_dir,
        branch=_printable(reading.branch or rebased),
        head=reading.head,
        default_branch=_printable(reading.default_branch),
        shallow=layout.limited is None and bool(read_plain_file(layout.common_dir / "shallow")),
        operation=operation,
        limited=limited,
    )


def _history_of(layout: Layout) -> tuple[History | None, str | None]:
    """Who reads the history, if anybody can, and why libgit2 does not."""
    try:
        return LibgitHistory(open_repository(layout)), None
    except RepoError as error:
        limited = str(error)
    try:
        return open_history(layout), limited
    except RepoError:
        return None, limited


def printable(name: str) -> str:
    """A reference or path as it is stored: undecodable bytes stand as `\\xNN`."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _printable(name: str | None) -> str | None:
    return printable(name) if name else None


def _read(history: History, layout: Layout) -> _Reading:
    branch = _branch_of(history.symbolic("HEAD"))
    head = history.tip("HEAD")
    if branch is None and head is None:
        raise RepoError("its HEAD leads nowhere")
    if head is None and _resolve_by_hand(layout, f"{HEADS}{branch}"):
        raise RepoError("the commit at its HEAD is missing")
    return _Reading(branch, head, _default_branch(history, read_config(layout.common_dir / "config"), branch))


def _default_branch(history: History, config: Mapping[str, str], current: str | None) -> str | None:
    origin = history.symbolic(f"{REMOTES}origin/HEAD")
    if origin is not None:
        return origin.removeprefix(f"{REMOTES}origin/")
    for name in (config.get("init.defaultbranch"), *_USUAL_DEFAULTS):
        if name and history.tip(f"{HEADS}{name}") is not None:
            return name
    branches = [name.removeprefix(HEADS) for name in history.tips() if name.startswith(HEADS)]
    if not branches:
        return current
    return branches[0] if len(branches) == 1 else None


def _operation(layout: Layout) -> tuple[str | None, str | None]:
    """What HEAD is in the middle of, and the branch that is being rebased."""
    if layout.limited is not None:
        return None, None
    for folder in ("rebase-merge", "rebase-apply"):
        name = _text(layout.git_dir / folder / "head-name")
        if name:
            return "rebase", _branch_of(name)
    return ("bisect" if read_plain_file(layout.git_dir / "BISECT_LOG") is not None else None), None


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
    default = next((name for name in candidates if name and _resolve_by_hand(layout, f"{HEADS}{name}")), None)
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


def _branch_of(target: str | None) -> str | None:
    """The branch a reference names; git allows no `..` in one."""
    return target.removeprefix(HEADS) if target and target.startswith(HEADS) and ".." not in target else None


def _is_object_id(text: str | None) -> bool:
    return text is not None and len(text) in (40, 64) and all(character in "0123456789abcdef" for character in text)


def _text(file: Path) -> str:
    return (read_plain_file(file) or b"").decode("utf-8", "surrogateescape").strip()
