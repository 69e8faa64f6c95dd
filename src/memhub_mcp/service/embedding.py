"""Queued memories get their vectors here, in small leased batches."""

import time
from collections.abc import Iterable, Sequence

from memhub_mcp.domain.memory import Filter, Memory
from memhub_mcp.domain.session import Turn
from memhub_mcp.models.protocols import Embedder
from memhub_mcp.retrieval.forms import form_of
from memhub_mcp.retrieval.late import kept_tokens
from memhub_mcp.store.file import Store

BATCH = 8  # memories a lease: a killed process leaves at most these to the next one, after LEASE_S
LEASE_S = 60.0
FIRST_SEARCH_KEY = 1_000
EVERYTHING = Filter(anchors=None, statuses=frozenset())
MIN_KNOWN_SHARE = 0.5  # below it most of a text is unknown to the model's vocabulary: its vector would mislead


def has_queued(store: Store) -> bool:
    """Whether memories of `store` wait for vectors, as far as is known without a model."""
    active = store.vectors.active_space()
    if active is None:
        return store.memories.count(EVERYTHING) > 0
    return store.vectors.pending(active.id) > 0


def embed_queued(store: Store, embedder: Embedder, *, most: int, deadline: float) -> int:
    """Embed up to `most` queued memories of `store` until `deadline` (time.monotonic); how many were done.

    Raises:
        ModelError: the engine failed; the lease runs out and the batch is tried again later.
    """
    done = 0
    while done < most and time.monotonic() < deadline:
        with store.write() as tx:
            space = store.vectors.space_id(tx, embedder.space)
            claimed = store.vectors.claim(tx, space, limit=min(BATCH, most - done), lease_s=LEASE_S)
        if not claimed:
            break
        _embed(store, embedder, space, claimed)
        done += len(claimed)
    _serve_when_filled(store, embedder)
    return done


def _serve_when_filled(store: Store, embedder: Embedder) -> None:
    # A switch of models: the old space serves until the new one holds every memory.
    space = store.vectors.find_space(embedder.space)
    if space is not None and space.state == "filling" and store.vectors.pending(space.id) == 0:
        with store.write() as tx:
            store.vectors.activate(tx, space.id)


def _embed(store: Store, embedder: Embedder, space: int, claimed: Sequence[int]) -> None:
    memories = store.memories.by_seqs(claimed)
    turns = store.sessions.turns_of(claimed)
    pieces = [piece for seq, memory in memories.items() for piece in _pieces(memory, turns.get(seq), embedder)]
    encoding = embedder.encode([text for _, _, text in pieces])
    with store.write() as tx:
        for number, (seq, key, _) in enumerate(pieces):
            store.vectors.put(tx, seq, key, space, encoding.vectors[number])
            if key == 0 and encoding.tokens:
                kept = kept_tokens(encoding.tokens[number], form_of(memories[seq].kind, memories[seq].text))
                if kept is not None:
                    store.token_bits.put(tx, seq, space, kept)
        store.vectors.done(tx, space, claimed)


def _pieces(memory: Memory, turn: Turn | None, embedder: Embedder) -> Iterable[tuple[int, int, str]]:
    """What is embedded of a memory: (seq, key, text). Nothing when the model does not know its language."""
    topic = turn.speaker if turn is not None else memory.subject
    named = f"{topic}: {memory.text}" if topic else memory.text
    text = f"{named}\n{memory.solution}" if memory.solution else named
    if embedder.known_share(text) >= MIN_KNOWN_SHARE:
        for number, piece in enumerate(embedder.split(text)[:FIRST_SEARCH_KEY]):
            yield memory.seq, number, piece
    for number, search_key in enumerate(memory.search_keys, FIRST_SEARCH_KEY):
        if embedder.known_share(search_key) >= MIN_KNOWN_SHARE:
            yield memory.seq, number, search_key
