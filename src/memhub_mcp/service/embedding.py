"""What is embedded of a memory, and how it gets its vectors."""

from collections.abc import Iterable, Sequence

from memhub_mcp.domain.memory import Memory
from memhub_mcp.domain.session import Turn
from memhub_mcp.models.protocols import Embedder
from memhub_mcp.retrieval.candidates import FIRST_SEARCH_KEY
from memhub_mcp.retrieval.forms import form_of
from memhub_mcp.retrieval.late import kept_tokens
from memhub_mcp.retrieval.meaning import MIN_KNOWN_SHARE
from memhub_mcp.store.file import Store

LEASE_S = 60.0
PIECES_A_LEASE = 100  # of one memory: the largest text has a thousand, which take a large model minutes

_Piece = tuple[int, int, str]


def embed_memories(store: Store, embedder: Embedder, space: int, seqs: Sequence[int]) -> None:
    """Give these memories their vectors in `space`, and take them off its queue.

    One that was changed meanwhile keeps its place in the queue.

    Raises:
        ModelError: the model failed; nothing was stored.
    """
    memories = store.memories.by_seqs(seqs)
    turns = store.sessions.turns_of(seqs)
    pieces = [piece for seq, memory in memories.items() for piece in _pieces(memory, turns.get(seq), embedder)]
    beginnings = [piece for piece in pieces if piece[1] == 0]
    others = [piece for piece in pieces if piece[1] > 0]
    encoding = embedder.encode([text for _, _, text in beginnings])
    vectors = [*encoding.vectors]
    for start in range(0, len(others), PIECES_A_LEASE):
        if start:
            with store.write() as tx:
                store.vectors.hold(tx, space, seqs, LEASE_S)
        vectors += [*embedder.embed([text for _, _, text in others[start : start + PIECES_A_LEASE]])]
    with store.write() as tx:
        now = store.memories.by_seqs(seqs, reader=tx)
        changed = {seq for seq, memory in memories.items() if seq not in now or _said(now[seq]) != _said(memory)}
        ready = [seq for seq in seqs if seq not in changed]
        store.vectors.forget(tx, space, ready)
        for (seq, key, _), vector in zip([*beginnings, *others], vectors, strict=True):
            if seq not in changed:
                store.vectors.put(tx, seq, key, space, vector)
        for (seq, _, _), tokens in zip(beginnings, encoding.tokens, strict=bool(encoding.tokens)):
            kept = kept_tokens(tokens, form_of(memories[seq].kind, memories[seq].text))
            if kept is not None and seq not in changed:
                store.token_bits.put(tx, seq, space, kept)
        store.vectors.done(tx, space, ready)


def _said(memory: Memory) -> tuple[object, ...]:
    """What the vectors of a memory are made of."""
    return memory.subject, memory.text, memory.solution, memory.search_keys


def _pieces(memory: Memory, turn: Turn | None, embedder: Embedder) -> Iterable[_Piece]:
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
