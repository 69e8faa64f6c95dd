"""Which model serves the vectors of a store, how they are kept complete, and how another model takes its place.

The setting `embedder` says which model is wanted; the process that was started last decides for a store. While the
vectors of another model are made, the former space serves and stays complete; then they change places at once. The
former vectors are kept for a week, so that going back is instant.
"""

import logging
import time
from collections.abc import Iterable, Sequence
from datetime import timedelta

from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.memory import EVERYTHING
from memhub_mcp.domain.replies import SwitchReply
from memhub_mcp.errors import BusyStore, ModelAway, ModelError, StoreError
from memhub_mcp.models.load import EmbedderDoor, Models
from memhub_mcp.models.protocols import Embedder
from memhub_mcp.service.embedding import LEASE_S, embed_memories
from memhub_mcp.store.file import Store
from memhub_mcp.store.vectors import EmbeddingSpaceRow

BATCH = 8  # memories a lease: a killed process leaves at most these to the next one, after LEASE_S
DUE_BEFORE_SEARCH = 32
LONGEST_BEFORE_SEARCH = 20_000  # characters; a longer text is left to idle time
KEPT = timedelta(days=7)
DISCARDED_A_ROUND = 500

log = logging.getLogger(__name__)


class Serving:
    """Keeps the vectors of stores, each space by the model that made it. Safe to call from several threads."""

    def __init__(self, models: Models, clock: Clock) -> None:
        self._models = models
        self._clock = clock
        self._decided: set[str] = set()

    def door_of(self, space: str) -> EmbedderDoor:
        """The door of the model that made the vectors of this space; one that is off, and says why, without it."""
        wanted = self._models.space_wanted()
        if wanted is None:
            return self._models.embedder
        return self._models.embedder_of(space) or EmbedderDoor.without(
            f"the vectors here were made by {space}, which is not at hand;"
            f" words answer until {wanted.model} has read every memory"
        )

    def decide(self, store: Store) -> bool:
        """Let `store` know which model this process wants, once; whether there is anything to embed, and a model."""
        wanted = self._models.space_wanted()
        if wanted is None or store.read_only:
            return False
        chosen = store.vectors.chosen()
        if chosen is None and not store.memories.count(EVERYTHING):
            return False
        if chosen is None or (chosen.name != wanted.name and store.workspace.id not in self._decided):
            with store.write() as tx:
                store.vectors.choose(tx, wanted)
        self._decided.add(store.workspace.id)
        return True

    def prepare(self, stores: Iterable[Store], deadline: float) -> None:
        """Before a search: what was stored last gets its vectors, as far as that is done by `deadline`.

        That is time.monotonic(). What goes wrong here is no concern of the question: it meets the same model, and its
        reply says what is wrong.
        """
        for store in stores:
            try:
                with store.db.impatient():
                    if self.decide(store):
                        self._embed_due(store, deadline)
            except (ModelError, StoreError) as error:
                log.info("embedding: %s", error)

    def work(self, store: Store, *, most: int, deadline: float) -> bool:
        """One round of idle work: vectors that are due, a change of models, old vectors. Whether there is more to do.

        Raises:
            ModelError: a model failed; what was claimed is given back.
        """
        if not self.decide(store):
            return False
        more = False
        for row in self._spaces(store):
            if store.vectors.pending(row.id):
                door = self.door_of(row.name)
                embedder = door.get(max(0.0, deadline - time.monotonic()))
                if embedder is None:
                    more |= door.state() == "loading"
                    continue
                more |= embed_queued(store, embedder, row.id, most=most, deadline=deadline) > 0
            self.take_over(store, row)
        return self._discard(store) or more

    def switch(self, store: Store) -> SwitchReply | None:
        """How far the change to another model is; None when there is none, or others keep the store locked."""
        try:
            with store.db.impatient():
                if not self.decide(store):
                    return None
        except BusyStore:
            return None
        serves, fills = store.vectors.active_space(), store.vectors.chosen()
        if serves is None or fills is None or fills.state != "filling":
            return None
        total = store.memories.count(EVERYTHING)
        reply = SwitchReply(
            store=store.workspace.name,
            serves=serves.name,
            fills=fills.name,
            done=max(0, total - store.vectors.pending(fills.id)),
            of=total,
        )
        why = self.door_of(fills.name).why()
        if why:
            reply["why"] = why
        return reply

    def waiting(self, store: Store) -> int:
        """How many memories wait for the vectors that serve."""
        active = store.vectors.active_space()
        return store.vectors.pending(active.id) if active is not None else store.memories.count(EVERYTHING)

    def _spaces(self, store: Store) -> list[EmbeddingSpaceRow]:
        """The space that serves, and the one that this process is to fill."""
        wanted, active, chosen = self._models.space_wanted(), store.vectors.active_space(), store.vectors.chosen()
        found = [active] if active is not None else []
        if chosen is not None and chosen.state == "filling" and wanted is not None and chosen.name == wanted.name:
            found.append(chosen)
        return found

    def _embed_due(self, store: Store, deadline: float) -> None:
        for row in self._spaces(store):
            door = self.door_of(row.name)
            if store.vectors.pending(row.id) or row.state == "filling":
                embedder = door.get(max(0.0, deadline - time.monotonic()))
                if embedder is not None:
                    most, longest = DUE_BEFORE_SEARCH, LONGEST_BEFORE_SEARCH
                    embed_queued(store, embedder, row.id, most=most, deadline=deadline, longest=longest)
                self.take_over(store, row)
            if door.state() != "off":
                return  # filling another space is for idle time, unless nothing serves meanwhile

    def take_over(self, store: Store, row: EmbeddingSpaceRow) -> None:
        """Let a space that was filling serve once nothing waits for it any more."""
        if row.state == "filling" and not store.vectors.pending(row.id):
            with store.write() as tx:
                store.vectors.take_over(tx, row.id)

    def _discard(self, store: Store) -> bool:
        """Remove some vectors that nobody went back to; whether there may be more."""
        active, chosen = store.vectors.active_space(), store.vectors.chosen()
        if active is None or active != chosen or store.vectors.pending(active.id):
            return False
        before = self._clock() - KEPT
        if not store.vectors.retired(before):
            return False
        with store.write() as tx:
            return store.vectors.discard(tx, DISCARDED_A_ROUND, before) > 0


