"""Words and vectors are made anew from the rows alone: on request, and where the rules changed since.

The work is done in short transactions, so that others write in between. How far it is stands in the store: who comes
next, a command or a server with time, goes on from there. Nothing that is remembered becomes newer by it.
"""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memhub_mcp.capture.redact import REDACTION_VERSION
from memhub_mcp.domain.memory import EVERYTHING
from memhub_mcp.errors import ModelError
from memhub_mcp.models.load import Models
from memhub_mcp.models.protocols import Embedder
from memhub_mcp.retrieval.terms import TERMS_VERSION
from memhub_mcp.service.embedding import LEASE_S
from memhub_mcp.service.renewing import COMPACT, renew_commits, renew_edits, renew_memories
from memhub_mcp.service.serving import BATCH, Serving, embed_batch, embed_queued
from memhub_mcp.store.file import Store
from memhub_mcp.store.vectors import EmbeddingSpaceRow

Progress = Callable[[str, int, int], None]
"""Told what is being made (`memories`, `commits`, `vectors`), how many rows are done, and of how many."""

MEMORIES, COMMITS, VECTORS = "memories", "commits", "vectors"
ROWS_A_BATCH = 50
EDITS_A_BATCH = 10
PAGES_A_MERGE = 250
LOAD_S = 120.0
_LAST = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """How many rows were made anew in one store. `complete` is False when it was stopped before the end.

    `refused` says why no vectors were made.
    """

    memories: int
    commits: int
    vectors: int
    complete: bool
    refused: str | None


