"""What a file of memories says now, beside what it said when it was read last."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memhub_mcp.domain.memory import Draft, Memory, Status
from memhub_mcp.domain.scope import Tier
from memhub_mcp.service.drafts import content_key, subject_key
from memhub_mcp.service.remembering import index_words, keep_excerpt
from memhub_mcp.service.scope import Scope
from memhub_mcp.store.connection import Reader, Transaction
from memhub_mcp.store.file import Store


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One thing that a file says, and the line it begins in. `commit` is where it is true, if not where HEAD is."""

    draft: Draft
    tier: Tier
    line: int
    commit: str | None = None


@dataclass(slots=True)
class Changes:
    """How many excerpts are new (`changed` ones among them), were there, are gone, or were forgotten before."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    archived: int = 0
    forgotten: int = 0

    def count_as_known(self) -> None:
        """One of those that are new in the file is remembered from elsewhere."""
        self.added -= 1
        self.unchanged += 1

    def add(self, other: "Changes") -> None:
        """Count another file's as well."""
        self.added += other.added
        self.changed += other.changed
        self.unchanged += other.unchanged
        self.archived += other.archived
        self.forgotten += other.forgotten


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be done: kept ones move to their line, gone ones leave it. `lines` are where memories stood so far."""

    lines: Mapping[int, int | None]
    new: Sequence[Excerpt]
    kept: Sequence[tuple[Memory, Excerpt]]
    gone: Sequence[Memory]
    forgotten: int


def reconcile(
    scope: Scope, store: Store, file: str, said: Sequence[Excerpt], *, source: str, now: datetime, archives: bool
) -> Changes:
    """Make memories say what `file` says; with `archives` also those it says no longer leave recall.

    What a person or an assistant changed by hand stays so: its first wording is known to be theirs.
    """
    with store.write() as tx:
        plan = _plan(scope, store, tx, file, said)
        found = _counted(store, plan, archives)
        lines = dict(plan.lines)
        followed = [
            (_under_heading(scope, store, tx, file, memory, excerpt, now), excerpt) for memory, excerpt in plan.kept
        ]
        stays = {memory.seq for memory, _ in followed}
        for memory, excerpt in followed:
            if lines[memory.seq] != excerpt.line:
                store.excerpts.put(tx, file, memory.seq, excerpt.line)
            if lines[memory.seq] is None and memory.status is not Status.ACTIVE:
                _bring_back(store, tx, memory, stays, now)
            lines[memory.seq] = excerpt.line
        for excerpt in plan.new:
            there = _at(scope, excerpt.commit)
            kept = keep_excerpt(there, store, tx, excerpt.draft, excerpt.tier, source=source, now=now)
            seq = store.memories.get_many([kept["id"]], reader=tx)[kept["id"]].seq
            store.excerpts.put(tx, file, seq, excerpt.line)
            if kept["status"] == "duplicate_of":
                found.count_as_known()
        for memory in plan.gone if archives else ():
            store.excerpts.put(tx, file, memory.seq, None)
            still = store.memories.by_seqs([memory.seq], reader=tx)[memory.seq]
            if still.status is Status.ACTIVE and not store.excerpts.places([memory.seq], reader=tx):
                store.memories.set_status(tx, memory.seq, Status.ARCHIVED, now)
    return found


def _at(scope: Scope, commit: str | None) -> Scope:
    """`scope` with HEAD at a commit."""
    if commit is None or scope.checkout is None:
        return scope
    return replace(scope, checkout=replace(scope.checkout, head=commit))


def foreseen(
    scope: Scope, store: Store, file: str, said: Sequence[Excerpt], *, archives: bool, foretold: set[tuple[bytes, Tier]]
) -> Changes:
    """What `reconcile` would do after the files whose excerpts are `foretold`; those of this one are added to them."""
    plan = _plan(scope, store, store.db, file, said)
    found = _counted(store, plan, archives)
    for excerpt in plan.new:
        key = content_key(excerpt.draft)
        branch = scope.checkout.branch if scope.checkout and excerpt.tier is Tier.BRANCH else None
        equal = store.memories.find_equal(key, excerpt.tier, branch, reader=store.db)
        if (key, excerpt.tier) in foretold or (equal is not None and equal.status is Status.ACTIVE):
            found.count_as_known()
        foretold.add((key, excerpt.tier))
    return found


def _plan(scope: Scope, store: Store, reader: Reader, file: str, said: Sequence[Excerpt]) -> _Plan:
    lines = store.excerpts.of(file, reader=reader)
    held = [
        memory for memory in store.memories.by_seqs(lines, reader=reader).values() if _is_seen(scope, store, memory)
    ]
    wordings: dict[bytes, Memory] = {}
    for memory in sorted(held, key=lambda memory: (lines[memory.seq] is None, memory.status is not Status.ACTIVE)):
        for version in store.memories.versions(memory.seq):
            wordings.setdefault(content_key(Draft(text=version.text)), memory)
    new: list[Excerpt] = []
    kept: list[tuple[Memory, Excerpt]] = []
    forgotten = 0
    first: dict[bytes, Excerpt] = {}
    for excerpt in said:
        first.setdefault(content_key(excerpt.draft), excerpt)
    for key, excerpt in first.items():
        memory = wordings.get(key)
        if store.memories.is_tombstoned(key, reader=reader):
            forgotten += 1
        elif memory is not None:
            kept.append((memory, excerpt))
        else:
            new.append(excerpt)
    stays = {memory.seq for memory, _ in kept}
    gone = [memory for memory in held if lines[memory.seq] is not None and memory.seq not in stays]
    return _Plan(lines, new, kept, [memory for memory in gone if _may_go(scope, store, memory)], forgotten)


def _is_seen(scope: Scope, store: Store, memory: Memory) -> bool:
    return memory.anchor is None or store is scope.user or memory.anchor in scope.anchors()


def _may_go(scope: Scope, store: Store, memory: Memory) -> bool:
    """A line of work says nothing about what holds elsewhere."""
    checkout = scope.checkout
    if store is scope.user or checkout is None or checkout.on_default_branch:
        return True
    return memory.tier is Tier.BRANCH and memory.branch == checkout.branch


def _counted(store: Store, plan: _Plan, archives: bool) -> Changes:
    subjects = {subject_key(excerpt.draft.subject) for excerpt in plan.new}
    subjects |= {subject_key(memory.subject) for memory, _ in plan.kept if memory.status is not Status.ACTIVE}
    active = [memory for memory in plan.gone if memory.status is Status.ACTIVE]
    changed = [memory for memory in active if subject_key(memory.subject) in subjects]
    elsewhere = store.excerpts.places([memory.seq for memory in active])
    archived = [memory for memory in active if memory not in changed and len(elsewhere.get(memory.seq, ())) <= 1]
    return Changes(
        added=len(plan.new),
        changed=len(changed),
        unchanged=len(plan.kept),
        archived=len(archived) if archives else 0,
        forgotten=plan.forgotten,
    )


def _under_heading(
    scope: Scope, store: Store, tx: Transaction, file: str, memory: Memory, excerpt: Excerpt, now: datetime
) -> Memory:
    """A memory with the heading it has now: what stands under its earlier one is no other wording of it."""
    subject, earlier = excerpt.draft.subject, memory.subject or ""
    if subject is None or subject == earlier or not earlier.startswith(file) or not _may_go(scope, store, memory):
        return memory
    memory = store.memories.set_subject(tx, memory.seq, subject, subject_key(subject), now)
    index_words(store, tx, memory)
    return memory


def _bring_back(store: Store, tx: Transaction, memory: Memory, stays: Collection[int], now: datetime) -> None:
    """What had gone from the file is said again, in place of what else is said of its subject."""
    subject = subject_key(memory.subject)
    others = store.memories.find_subject(subject, memory.tier, memory.branch, reader=tx) if subject else []
    for other in (other for other in others if other.seq not in stays):
        store.memories.set_status(tx, other.seq, Status.SUPERSEDED, now)
        store.memories.link(tx, memory.seq, other.seq, "supersedes")
    store.memories.set_status(tx, memory.seq, Status.ACTIVE, now)
