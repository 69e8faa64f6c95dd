"""Raw turns of a conversation become memories of their own kind, each in its place."""

import hashlib
import secrets
from collections.abc import Sequence

from memhub_mcp.capture.redact import REDACTION_VERSION, redact
from memhub_mcp.domain.memory import Draft, Kind
from memhub_mcp.domain.scope import Tier
from memhub_mcp.domain.session import Turn, Utterance
from memhub_mcp.retrieval.terms import TERMS_VERSION
from memhub_mcp.service.wording import word_fields
from memhub_mcp.store.file import Store


def add_turns(store: Store, *, source: str, host_session: str, said: Sequence[Utterance]) -> list[str | None]:
    """The ids of the turns that `said` became, in order; None for one that was there already or was forgotten."""
    added: list[str | None] = []
    with store.write() as tx:
        session = store.sessions.ensure(tx, source, host_session, said[0].time, None, None) if said else None
        for utterance in said:
            assert session is not None
            text = redact(utterance.text)
            key = _content_key(session.id, utterance.position, text)
            if store.memories.is_tombstoned(key, reader=tx):
                added.append(None)
                continue
            memory = store.memories.add(
                tx,
                Draft(text=text, kind=Kind.TURN),
                id=f"m_{secrets.token_hex(6)}",
                tier=Tier.WORKSPACE,
                branch=None,
                anchor=None,
                commit=None,
                source=source,
                session=session.id,
                origin_workspace=store.workspace.name,
                content_key=key,
                subject_key=None,
                now=utterance.time,
                redaction=REDACTION_VERSION,
                terms=TERMS_VERSION,
            )
            turn = Turn(
                memory=memory.seq,
                session=session.id,
                position=utterance.position,
                speaker=utterance.speaker,
                caption=redact(utterance.caption) if utterance.caption else None,
                time=utterance.time,
            )
            if not store.sessions.add_turn(tx, turn):
                store.memories.erase(tx, [memory.seq])
                added.append(None)
                continue
            store.words.index(tx, memory.seq, word_fields(memory, turn))
            store.vectors.enqueue(tx, memory.seq)
            added.append(memory.id)
    return added


def _content_key(session: str, position: int, text: str) -> bytes:
    # "Thanks!" is said more than once: the place is part of what makes a turn itself.
    return hashlib.sha256(f"turn\0{session}\0{position}\0{text}".encode()).digest()
