"""What git's history says about where work stands: on its branch, on HEAD, on the default branch."""

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from memhub_mcp.domain.branch import BranchFacts, Reach
from memhub_mcp.repo.history import HEADS, REMOTES, History
from memhub_mcp.repo.reflog import BranchLog

MOST_OWN_COMMITS = 500  # of one branch, newest first
MOST_SQUASHES = 50  # how many of them are looked at as the end of a squash
_ONE_BY_ONE = 24  # asking for that many single commits costs about what one walk does


def default_tips(history: History, default_branch: str | None) -> list[str]:
    """Where the default branch stands, here and at its remote."""
    if default_branch is None:
        return []
    names = (f"{HEADS}{default_branch}", f"{REMOTES}origin/{default_branch}")
    return list(dict.fromkeys(tip for name in names if (tip := history.tip(name)) is not None))


def own_commit(history: History, log: BranchLog, branch: str, head: str, defaults: Sequence[str]) -> str | None:
    """`head`, if it is a commit of `branch` rather than of what it was made from; else None.

    It is when the default branch does not have it, and it was committed on the branch or no other branch stands there.
    """
    if any(history.is_ancestor(head, tip) for tip in defaults):
        return None
    if any(entry.new == head and not entry.is_move for entry in log.entries):
        return head
    return None if _stands_elsewhere(history, branch, head) else head


def next_commit(
    history: History, log: BranchLog, branch: str, after: str | None, defaults: Sequence[str]
) -> str | None:
    """The first commit that `branch` got since it stood at `after` and still has; None while there is none."""
    tip = history.tip(f"{HEADS}{branch}")
    if tip is None or tip == after:
        return None
    for entry in log.since(after):
        if entry.is_move or not history.is_ancestor(entry.new, tip):
            continue
        if entry.is_commit or not any(history.is_ancestor(entry.new, default) for default in defaults):
            return entry.new
    hidden = [*defaults, *([after] if after else [])]
    own = history.walk([tip], hidden, first_parent=True, limit=MOST_OWN_COMMITS)
    return own[-1] if own and not _stands_elsewhere(history, branch, tip) else None


class OwnCommits:
    """What some tips have and the default branch has not: one walk for all of them."""

    def __init__(self, history: History, tips: Iterable[str], defaults: Sequence[str]) -> None:
        self._history = history
        self._defaults = defaults
        self._own = frozenset(history.walk(tips, defaults)) if defaults else frozenset[str]()
        self._parents: dict[str, tuple[str, ...]] = {}

    def of(self, tip: str) -> list[str]:
        """The own commits of one of the tips, or of a commit behind it; nearest first."""
        return self._reached(tip)[0]

    def base(self, tip: str) -> str | None:
        """Where the tip, or a commit behind it, left the default branch; None when they have nothing in common."""
        if not self._defaults:
            return None
        _, left = self._reached(tip)
        if len(left) < 2:
            return left[0] if left else None
        latest = [one for one in left if not any(one != other and self._leads(one, other) for other in left)]
        return latest[0] if len(latest) == 1 else self._history.merge_base([tip, self._defaults[0]])

    def _leads(self, one: str, other: str) -> bool:
        return self._history.is_ancestor(one, other)

    def _reached(self, tip: str) -> tuple[list[str], list[str]]:
        """The own commits behind `tip`, and where they end."""
        own: dict[str, None] = {}
        left: dict[str, None] = {}
        waiting = deque([tip])
        while waiting:
            commit = waiting.popleft()
            if commit not in self._own:
                left[commit] = None
            elif commit not in own:
                own[commit] = None
                waiting.extend(self._parents_of(commit))
        return list(own), list(left)

    def _parents_of(self, commit: str) -> tuple[str, ...]:
        found = self._parents.get(commit)
        if found is None:
            found = self._parents[commit] = self._history.parents(commit)
        return found


def read_facts(
    history: History, branch: str, tip: str, own: OwnCommits, *, known: Mapping[str, str | None], now: datetime
) -> BranchFacts:
    """What can be said of a branch now. `known` are patch-ids that need not be worked out again."""
    commits = own.of(tip)[:MOST_OWN_COMMITS]
    base = own.base(tip)
    paths = history.changed(base, tip) if base is not None and commits else None
    return BranchFacts(
        branch=branch,
        tip=tip,
        merge_base=base,
        commits=tuple((one, known[one] if one in known else commit_patch_id(history, one)) for one in commits),
        patch_id=history.patch_id(base, tip) if paths else None,
        paths=paths or {},
        seen_at=now,
    )


def commit_patch_id(history: History, commit: str) -> str | None:
    """The patch-id of a commit against its only parent; None for merges."""
    parents = history.parents(commit)
    if len(parents) > 1:
        return None
    return history.patch_id(parents[0] if parents else None, commit)


def squashes(
    history: History, facts: BranchFacts, own: OwnCommits, known: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Commit → (base, patch-id of base..commit) of the branch's own newest commits that `known` does not have."""
    found: dict[str, tuple[str, str]] = {}
    for commit, _ in facts.commits[:MOST_SQUASHES]:
        base = facts.merge_base if commit == facts.tip else own.base(commit)
        if base is None or known.get(commit) == base:
            continue
        patch_id = facts.patch_id if commit == facts.tip else history.patch_id(base, commit)
        if patch_id:
            found[commit] = (base, patch_id)
    return found


def holds_paths(history: History, commit: str, paths: Mapping[str, str | None]) -> bool:
    """Whether every path of `paths` has its blob at `commit` (None: is not there)."""
    return bool(paths) and all(history.blob(commit, path) == blob for path, blob in paths.items())


def read_reach(history: History, head: str, wanted: Collection[str], near: Iterable[Reach]) -> Reach:
    """Which of `wanted` lead to `head`, going on from what is known of another head where that is shorter."""
    asked, reached = frozenset[str](), frozenset[str]()
    for known in near:
        if known.head == head:
            asked, reached = known.asked, known.reached
        elif history.holds(known.head):
            added, gone = history.walk([head], [known.head]), history.walk([known.head], [head])
            asked = known.asked.union(added, gone)
            reached = known.reached.difference(gone).union(added)
        else:
            continue
        break
    wanted = frozenset(wanted)
    missing = wanted - asked
    if len(missing) > _ONE_BY_ONE:
        reached |= missing.intersection(history.walk([head]))
    else:
        reached |= {commit for commit in missing if history.is_ancestor(commit, head)}
    return Reach(head, wanted, reached & wanted)


def _stands_elsewhere(history: History, branch: str, commit: str) -> bool:
    """Whether a branch of another name stands at `commit`."""
    for name, tip in history.tips().items():
        short = name.removeprefix(HEADS) if name.startswith(HEADS) else name.removeprefix(REMOTES).partition("/")[2]
        if tip == commit and short not in (branch, "HEAD"):
            return True
    return False
