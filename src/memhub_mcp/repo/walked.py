"""The history of a block read from the repository alone, without an index."""

from collections.abc import Iterable, Sequence

import pygit2
from pygit2.enums import ObjectType, SortMode

from memhub_mcp.domain.revision import CommitLine, FileChange, Spans
from memhub_mcp.repo.contents import Contents
from memhub_mcp.repo.diff import read_changes
from memhub_mcp.repo.lineage import Origin, Step, order_of
from memhub_mcp.repo.moves import find_origin
from memhub_mcp.repo.objects import author_text, message_text, moment, raw_path


class CommitGraph:
    """What was read of the commits of a repository; they never change. Threads may share it."""

    def __init__(self) -> None:
        self.parents: dict[str, tuple[str, ...]] = {}
        self.trees: dict[str, pygit2.Oid] = {}
        self.folders: dict[tuple[pygit2.Oid, str], pygit2.Oid | None] = {}
        self.order: tuple[str, list[str]] = ("", [])

    @property
    def size(self) -> int:
        """How many things are kept."""
        return len(self.parents) + len(self.folders)


class WalkedHistory:
    """Commits as libgit2 has them. Not for several threads at once; the graph may be shared."""

    def __init__(self, repo: pygit2.Repository, graph: CommitGraph | None = None) -> None:
        self.contents = Contents(repo)
        self._repo = repo
        graph = graph or CommitGraph()
        self._graph = graph
        self._parents = graph.parents
        self._trees = graph.trees
        self._folders = graph.folders
        self._blobs: dict[tuple[str, str], str | None] = {}
        self._changes: tuple[str, list[FileChange]] = ("", [])

    def order(self, head: str) -> Iterable[str]:
        """Every commit reachable from `head`, children before parents."""
        kept, order = self._graph.order
        if kept != head:
            if not self._parents:  # one walk is cheaper than asking for each
                for commit in self._repo.walk(head, SortMode.NONE):
                    self._keep(str(commit.id), commit)
            order = order_of(head, self.parents)
            self._graph.order = (head, order)
        return order

    def parents(self, sha: str) -> Sequence[str]:
        """The parents of a commit; none where a shallow clone ends."""
        if sha not in self._parents:
            self._keep(sha, self._repo[sha].peel(pygit2.Commit))
        return self._parents[sha]

    def holds(self, sha: str) -> bool:
        """Whether the commit is here."""
        return sha in self._parents or sha in self._repo

    def line(self, sha: str) -> CommitLine:
        """Author, time and message of a commit, not redacted."""
        commit = self._repo[sha].peel(pygit2.Commit)
        return CommitLine(author_text(commit), moment(commit.committer.time), message_text(commit))

    def leaves_alone(self, sha: str, path: str) -> bool:
        """Whether there is a first parent, and `path` is the same there."""
        parents = self.parents(sha)
        return bool(parents) and self.blob(sha, path) == self.blob(parents[0], path)

    def step(self, sha: str, number: int, path: str) -> Step | None:
        """How `path` differs from the parent `number`."""
        parents = self.parents(sha)
        after = self.blob(sha, path)
        before = self.blob(parents[number], path) if parents else None
        if after is None or after == before:
            return None
        old_path = path
        if before is None and parents:
            for change in self._changes_of(sha):
                if (change.path, change.parent) == (path, number) and change.old_path:
                    old_path, before = change.old_path, change.blob_before
        return Step(old_path=old_path, blob_before=before, blob_after=after, hunks=self.contents.hunks(before, after))

    def origin(self, sha: str, path: str, blob: str, spans: Spans) -> Origin | None:
        """The place from which this commit moved the lines `spans` of `path`."""
        if not self.parents(sha):
            return None
        return find_origin(self.contents, self._changes_of(sha), path, blob, spans)

    def blob(self, sha: str, path: str) -> str | None:
        """The blob at `path` in a commit."""
        key = (sha, path)
        if key not in self._blobs:
            self.parents(sha)
            found = self._entry(self._trees[sha], raw_path(path).decode("utf-8", "surrogateescape"))
            self._blobs[key] = None if found is None else str(found)
        return self._blobs[key]

    def _entry(self, tree: pygit2.Oid, path: str) -> pygit2.Oid | None:
        """The blob at `path` below a tree. Folders are remembered: most commits leave most of them alone."""
        name, slash, rest = path.partition("/")
        key = (tree, path)
        if key in self._folders:
            return self._folders[key]
        try:
            entry = self._repo[tree].peel(pygit2.Tree)[name]
        except (KeyError, ValueError):
            return None
        if slash:
            found = self._entry(entry.id, rest) if entry.type == ObjectType.TREE else None
        else:
            found = entry.id if entry.type == ObjectType.BLOB else None
        self._folders[key] = found
        return found

    def _keep(self, sha: str, commit: pygit2.Commit) -> None:
        self._trees[sha] = commit.tree_id
        self._parents[sha] = tuple(map(str, commit.parent_ids))

    def _changes_of(self, sha: str) -> list[FileChange]:
        if self._changes[0] != sha:
            self._changes = (sha, read_changes(self._repo, sha, self.contents))
        return self._changes[1]
