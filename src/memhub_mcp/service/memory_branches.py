"""How far a repository's file of memories holds: on every branch, or on the one it is read on."""

from collections.abc import Iterable
from dataclasses import replace

from memhub_mcp.capture.memory_files import read_memory_file, text_of_file
from memhub_mcp.capture.redact import redact
from memhub_mcp.domain.memory import Draft
from memhub_mcp.domain.scope import Tier
from memhub_mcp.errors import InvalidInput, RepoError
from memhub_mcp.repo.tips import branch_tip
from memhub_mcp.repo.tracked import TrackedFiles
from memhub_mcp.service.drafts import content_key
from memhub_mcp.service.excerpts import Excerpt
from memhub_mcp.service.memory_paths import FoundFile
from memhub_mcp.service.scope import Scope
from memhub_mcp.store.file import Store


class MemoryBranches:
    """Compares a file with what other commits hold of it. Where git cannot be read, all of it is of the workspace."""

    def __init__(self, scope: Scope) -> None:
        self._checkout = scope.checkout
        self._tracked: TrackedFiles | None = None
        self._default: str | None = None
        if self._checkout is None or self._checkout.head is None:
            return
        try:
            self._tracked = TrackedFiles(self._checkout.root)
            if self._checkout.default_branch is not None:
                self._default = branch_tip(self._checkout.root, self._checkout.default_branch)
        except RepoError:
            self._tracked = None

    def placed(self, found: FoundFile, excerpts: Iterable[Excerpt]) -> list[Excerpt]:
        """What the file says, each with the tier it has.

        From another branch than the default one: what that one says too is the workspace's; what it said when the
        branch was made, and says no longer, is not this branch's word.
        """
        checkout, tracked = self._checkout, self._tracked
        if checkout is None or checkout.on_default_branch or not self.is_tracked(found):
            return list(excerpts)
        if tracked is None or checkout.head is None or found.relative is None:
            return list(excerpts)
        base = tracked.common(checkout.head, self._default) if self._default is not None else None
        now, then = self._said(self._default, found), self._said(base, found)
        placed: list[Excerpt] = []
        for excerpt in excerpts:
            key = content_key(excerpt.draft)
            if key in now:
                placed.append(replace(excerpt, commit=self._default))
            elif key not in then:
                draft = replace(excerpt.draft, tier=Tier.BRANCH)
                placed.append(replace(excerpt, draft=draft, tier=Tier.BRANCH))
        return placed

    def is_tracked(self, found: FoundFile) -> bool:
        """Whether the commit that is checked out has the file."""
        if self._tracked is None or self._checkout is None or self._checkout.head is None or found.relative is None:
            return False
        return self._tracked.holds(self._checkout.head, found.relative)

    def is_behind(self, store: Store, found: FoundFile) -> bool:
        """Whether this checkout stands before a commit that the file was read at."""
        checkout, tracked = self._checkout, self._tracked
        if tracked is None or checkout is None or checkout.head is None or not self.is_tracked(found):
            return False
        memories = store.memories.by_seqs(store.excerpts.of(found.name)).values()
        commits = {
            memory.commit
            for memory in memories
            if memory.commit and (memory.tier is not Tier.BRANCH or memory.branch == checkout.branch)
        }
        return any(tracked.is_older(checkout.head, than=commit) for commit in commits)

    def was_committed(self, store: Store, file: str) -> bool:
        """Whether a file that is gone here was in a commit when it was read, and is in the present one no more."""
        checkout, tracked = self._checkout, self._tracked
        if tracked is None or checkout is None or checkout.head is None or tracked.holds(checkout.head, file):
            return False
        memories = store.memories.by_seqs(store.excerpts.of(file)).values()
        commits = {memory.commit for memory in memories if memory.commit}
        return any(
            tracked.holds(commit, file) and not tracked.is_older(checkout.head, than=commit) for commit in commits
        )

    def may_archive(self, found: FoundFile) -> bool:
        """Whether what the file says no longer is gone: a detached HEAD is a look at another time."""
        return found.relative is None or self._checkout is None or self._checkout.branch is not None

    def _said(self, commit: str | None, found: FoundFile) -> frozenset[bytes]:
        """What the file says in a commit."""
        if self._tracked is None or commit is None or found.relative is None:
            return frozenset()
        data = self._tracked.content(commit, found.relative)
        if data is None:
            return frozenset()
        try:
            read = read_memory_file(redact(text_of_file(data)), is_note=found.is_note)
        except InvalidInput:
            return frozenset()
        return frozenset(content_key(Draft(text=passage.text)) for passage in read.passages)