def embed_queued(
    store: Store, embedder: Embedder, space: int, *, most: int, deadline: float, longest: int | None = None
) -> int:
    """Embed up to `most` queued memories of `store` until `deadline` (time.monotonic); how many were done.

    Raises:
        ModelError: the model failed; what was claimed is given back.
    """
    done = 0
    left: list[int] = []
    try:
        while done < most and time.monotonic() < deadline:
            with store.write() as tx:
                claimed = store.vectors.claim(tx, space, limit=min(BATCH, most - done), lease_s=LEASE_S)
            if not claimed:
                break
            left += claimed
            ready = claimed if longest is None else _up_to(store, claimed, longest)
            embed_batch(store, embedder, space, ready)
            left = [seq for seq in left if seq not in ready]
            done += len(ready)
    finally:
        if left:
            with store.write() as tx:
                store.vectors.release(tx, space, left)
    return done


def _up_to(store: Store, seqs: Sequence[int], longest: int) -> list[int]:
    memories = store.memories.by_seqs(seqs)
    return [seq for seq in seqs if seq not in memories or len(memories[seq].text) <= longest]


def embed_batch(store: Store, embedder: Embedder, space: int, seqs: Sequence[int]) -> None:
    """Embed these; when one of them breaks the model, the others all the same. It stays leased, and is tried again."""
    try:
        embed_memories(store, embedder, space, seqs)
    except ModelAway:
        raise
    except ModelError:
        embedder.embed(["ready?"])  # raises when the model is broken, and not a text
        for seq in seqs:
            try:
                embed_memories(store, embedder, space, [seq])
            except ModelAway:
                raise
            except ModelError as error:
                log.warning("embedding: row %d of %s: %s", seq, store.workspace.name, error)
