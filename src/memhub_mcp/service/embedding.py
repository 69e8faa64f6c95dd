"""What is embedded of a memory."""

from collections.abc import Iterable, Sequence

from memhub_mcp.domain.memory import Filter, Memory
from memhub_mcp.domain.session import Turn
from memhub_mcp.models.protocols import Embedder
from memhub_mcp.retrieval.forms import form_of
from memhub_mcp.retrieval.late import kept_tokens
from memhub_mcp.store.file import Store

FIRST_SEARCH_KEY = 1_000
EVERYTHING = Filter(anchors=None, statuses=frozenset())
MIN_KNOWN_SHARE = 0.5  # below it most of a text is unknown to the model's vocabulary: its vector would mislead


def embed_memories(store: Store, embedder: Embedder, space: int, claimed: Sequence[int]) -> None:
    """Give these memories their vectors in `space`, and take them off its queue.

    Raises:
        ModelError: the model failed; nothing was stored.
    """
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
