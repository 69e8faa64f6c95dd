"""Commits become rows that can be found: newest first, in short transactions, going on where it stopped."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from memhub_mcp.capture.never_stored import is_never_stored
from memhub_mcp.capture.redact import REDACTION_VERSION, redact
from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.revision import Commit
from memhub_mcp.errors import RepoError, StoreError
from memhub_mcp.repo.diff import TextRules, count_commits, walk_commits
from memhub_mcp.repo.tips import Tips, read_tips
from memhub_mcp.retrieval.terms import TERMS_VERSION, changed_terms, index_terms, name_terms
from memhub_mcp.service.scope import Scope
from memhub_mcp.store.file import Store

Progress = Callable[[int, int | None], None]
"""Told how many commits are done, and of how many."""

BATCH_COMMITS = 100
BATCH_S = 0.1  # of reading; storing them takes about a third, during which another client's write waits
CATCH_UP_S = 0.1
_NAMED_PATHS = 200
_HEADINGS = 30
_KEPT_TIPS = 200
_COMPLETE, _BOUNDARY = "complete", "boundary"
TEXT_RULES = TextRules(redact=redact, never_stored=is_never_stored)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexReport:
    """What became of the commits. `total` are all that are indexed; `complete` when none is missing."""

    added: int = 0
    total: int = 0
    complete: bool = True
    notes: tuple[str, ...] = ()


class Indexing:
    """Keeps the commit index of a store in step with the repository."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock

    def index(
        self, scope: Scope, *, progress: Progress | None = None, stop: Callable[[], bool] = lambda: False
    ) -> IndexReport:
        """Index every commit that HEAD and the branches reach and that is not known yet.

        What was stored when `stop` says so, or the process ends, stays; the next call goes on from there.

        Raises:
            StoreError: the store cannot be written.
        """
        store, checkout = scope.store, scope.checkout
        if store is None or checkout is None:
            return IndexReport()
        if store.read_only:
            note = f"commits are not indexed: {store.db.path} can be read but not written"
            return IndexReport(total=store.commits.count(), complete=False, notes=(note,))
        if checkout.limited is not None:
            return IndexReport(complete=False, notes=(f"commits are not indexed: {checkout.limited}",))
        try:
            return self._index(store, checkout.root, progress, stop)
        except RepoError as error:
            return IndexReport(total=store.commits.count(), complete=False, notes=(str(error),))

    def follow(self, scope: Scope, deadline: float) -> int:
        """Index what is new until `time.monotonic()` passes `deadline`; how many commits that were."""
        return self.index(scope, stop=lambda: time.monotonic() > deadline).added

    def catch_up(self, scope: Scope, *, begin: bool = False) -> None:
        """Index what came since the index was complete, for a moment; a call that only reads does not fail by it.

        One that never was complete is gone on with where a call says `begin`.
        """
        if scope.store is None or self.is_current(scope) or not (begin or _complete(scope.store)):
            return
        with suppress(StoreError), scope.store.db.impatient():  # others write: the next call finds the same work
            self.follow(scope, time.monotonic() + CATCH_UP_S)

    def is_current(self, scope: Scope) -> bool:
        """Whether every commit that leads to HEAD is indexed. One look into the store."""
        if scope.store is None or scope.checkout is None or scope.checkout.head is None:
            return True
        return scope.checkout.head in _complete(scope.store)

    def _index(self, store: Store, root: Path, progress: Progress | None, stop: Callable[[], bool]) -> IndexReport:
        tips = read_tips(root)
        notes = (shallow_note(len(tips.boundary)),) if tips.boundary else ()
        done = _complete(store)
        hide = [tip for tip, shallow in done.items() if tips.boundary or not shallow]
        if set(tips.commits) <= set(hide):
            return IndexReport(total=store.commits.count(), notes=notes)
        self._forget_boundary(store, tips)
        known = store.commits.known
        total = count_commits(root, tips.commits, hide) if progress else None
        seen = added = 0

        def counted(shas: Sequence[str]) -> set[str]:
            nonlocal seen
            found = known(shas)
            seen += len(found)
            return found

        commits = walk_commits(root, tips.commits, known=counted, rules=TEXT_RULES, hide=hide)
        while batch := list(_batch(commits)):
            with store.write() as tx:
                store.commits.add(tx, batch, redaction=REDACTION_VERSION, terms=TERMS_VERSION)
            added += len(batch)
            if progress:
                progress(seen + added, total)
            if stop():
                return IndexReport(added=added, total=store.commits.count(), complete=False, notes=notes)
        self._note_complete(store, tips, done)
        return IndexReport(added=added, total=store.commits.count(), notes=notes)

    def _forget_boundary(self, store: Store, tips: Tips) -> None:
        """Commits that were read without their parents are read again once the parents are there."""
        before = frozenset[str](json.loads(store.commits.state(_BOUNDARY) or "[]"))
        stale = sorted(before - tips.boundary)
        if before == tips.boundary:
            return
        with store.write() as tx:
            store.commits.remove(tx, stale)
            store.commits.set_state(tx, _BOUNDARY, json.dumps(sorted(tips.boundary)))

    def _note_complete(self, store: Store, tips: Tips, done: Mapping[str, bool]) -> None:
        kept = dict.fromkeys(tips.commits, bool(tips.boundary)) | {
            tip: shallow for tip, shallow in done.items() if tip not in tips.commits
        }
        with store.write() as tx:
            store.commits.set_state(
                tx, _COMPLETE, json.dumps(dict(islice(kept.items(), _KEPT_TIPS + len(tips.commits))))
            )


def shallow_note(edges: int) -> str:
    """What a shallow clone costs, in one sentence."""
    where = "one commit" if edges == 1 else f"{edges} commits"
    return (
        f"this is a shallow clone: history ends at {where} whose changes are unknown, so older versions and their"
        " reasons are missing; `git fetch --unshallow` brings them, and the next start indexes them"
    )


def commit_fields(commit: Commit) -> dict[str, list[str]]:
    """The terms a commit is found by: its message, the names of what it touched, the identifiers it changed."""
    paths = dict.fromkeys(
        path for change in commit.changes[:_NAMED_PATHS] for path in (change.path, change.old_path) if path
    )
    headings = dict.fromkeys(islice(_headings(commit.patch), _HEADINGS))
    return {
        "message": index_terms(commit.message),
        "name": name_terms(*paths, *headings),
        "changed": changed_terms(commit.patch),
    }


def _headings(patch: str) -> Iterator[str]:
    """The lines by which a difference says in which function or class it is."""
    position = patch.find("\n@@ ")
    while position >= 0:
        end = patch.find("\n", position + 1)
        _, _, heading = patch[position + 4 : end if end >= 0 else len(patch)].partition(" @@ ")
        if heading:
            yield heading.strip()
        position = patch.find("\n@@ ", position + 1)


def _batch(commits: Iterator[Commit]) -> Iterator[tuple[Commit, dict[str, list[str]]]]:
    """The next commits: as many as may be stored in one short transaction."""
    deadline = time.monotonic() + BATCH_S
    for commit in islice(commits, BATCH_COMMITS):
        yield commit, commit_fields(commit)
        if time.monotonic() > deadline:
            return


def _complete(store: Store) -> dict[str, bool]:
    """The tips whose whole ancestry is indexed, and whether a shallow clone said so."""
    return json.loads(store.commits.state(_COMPLETE) or "{}")
