"""What history says of commits and branches: one set of questions, answered by libgit2, else by the git command."""

import itertools
import shutil
from collections import deque
from collections.abc import Collection, Iterable
from typing import Protocol

import pygit2
from pygit2.enums import DeltaStatus, DiffOption, SortMode

from memhub_mcp.errors import RepoError
from memhub_mcp.repo.git_command import GitHistory
from memhub_mcp.repo.layout import Layout
from memhub_mcp.repo.objects import path_text, raw_path
from memhub_mcp.repo.opening import open_repository, why

HEADS = "refs/heads/"
REMOTES = "refs/remotes/"
MOST_PATHS = 2_000  # of one difference: beyond that comparing costs more than it tells
LARGEST_BLOB_BYTES = 8 << 20  # a difference of larger files has no patch-id
_SUBMODULE = 0o160000
_FAILURES = (pygit2.GitError, KeyError, ValueError)


class History(Protocol):
    """Commits and references of one repository, read only. Ids are hex; a commit that is missing is nobody's ancestor.

    Every method may raise RepoError, whose text is the reason alone. For one thread only.
    """

    def symbolic(self, reference: str) -> str | None:
        """The reference that `reference` (HEAD, say) stands for; None when it names a commit or does not exist."""
        ...

    def tip(self, reference: str) -> str | None:
        """The commit `reference` leads to."""
        ...

    def tips(self) -> dict[str, str]:
        """The commit of every local and remote branch, by full name."""
        ...

    def holds(self, commit: str) -> bool:
        """Whether the commit is here."""
        ...

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Whether `commit` is `of`, or leads to it."""
        ...

    def merge_base(self, commits: Collection[str]) -> str | None:
        """A best common ancestor of all `commits`."""
        ...

    def walk(
        self, tips: Iterable[str], hidden: Iterable[str] = (), *, first_parent: bool = False, limit: int | None = None
    ) -> list[str]:
        """What leads to `tips` and not to `hidden`, children before their parents. Missing ones are passed over."""
        ...

    def first(self, tip: str) -> str:
        """The oldest commit on the first-parent line of `tip`."""
        ...

    def parents(self, commit: str) -> tuple[str, ...]:
        """The parents of a commit."""
        ...

    def patch_id(self, base: str | None, commit: str) -> str | None:
        """The patch-id of the zero-context difference from `base` (None: nothing), renames not looked for.

        None when nothing changed, or too much did.
        """
        ...

    def changed(self, base: str | None, commit: str) -> dict[str, str | None] | None:
        """Path → blob at `commit` (None: deleted) of what differs from `base`; None when that is too much."""
        ...

    def blob(self, commit: str, path: str) -> str | None:
        """The object at `path` in `commit`."""
        ...


class LibgitHistory:
    """History read by libgit2."""

    def __init__(self, repo: pygit2.Repository) -> None:
        self._repo = repo

    def symbolic(self, reference: str) -> str | None:
        try:
            found = self._repo.references.get(reference)
        except _FAILURES:
            return None  # its file holds something else
        return found.target if found is not None and isinstance(found.target, str) else None

    def tip(self, reference: str) -> str | None:
        try:
            found = self._repo.references.get(reference)
            if found is None:
                return None
            if reference.startswith(HEADS) and isinstance(found.target, pygit2.Oid):
                return str(found.target)  # branches hold commits: nothing to look up
            return str(found.peel(pygit2.Commit).id)
        except _FAILURES:
            return None  # unborn, or it leads to no commit

    def tips(self) -> dict[str, str]:
        found: dict[str, str] = {}
        try:
            for reference in self._repo.references.iterator():
                name, target = reference.name, reference.target
                if name.startswith((HEADS, REMOTES)) and isinstance(target, pygit2.Oid):
                    found[name] = str(target)
        except _FAILURES as error:
            raise RepoError(why(error)) from error
        return found

    def holds(self, commit: str) -> bool:
        try:
            return commit in self._repo
        except _FAILURES:
            return False

    def is_ancestor(self, commit: str, of: str) -> bool:
        if commit == of:
            return True
        try:
            return self._repo.descendant_of(of, commit)
        except _FAILURES:
            return False

    def merge_base(self, commits: Collection[str]) -> str | None:
        present: list[pygit2.Oid | str] = [commit for commit in set(commits) if self.holds(commit)]
        if len(present) < 2:
            return str(present[0]) if present else None
        try:
            # neighbours in time are near each other, so that each step of the octopus is short
            present.sort(key=lambda commit: self._commit(str(commit)).commit_time, reverse=True)
            found: pygit2.Oid | None = self._repo.merge_base_octopus(present)
        except _FAILURES as error:
            raise RepoError(why(error)) from error
        return str(found) if found else None

    def walk(
        self, tips: Iterable[str], hidden: Iterable[str] = (), *, first_parent: bool = False, limit: int | None = None
    ) -> list[str]:
        try:
            walker = self._repo.walk(None, SortMode.TOPOLOGICAL if limit else SortMode.NONE)
            if first_parent:
                walker.simplify_first_parent()
            for commit in hidden:
                if self.holds(commit):
                    walker.hide(pygit2.Oid(hex=commit))
            for commit in tips:
                if self.holds(commit):
                    walker.push(pygit2.Oid(hex=commit))
            return [str(commit.id) for commit in itertools.islice(walker, limit)]
        except _FAILURES as error:
            raise RepoError(why(error)) from error

    def first(self, tip: str) -> str:
        try:
            walker = self._repo.walk(pygit2.Oid(hex=tip), SortMode.NONE)
            walker.simplify_first_parent()
            return str(deque(walker, maxlen=1)[0].id)
        except _FAILURES as error:
            raise RepoError(why(error)) from error

    def parents(self, commit: str) -> tuple[str, ...]:
        try:
            return tuple(str(parent) for parent in self._commit(commit).parent_ids)
        except _FAILURES as error:
            raise RepoError(why(error)) from error

    def patch_id(self, base: str | None, commit: str) -> str | None:
        try:
            diff = self._diff(base, commit)
            if not 0 < len(diff) <= MOST_PATHS or any(self._is_large(delta) for delta in diff.deltas):
                return None
            return str(diff.patchid)
        except _FAILURES:
            return None  # a blob the clone does not have

    def changed(self, base: str | None, commit: str) -> dict[str, str | None] | None:
        try:
            diff = self._diff(base, commit)
            if len(diff) > MOST_PATHS:
                return None
            return {
                path_text(delta.new_file.raw_path): None
                if delta.status == DeltaStatus.DELETED
                else str(delta.new_file.id)
                for delta in diff.deltas
            }
        except _FAILURES as error:
            raise RepoError(why(error)) from error

    def blob(self, commit: str, path: str) -> str | None:
        # `\\xNN` in a path stands for a byte that is no UTF-8, or for itself
        names = dict.fromkeys((raw_path(path), path.encode("utf-8", "surrogateescape")))
        return next((found for name in names if (found := self._object_at(commit, name)) is not None), None)

    def _object_at(self, commit: str, name: bytes) -> str | None:
        try:
            here: pygit2.Object = self._commit(commit).tree
            for part in name.split(b"/"):
                if not isinstance(here, pygit2.Tree):
                    return None
                here = here / part.decode("utf-8", "surrogateescape")
            return str(here.id)
        except _FAILURES:
            return None

    def _diff(self, base: str | None, commit: str) -> pygit2.Diff:
        tree = self._commit(commit).tree
        if base is None:
            return tree.diff_to_tree(flags=DiffOption.NORMAL, context_lines=0, interhunk_lines=0, swap=True)
        before = self._commit(base).tree
        return before.diff_to_tree(tree, flags=DiffOption.NORMAL, context_lines=0, interhunk_lines=0)

    def _commit(self, commit: str) -> pygit2.Commit:
        return self._repo[commit].peel(pygit2.Commit)

    def _is_large(self, delta: pygit2.DiffDelta) -> bool:
        files = (delta.old_file, delta.new_file)
        blobs = [file.id for file in files if file.mode != _SUBMODULE and str(file.id).strip("0")]
        return any(self._repo.odb.read_header(blob)[1] > LARGEST_BLOB_BYTES for blob in blobs)


def open_history(layout: Layout) -> History:
    """The history of a repository: read by libgit2, or by the git command where only the format is in the way.

    Raises:
        RepoError: nobody can read it; the text is the reason alone.
    """
    try:
        return LibgitHistory(open_repository(layout))
    except RepoError:
        command = shutil.which("git") if GitHistory.can_read(layout) else None
        if command is None:
            raise
        return GitHistory(layout, command)
