"""The history of a block from the commit index, or from the repository alone while the index is not there yet."""

import threading
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from memhub_mcp.capture.redact import redact
from memhub_mcp.domain.revision import ChangeKind, Commit, CommitLine, FileChange, Spans
from memhub_mcp.domain.scope import Checkout
from memhub_mcp.repo.contents import Contents
from memhub_mcp.repo.diff import read_commit
from memhub_mcp.repo.lineage import History, Origin, Step, order_of
from memhub_mcp.repo.moves import find_origin
from memhub_mcp.repo.objects import open_objects
from memhub_mcp.repo.tips import read_boundary
from memhub_mcp.repo.walked import CommitGraph, WalkedHistory
from memhub_mcp.service.indexing import TEXT_RULES
from memhub_mcp.service.scope import Scope
from memhub_mcp.service.versions import Version
from memhub_mcp.store.ancestry import Ancestry
from memhub_mcp.store.file import Store

_KEPT_ORDERS = 4
_KEPT_GRAPHS = 4
_MOST_KEPT = 200_000


class _Graph:
    """What is kept of one store between calls."""

    def __init__(self, store: Store) -> None:
        self.lock = threading.Lock()
        self.ancestry = Ancestry(store.db)
        self.orders: dict[str, list[str]] = {}


class Tracing:
    """Hands out histories. Threads may share it; a history belongs to one thread."""

    def __init__(self) -> None:
        self._graphs: weakref.WeakKeyDictionary[Store, _Graph] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()
        self._walked: dict[tuple[Path, frozenset[str]], CommitGraph] = {}

    def history(self, scope: Scope, head: str) -> "BlockHistory":
        """The commits that lead to `head`.

        Raises:
            RepoError: the repository cannot be read.
        """
        assert scope.checkout is not None
        walked = WalkedHistory(open_objects(scope.checkout.root), self._graph_of(scope.checkout))
        if scope.store is None:
            return BlockHistory(head, walked, None)
        with self._lock:
            graph = self._graphs.setdefault(scope.store, _Graph(scope.store))
        return BlockHistory(head, walked, graph)

    def _graph_of(self, checkout: Checkout) -> CommitGraph:
        """What earlier calls read of the same repository; a clone that was deepened is read anew."""
        key = (checkout.common_dir, read_boundary(checkout.common_dir))
        with self._lock:
            graph = self._walked.get(key)
            if graph is None or graph.size > _MOST_KEPT:
                while len(self._walked) >= _KEPT_GRAPHS:
                    del self._walked[next(iter(self._walked))]
                graph = self._walked[key] = CommitGraph()
            return graph

    def read(self, scope: Scope, sha: str) -> Commit:
        """A commit that is not indexed yet."""
        assert scope.checkout is not None
        return read_commit(open_objects(scope.checkout.root), sha, TEXT_RULES)


class BlockHistory:
    """The commits of a call: as lineage reads them, as libgit2 has them, and what the index knows besides."""

    def __init__(self, head: str, walked: WalkedHistory, graph: _Graph | None) -> None:
        self.walked = walked
        self.index = graph.ancestry if graph is not None else None
        self.head = head
        self._graph = graph

    @cached_property
    def history(self) -> History:
        """The commits that lead to the head: from the index when it has them all."""
        if self._graph is not None:
            indexed = IndexedHistory(self._graph, self.walked)
            if indexed.covers(self.head):
                return indexed
        return self.walked

    @property
    def contents(self) -> Contents:
        """Texts by blob id."""
        return self.walked.contents

    def commits(self, shas: Iterable[str]) -> dict[str, CommitLine]:
        """Author, time and message of commits, redacted: from the index, else from the repository."""
        wanted = list(dict.fromkeys(shas))
        found = self.index.lines(wanted) if self.index is not None else {}
        for sha in wanted:
            if sha not in found:
                line = self.walked.line(sha)
                found[sha] = replace(line, author=redact(line.author), message=redact(line.message))
        return found


class IndexedHistory:
    """Commits as the index has them; contents as libgit2 has them."""

    def __init__(self, graph: _Graph, walked: WalkedHistory) -> None:
        self._graph = graph
        self._walked = walked
        self._at: dict[str, dict[str, list[FileChange]]] = {}
        with graph.lock:
            self._parents = graph.ancestry.parents()

    def covers(self, head: str) -> bool:
        """Whether every commit that leads to `head` is indexed."""
        with self._graph.lock:
            if head in self._graph.orders:
                return True
            try:
                order = order_of(head, self._parents.__getitem__)
            except KeyError:
                return False
            kept = list(self._graph.orders.items())[1 - _KEPT_ORDERS :]
            self._graph.orders = {**dict(kept), head: order}
            return True

    def order(self, head: str) -> Iterable[str]:
        """Every commit reachable from `head`, children before parents."""
        return self._graph.orders[head] if self.covers(head) else order_of(head, self.parents)

    def parents(self, sha: str) -> Sequence[str]:
        """The parents of a commit."""
        return self._parents[sha]

    def leaves_alone(self, sha: str, path: str) -> bool:
        """Whether there is a first parent, and `path` is the same there."""
        return sha not in self._changes_at(path) and bool(self._parents[sha])

    def step(self, sha: str, number: int, path: str) -> Step | None:
        """How `path` differs from the parent `number`."""
        changes = self._changes_at(path).get(sha)
        if not changes and not number:
            return None
        change = next((change for change in changes or () if change.parent == number), None)
        if change is None:
            # Against a later parent the index lists only what differs from the earlier ones as well.
            return self._walked.step(sha, number, path) if number and not changes else None
        if change.blob_after is None or (change.blob_before == change.blob_after and change.old_path is None):
            return None
        return Step(
            old_path=change.old_path or path,
            blob_before=change.blob_before,
            blob_after=change.blob_after,
            hunks=self._hunks(change),
        )

    def origin(self, sha: str, path: str, blob: str, spans: Spans) -> Origin | None:
        """The place from which this commit moved the lines `spans` of `path`."""
        if not self.parents(sha):
            return None
        with self._graph.lock:
            changes = self._graph.ancestry.changes_of(sha)
        return find_origin(self._walked.contents, changes, path, blob, spans)

    def _changes_at(self, path: str) -> dict[str, list[FileChange]]:
        found = self._at.get(path)
        if found is None:
            with self._graph.lock:
                found = self._at[path] = self._graph.ancestry.changes_at(path)
        return found

    def _hunks(self, change: FileChange):
        if change.binary:
            return None
        if change.hunks or change.blob_before == change.blob_after:
            return change.hunks
        if change.kind is ChangeKind.ADD:
            return self._walked.contents.hunks(None, change.blob_after)
        return self._walked.contents.hunks(change.blob_before, change.blob_after)


def block_texts(history: BlockHistory, version: Version) -> tuple[Sequence[str], Sequence[str]]:
    """The block before and after a version, as it was written."""
    revision = version.revision
    if revision is None:
        return version.before, version.after
    contents = history.contents
    before = contents.block(revision.blob_before, revision.before) if revision.blob_before else []
    return before, contents.block(revision.blob_after, revision.after)