class Reindexing:
    """Makes words and vectors anew. Safe to call from several threads."""

    def __init__(self, *, models: Models, serving: Serving) -> None:
        self._models = models
        self._serving = serving
        self._name = secrets.token_hex(4)

    def rebuild(
        self,
        store: Store,
        *,
        words: bool = True,
        vectors: bool = True,
        progress: Progress = lambda what, done, total: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Rebuilt:
        """Make the words of memories and commits, and the vectors of memories, anew from their rows.

        What an interrupted rebuild has done is not done again. While another model fills its space, that is completed.

        Raises:
            StoreError: the store cannot be written.
            ModelError: the model failed; what is done stays.
        """
        made = {MEMORIES: 0, COMMITS: 0, VECTORS: 0}
        row, refused = self._space(store) if vectors else (None, None)
        names = [MEMORIES, COMMITS] if words else []
        if row is not None and row.state != "filling":
            names.append(f"{VECTORS}.{row.id}")
        with store.write() as tx:
            for name in names:
                store.renewal.begin(tx, name)
        complete = all(self._walk(store, name, progress, stop, made) for name in names)
        if complete and row is not None:
            complete = self._drain(store, row, progress, stop, made)
        if complete:
            self._compact(store)
        return Rebuilt(
            memories=made[MEMORIES],
            commits=made[COMMITS],
            vectors=made[VECTORS],
            complete=complete,
            refused=refused,
        )

    def refresh(self, store: Store, deadline: float) -> bool:
        """One round of idle work until `deadline` (time.monotonic()); whether there is more to do.

        Rows made by earlier rules first, then what is left of an interrupted rebuild.

        Raises:
            ModelError: the model failed; what is done stays.
        """
        if store.read_only or not (store.renewal.positions() or self._stale(store)):
            return False
        with store.write() as tx:
            if not store.renewal.take(tx, self._name):
                return False  # another process does it
        while time.monotonic() < deadline:
            if not (self._renew_stale(store) or self._go_on(store, deadline)):
                self._compact(store)
                return False
        return True

    def _space(self, store: Store) -> tuple[EmbeddingSpaceRow | None, str | None]:
        """The space whose vectors are to be made, or why there is none."""
        wanted = self._models.space_wanted()
        if wanted is not None and not self._serving.decide(store):
            return None, None  # nothing is stored yet
        if wanted is None or self._models.embedder.get(LOAD_S) is None:
            return None, self._models.embedder.why() or "the model did not load in time"
        row = store.vectors.find_space(wanted)
        if row is None or row.state == "retired":
            return None, "another process was started with another embedder"
        return row, None

    def _walk(
        self, store: Store, name: str, progress: Progress, stop: Callable[[], bool], made: dict[str, int]
    ) -> bool:
        """Go through the rows there are of one kind, from where it stands; whether the end was reached."""
        what = name.partition(".")[0]
        last, up_to = _rows(store, what)
        done, total = up_to(store.renewal.positions().get(name, 0)), up_to(last)
        while not stop():
            progress(what, min(done, total), total)
            with store.write() as tx:
                store.renewal.take(tx, self._name, by_force=True)
            number = self._step(store, name, time.monotonic() + LOAD_S, last)
            if not number:
                return True
            made[what] += number
            done += number
        return False

    def _drain(
        self, store: Store, row: EmbeddingSpaceRow, progress: Progress, stop: Callable[[], bool], made: dict[str, int]
    ) -> bool:
        """Embed what waits and let a space that is complete serve; whether nothing is left but what came since."""
        total, waiting, done = store.memories.count(EVERYTHING), store.vectors.pending(row.id), 0
        while not stop():
            progress(VECTORS, max(0, total - store.vectors.pending(row.id)), total)
            deadline = time.monotonic() + LOAD_S
            number = embed_queued(store, self._embedder(deadline), row.id, most=BATCH, deadline=deadline)
            done += number
            made[VECTORS] += number
            self._serving.take_over(store, row)
            if not number or done >= waiting:
                return True  # others hold the rest, or make it
        return False

    def _stale(self, store: Store) -> bool:
        rules = REDACTION_VERSION, TERMS_VERSION
        return bool(
            store.renewal.stale_memories(*rules, 1)
            or store.renewal.stale_commits(*rules, 1)
            or store.edits.stale(REDACTION_VERSION, 1)
        )

    def _renew_stale(self, store: Store) -> bool:
        rules = REDACTION_VERSION, TERMS_VERSION
        if memories := store.renewal.stale_memories(*rules, ROWS_A_BATCH):
            renew_memories(store, memories)
        elif commits := store.renewal.stale_commits(*rules, ROWS_A_BATCH):
            renew_commits(store, commits)
        elif edits := store.edits.stale(REDACTION_VERSION, EDITS_A_BATCH):
            renew_edits(store, edits)
        else:
            return False
        return True

    def _go_on(self, store: Store, deadline: float) -> bool:
        """A step of a rebuild that was begun; whether there was one to take now."""
        for name in store.renewal.positions():
            if name == COMPACT or (name.startswith(VECTORS) and not self._may_go_on(store, name, deadline)):
                continue
            if self._step(store, name, deadline):
                return True
        return False

    def _may_go_on(self, store: Store, name: str, deadline: float) -> bool:
        """Whether this process has the model for a rebuild of vectors; one of a space that does not serve ends."""
        active, wanted = store.vectors.active_space(), self._models.space_wanted()
        if active is None or name != f"{VECTORS}.{active.id}":
            with store.write() as tx:
                store.renewal.end(tx, name)
            return False
        if wanted is None or wanted.name != active.name:
            return False
        return self._models.embedder.get(max(0.0, deadline - time.monotonic())) is not None

    def _step(self, store: Store, name: str, deadline: float, last: int = _LAST) -> int:
        """The next rows of a rebuild, up to the row `last`; how many there were, 0 at its end."""
        position = store.renewal.positions().get(name)
        if position is None:
            return 0
        if name == COMMITS:
            seqs = store.renewal.commits_after(position, last, ROWS_A_BATCH)
            done = renew_commits(store, seqs) if seqs else []
        elif name == MEMORIES:
            seqs = store.renewal.memories_after(position, last, ROWS_A_BATCH)
            done = renew_memories(store, seqs) if seqs else []
        else:
            done = store.renewal.memories_after(position, last, BATCH)
            if done:
                self._embed(store, int(name.partition(".")[2]), done, deadline)
        with store.write() as tx:
            if done:
                store.renewal.advance(tx, name, done[-1])
            else:
                store.renewal.end(tx, name)
        if not done:
            _merge(store, name)
        return len(done)

    def _embed(self, store: Store, space: int, seqs: Sequence[int], deadline: float) -> None:
        embedder = self._embedder(deadline)
        with store.write() as tx:
            store.vectors.hold(tx, space, seqs, LEASE_S)
        embed_batch(store, embedder, space, seqs)

    def _embedder(self, deadline: float) -> Embedder:
        door = self._models.embedder
        embedder = door.get(max(0.0, deadline - time.monotonic()))
        if embedder is None:
            raise ModelError(door.why() or "the model left memory and does not come back")
        return embedder

    def _compact(self, store: Store) -> None:
        """Clear the files of what was redacted or erased before, unless a reader keeps that from being done."""
        if COMPACT in store.renewal.positions() and store.compact():
            with store.write() as tx:
                store.renewal.end(tx, COMPACT)


def _rows(store: Store, what: str) -> tuple[int, Callable[[int], int]]:
    """The last row of a kind there is, and what counts the rows up to one."""
    renewal = store.renewal
    return (
        (renewal.last_commit(), renewal.commits_up_to)
        if what == COMMITS
        else (renewal.last_memory(), renewal.memories_up_to)
    )


def _merge(store: Store, name: str) -> None:
    """Make a word index small again after each of its rows was replaced, part by part."""
    words = {MEMORIES: store.words, COMMITS: store.commits.words}.get(name)
    more, begin = words is not None, True
    while more and words is not None:
        with store.write() as tx:
            more = words.merge(tx, PAGES_A_MERGE, begin=begin)
        begin = False
