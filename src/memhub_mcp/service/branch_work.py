"""Keeps what is known of branches in step with the repository, and finds where their work arrived.

A branch memory is seen from a HEAD when it stands on HEAD's branch, when its commit leads to HEAD, or when its work
landed on a commit that does: one with the same patch-id (rebase, cherry-pick), one with the patch-id of the branch up
to there (squash), or one where every path the branch touched is as the branch left it. What git will prune is kept.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime

from memhub_mcp.domain.branch import Anchor, BranchFacts
from memhub_mcp.domain.scope import Checkout
from memhub_mcp.repo.history import HEADS, History
from memhub_mcp.repo.reflog import read_birth, read_log
from memhub_mcp.repo.visibility import (
    OwnCommits,
    commit_patch_id,
    default_tips,
    holds_paths,
    next_commit,
    read_facts,
    read_reach,
    squashes,
)
from memhub_mcp.service.branch_names import BranchNames
from memhub_mcp.store.file import Store
from memhub_mcp.store.landings import Watch

_BATCH = 200  # commits compared in one transaction
_LOOKED_BACK = 2_000  # commits in which the state of a branch that moved is looked for


class BranchWork:
    """One look at a repository for one store. It writes only what it learns; it may be stopped between two steps."""

    def __init__(
        self, store: Store, checkout: Checkout, history: History, *, now: datetime, stopped: Callable[[], bool]
    ) -> None:
        self._store = store
        self._checkout = checkout
        self._history = history
        self._now = now
        self._stopped = stopped
        self._defaults = default_tips(history, checkout.default_branch)
        self._by_branch: dict[str, list[tuple[int, str]]] | None = None

    def learn(self) -> None:
        """Store what is new of branches and commits. Nothing happens where nothing can be written."""
        if self._store.read_only:
            return
        anchors = self._store.anchors.all()
        branches = {anchor.branch for anchor in anchors}
        if self._checkout.branch:
            branches.add(self._checkout.branch)
        names = BranchNames(self._store, self._history, self._checkout.common_dir, self._now)
        if names.follow(branches, current=self._checkout.branch, defaults=self._defaults):
            anchors = self._store.anchors.all()
        self._settle_pending(anchors)
        changed, absorbed = self._read_branches()
        self._read_origins()
        floor, bases = self._floor()
        if floor is None:
            return
        deeper = floor != self._store.landings.floor()
        new = self._compare_commits(floor, everything=deeper)
        if self._stopped():
            return
        if changed or new:
            self._land(changed, new, absorbed, everything=deeper)
        if bases:
            with self._store.write() as tx:
                self._store.landings.note_compared(tx, bases, floor)

    def seen(self) -> frozenset[int]:
        """The anchors seen from HEAD."""
        anchors = self._store.anchors.all()
        seen = {anchor.id for anchor in anchors if anchor.branch == self._checkout.branch}
        head = self._checkout.head
        arrivals = [(anchor.id, anchor.commit) for anchor in anchors if anchor.commit] + self._store.landings.all()
        if head is None or not arrivals:
            return frozenset(seen)
        landings = self._store.landings
        exact = landings.reach(head)
        wanted = {commit for _, commit in arrivals}
        near = (reach for other in landings.heads() if (reach := landings.reach(other)))
        reach = read_reach(self._history, head, wanted, [exact] if exact else near)
        if reach != exact and not self._store.read_only and not self._checkout.shallow:
            with self._store.write() as tx:
                landings.put_reach(tx, reach)
        return frozenset(seen.union(anchor for anchor, commit in arrivals if commit in reach.reached))

    def _settle_pending(self, anchors: Sequence[Anchor]) -> None:
        """Give a pending anchor the commit its branch got since."""
        for anchor in anchors:
            if anchor.commit is None and self._history.tip(f"{HEADS}{anchor.branch}") != anchor.pending_at:
                log = read_log(self._checkout.common_dir, anchor.branch)
                commit = next_commit(self._history, log, anchor.branch, anchor.pending_at, self._others(anchor.branch))
                if commit:
                    with self._store.write() as tx:
                        self._store.anchors.settle(tx, anchor.branch, commit)

    def _others(self, branch: str) -> Sequence[str]:
        """The tips of the default branch, for any branch but itself."""
        return () if branch == self._checkout.default_branch else self._defaults

    def _read_branches(self) -> tuple[set[str], set[str]]:
        """The branches that moved, or got a memory, since they were read last, and those of them that main has."""
        landings, default = self._store.landings, self._checkout.default_branch
        watched, newest = landings.watched(), landings.newest_anchors()
        moved: dict[str, str] = {}
        for branch in {*newest, *([self._checkout.branch] if self._checkout.branch else [])}:
            tip = self._history.tip(f"{HEADS}{branch}")
            watch = watched.get(branch)
            if tip and not (watch and watch.tip == tip and watch.newest_anchor == newest.get(branch, 0)):
                moved[branch] = tip
        own = OwnCommits(self._history, [tip for branch, tip in moved.items() if branch != default], self._defaults)
        absorbed = {branch for branch, tip in moved.items() if branch != default and not own.of(tip)}
        for branch, tip in moved.items():
            fresh = Watch(tip, read_birth(self._checkout.common_dir, branch), newest.get(branch, 0))
            facts = self._read_facts(branch, tip, own) if branch != default else None
            known = landings.squashes(branch) if facts and fresh.newest_anchor else {}
            found = squashes(self._history, facts, own, known) if facts and fresh.newest_anchor else {}
            with self._store.write() as tx:
                if facts:
                    self._store.branches.put(tx, facts)
                for commit, (base, patch_id) in found.items():
                    landings.put_squash(tx, branch, commit, base, patch_id)
                landings.watch(tx, branch, fresh)
        return set(moved), absorbed

    def _read_facts(self, branch: str, tip: str, own: OwnCommits) -> BranchFacts | None:
        """The facts of a branch; None when it has no commit of its own, so that what is known of its work stays."""
        earlier = self._store.branches.get(branch)
        if earlier and earlier.tip == tip:
            return earlier
        known = dict(earlier.commits) if earlier else {}
        facts = read_facts(self._history, branch, tip, own, known=known, now=self._now)
        return facts if facts.commits else None

    def _read_origins(self) -> None:
        """What the commits of new anchors changed, and where they left the default branch."""
        landings = self._store.landings
        commits = [commit for commit in landings.anchors_without_origin() if self._history.holds(commit)]
        if not commits:
            return
        own = OwnCommits(self._history, commits, self._defaults)
        origins = [(commit, commit_patch_id(self._history, commit), own.base(commit)) for commit in commits]
        with self._store.write() as tx:
            for commit, patch_id, since in origins:
                landings.put_origin(tx, commit, patch_id, since)

    def _floor(self) -> tuple[str | None, set[str]]:
        """The commit behind which nothing is compared ("": everything is; None: nothing is yet), and new bases."""
        landings = self._store.landings
        floor, bases = landings.floor(), landings.new_bases()
        if not bases or floor == "":
            return floor, bases
        unsure = bases.difference(landings.compared(bases)) - {floor}
        below = [base for base in unsure if floor is None or not self._history.is_ancestor(floor, base)]
        if not below:
            return floor, bases
        return self._history.merge_base([*below, *([floor] if floor else [])]) or "", bases

    def _compare_commits(self, floor: str, *, everything: bool) -> list[str]:
        """Work out the patch-ids of what leads to HEADs and was never compared, or of all since `floor`."""
        heads = self._store.landings.heads()
        new = self._history.walk(self._seen_heads(heads), [floor] if everything else [*heads, floor])
        for start in range(0, len(new), _BATCH):
            if self._stopped():
                return []
            self._patch_ids(new[start : start + _BATCH])
        return new

    def _patch_ids(self, commits: Sequence[str]) -> None:
        known = self._store.landings.patch_ids(commits)
        fresh = {commit: commit_patch_id(self._history, commit) for commit in commits if commit not in known}
        if fresh:
            with self._store.write() as tx:
                self._store.landings.put_patch_ids(tx, fresh)

    def _seen_heads(self, heads: Sequence[str]) -> list[str]:
        head = self._checkout.head
        return [*heads, head] if head and head not in heads else list(heads)

    def _land(
        self, changed: Collection[str], new: Sequence[str], absorbed: Collection[str], *, everything: bool
    ) -> None:
        """Note where work arrived: new commits with every branch, changed branches with every commit.

        `everything`: all commits are among the new ones.
        """
        found = {
            (anchor, commit)
            for anchor, commit, since in self._store.landings.same_change(new, changed)
            if not since or not self._history.is_ancestor(commit, since)
        }
        found.update(self._squashed(changed, new))
        found.update(self._as_left(() if everything else changed, new))
        found.update(self._rewritten(absorbed))
        found.difference_update(self._store.landings.all())
        if found:
            with self._store.write() as tx:
                self._store.landings.land(tx, found)

    def _squashed(self, changed: Collection[str], new: Sequence[str]) -> Iterator[tuple[int, str]]:
        for match in self._store.landings.same_squash(new, changed):
            if self._history.is_ancestor(match.found, match.base):
                continue
            facts = self._store.branches.get(match.branch)
            tip = facts.tip if facts else match.sha
            for anchor, commit in self._anchored(match.branch):
                covered = self._history.is_ancestor(commit, match.sha)
                if covered or (match.sha == tip and not self._history.is_ancestor(commit, tip)):
                    yield anchor, match.found

    def _as_left(self, changed: Collection[str], new: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Commits that made the last of a branch's paths what the branch had made it."""
        for branch, commit in {*self._moved(changed), *self._touched(new)}:
            facts = self._store.branches.get(branch)
            if facts is None or facts.merge_base is None or not holds_paths(self._history, commit, facts.paths):
                continue
            if self._history.is_ancestor(commit, facts.merge_base) or not self._touches(commit, facts):
                continue
            for anchor, own in self._anchored(branch):
                if not self._history.is_ancestor(own, commit):  # otherwise it is seen from there anyway
                    yield anchor, commit

    def _touches(self, commit: str, facts: BranchFacts) -> bool:
        """Whether `commit` changed one of the branch's paths; what has them as they were before changed nothing."""
        changed = self._changed(commit)
        return changed is not None and not facts.paths.keys().isdisjoint(changed)

    def _changed(self, commit: str) -> Mapping[str, str | None] | None:
        parents = self._history.parents(commit)
        return self._history.changed(parents[0] if parents else None, commit)

    def _rewritten(self, absorbed: Collection[str]) -> Iterator[tuple[int, str]]:
        """Anchors of commits that were amended away, at the one made instead, if main had that before we looked."""
        for branch in absorbed:
            tip = self._history.tip(f"{HEADS}{branch}")
            log = read_log(self._checkout.common_dir, branch)
            if tip and any(entry.new == tip and entry.is_commit for entry in log.entries):
                for anchor, own in self._anchored(branch):
                    if not self._history.is_ancestor(own, tip):
                        yield anchor, tip

    def _moved(self, changed: Collection[str]) -> Iterator[tuple[str, str]]:
        """Changed branches with every commit that was seen since they left the default branch."""
        heads = self._seen_heads(self._store.landings.heads())
        for branch in changed:
            facts = self._store.branches.get(branch)
            if facts and facts.merge_base and facts.paths:
                for commit in self._history.walk(heads, [facts.merge_base], limit=_LOOKED_BACK):
                    yield branch, commit

    def _touched(self, new: Sequence[str]) -> Iterator[tuple[str, str]]:
        """New commits with the branches that left a path as the commit left it."""
        for commit in new:
            changed = self._changed(commit)
            for branch in self._store.landings.same_blob(changed.items()) if changed else ():
                yield branch, commit

    def _anchored(self, branch: str) -> Sequence[tuple[int, str]]:
        if self._by_branch is None:
            self._by_branch = {}
            for anchor in self._store.anchors.all():
                if anchor.commit:
                    self._by_branch.setdefault(anchor.branch, []).append((anchor.id, anchor.commit))
        return self._by_branch.get(branch, ())
