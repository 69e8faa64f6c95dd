"""Which places on branches are seen from HEAD, as far as history itself says it."""

import re
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable
from pathlib import Path

import pygit2
from pygit2.enums import SortMode

from memhub_mcp.domain.scope import Checkout
from memhub_mcp.errors import RepoError
from memhub_mcp.repo.layout import find_layout
from memhub_mcp.repo.opening import open_repository, why
from memhub_mcp.repo.plain_files import is_odd

_HEADS = "refs/heads/"
_REMEMBERED = 8  # repositories and worktrees with different HEADs, each with its set of ancestors
_LOG_LINES = 2_000  # of a reflog, newest first
_MOVED_ONLY = re.compile(r"reset:|branch:|checkout:|clone:|fetch|update by push|.*: fast-forward", re.IGNORECASE)


class Ancestry:
    """The ancestors of a HEAD, by one walk that is remembered and continued when HEAD moves. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._walked: OrderedDict[Path, tuple[str, set[bytes]]] = OrderedDict()

    def among(self, root: Path, head: str, commits: Collection[str]) -> frozenset[str]:
        """Those of `commits` that are `head` or an ancestor of it, in the repository at `root`.

        Raises:
            RepoError: the history cannot be read; the text is the reason alone.
        """
        if not commits:
            return frozenset()
        with self._lock:
            seen = self._ancestors(root, head)
            return frozenset(commit for commit in commits if bytes.fromhex(commit) in seen)

    def _ancestors(self, root: Path, head: str) -> set[bytes]:
        repo, _ = _open(root)
        known = self._walked.pop(root, None)
        try:
            seen = _continued(repo, head, *known) if known else _ancestors(repo, head)
        except (pygit2.GitError, KeyError, ValueError) as error:
            raise RepoError(why(error)) from error
        self._walked[root] = (head, seen)
        while len(self._walked) > _REMEMBERED:
            self._walked.popitem(last=False)
        return seen


def own_commit(checkout: Checkout) -> str | None:
    """The commit a new memory of the checkout's branch stands at; None when the branch has no commit of its own yet.

    A commit is the branch's own when the default branch does not have it, and it was made here or no other branch
    stands at it too.

    Raises:
        RepoError: the history cannot be read; the text is the reason alone.
    """
    if checkout.branch is None or checkout.head is None or checkout.limited:
        return None
    if checkout.branch == checkout.default_branch:
        return checkout.head
    repo, common_dir = _open(checkout.root)
    try:
        head = pygit2.Oid(hex=checkout.head)
        if any(tip == head or repo.descendant_of(tip, head) for tip in _default_tips(repo, checkout)):
            return None
        made_here = checkout.head in _made_on(_log(repo, common_dir, checkout.branch), None)
        if made_here or not _stands_elsewhere(repo, checkout.branch, head):
            return checkout.head
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise RepoError(why(error)) from error
    return None


def next_commit(checkout: Checkout, branch: str, after: str | None) -> str | None:
    """The first commit made on `branch` since it stood at `after` and still part of it; None while there is none.

    Raises:
        RepoError: the history cannot be read; the text is the reason alone.
    """
    repo, common_dir = _open(checkout.root)
    try:
        tip = _tip(repo, f"{_HEADS}{branch}")
        if tip is None or str(tip) == after:
            return None
        for commit in _made_on(_log(repo, common_dir, branch), after):
            if commit in repo and (commit == str(tip) or repo.descendant_of(tip, pygit2.Oid(hex=commit))):
                return commit
        hidden = [*_default_tips(repo, checkout), *([pygit2.Oid(hex=after)] if after and after in repo else [])]
        own = _own_line(repo, tip, hidden)
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise RepoError(why(error)) from error
    return own[-1] if own and not _stands_elsewhere(repo, branch, tip) else None


def _open(root: Path) -> tuple[pygit2.Repository, Path]:
    layout = find_layout(root)
    if layout is None:
        raise RepoError("the repository is gone")
    return open_repository(layout), layout.common_dir


def _continued(repo: pygit2.Repository, head: str, old: str, seen: set[bytes]) -> set[bytes]:
    """The old set with what the new HEAD adds and without what only the old one had."""
    if old == head:
        return seen
    if old not in repo:  # rewritten and pruned since
        return _ancestors(repo, head)
    return (seen | _ancestors(repo, head, old)) - _ancestors(repo, old, head)


def _ancestors(repo: pygit2.Repository, tip: str, hidden: str | None = None) -> set[bytes]:
    walker = repo.walk(pygit2.Oid(hex=tip), SortMode.NONE)
    if hidden:
        walker.hide(pygit2.Oid(hex=hidden))
    return {commit.id.raw for commit in walker}


def _own_line(repo: pygit2.Repository, tip: pygit2.Oid, hidden: Collection[pygit2.Oid]) -> list[str]:
    """The first-parent line of `tip` without what `hidden` reach, newest first."""
    walker = repo.walk(tip, SortMode.TOPOLOGICAL)
    walker.simplify_first_parent()
    for commit in hidden:
        walker.hide(commit)
    return [str(commit.id) for commit in walker]


def _made_on(log: Iterable[pygit2.RefLogEntry], after: str | None) -> list[str]:
    """What a branch's reflog says was committed on it since it last stood at `after`, oldest first."""
    made: list[str] = []
    for count, entry in enumerate(log):
        if count == _LOG_LINES or str(entry.oid_new) == after:
            break
        if not _MOVED_ONLY.match(entry.message or ""):
            made.append(str(entry.oid_new))
    return made[::-1]


def _log(repo: pygit2.Repository, common_dir: Path, branch: str) -> Iterable[pygit2.RefLogEntry]:
    reference = repo.references.get(f"{_HEADS}{branch}")
    if reference is None or is_odd(common_dir / "logs" / reference.name):
        return ()
    return reference.log()


def _default_tips(repo: pygit2.Repository, checkout: Checkout) -> list[pygit2.Oid]:
    if checkout.default_branch is None:
        return []
    names = (f"{_HEADS}{checkout.default_branch}", f"refs/remotes/origin/{checkout.default_branch}")
    return [tip for name in names if (tip := _tip(repo, name)) is not None]


def _stands_elsewhere(repo: pygit2.Repository, branch: str, commit: pygit2.Oid) -> bool:
    """Whether a branch of another name has its tip at `commit`."""
    for name in repo.references:
        short = name.removeprefix(_HEADS) if name.startswith(_HEADS) else _remote_short(name)
        if short is not None and short not in (branch, "HEAD") and _tip(repo, name) == commit:
            return True
    return False


def _remote_short(name: str) -> str | None:
    return name.removeprefix("refs/remotes/").partition("/")[2] if name.startswith("refs/remotes/") else None


def _tip(repo: pygit2.Repository, name: str) -> pygit2.Oid | None:
    reference = repo.references.get(name)
    if reference is None:
        return None
    try:
        return reference.peel(pygit2.Commit).id
    except (KeyError, pygit2.GitError):
        return None
