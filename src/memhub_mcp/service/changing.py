"""New versions, undo and judgements."""

from dataclasses import replace
from datetime import datetime

from memhub_mcp.capture.redact import REDACTION_VERSION, redact
from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.memory import Draft, Feedback, Memory, Status
from memhub_mcp.domain.replies import UpdateReply
from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import Conflict, InvalidInput, NotFound
from memhub_mcp.retrieval.terms import TERMS_VERSION
from memhub_mcp.service.confirming import note_author
from memhub_mcp.service.drafts import check_text, content_key, subject_key
from memhub_mcp.service.remembering import index_words
from memhub_mcp.service.scope import Scope
from memhub_mcp.store.connection import Transaction
from memhub_mcp.store.file import Store


def find_memory(scope: Scope, memory_id: str) -> tuple[Store, Memory]:
    """The store that holds `memory_id`, and the memory.

    Raises:
        NotFound: no memory of that id in the stores of this scope.
    """
    for store in scope.stores():
        memory = store.memories.get(memory_id)
        if memory is not None:
            return store, memory
    raise NotFound(f"no memory {memory_id[:40]!r} here; `memhub-mcp list` or an empty recall shows what is stored")


def update(
    scope: Scope,
    caller: Caller,
    memory_id: str,
    *,
    text: str | None,
    status: str | None,
    feedback: str | None,
    if_version: int | None,
    clock: Clock,
) -> UpdateReply:
    """A new version, a change of status, a judgement: any of the three in one transaction.

    Raises:
        InvalidInput: nothing to change, or a value that does not exist.
        NotFound: no such memory here.
        Conflict: the memory is no longer at `if_version`.
    """
    new_text = redact(check_text(text, "text")) if text is not None else None
    new_status = _status(status)
    judgement = _feedback(feedback)
    if new_text is None and new_status is None and judgement is None:
        raise InvalidInput("nothing to change; give text, status (active, archived) or feedback")
    store, _ = find_memory(scope, memory_id)
    now = clock()
    with store.write() as tx:
        memory = store.memories.get(memory_id, reader=tx)
        if memory is None:
            raise NotFound(f"memory {memory_id} was forgotten meanwhile; recall again")
        if if_version is not None and memory.version != if_version:
            raise Conflict(f"{memory_id} is at version {memory.version}, not {if_version}; read it again first")
        if new_text is not None and new_text != memory.text:
            draft = Draft(text=new_text, solution=memory.solution, environment=memory.environment)
            memory = store.memories.new_version(
                tx,
                memory,
                new_text,
                content_key(draft),
                caller.source,
                now,
                redaction=REDACTION_VERSION,
                terms=TERMS_VERSION,
            )
            index_words(store, tx, memory)
            note_author(store, tx, memory, caller, now)
        if new_status is not None and new_status is not memory.status:
            if new_status is Status.ACTIVE:
                _retire_successors(store, tx, memory, now)
            store.memories.set_status(tx, memory.seq, new_status, now)
            memory = replace(memory, status=new_status)
        if judgement is not None:
            store.memories.judge(tx, memory.seq, judgement)
        generation = tx.generation
    reply = UpdateReply(
        id=memory.id,
        version=memory.version,
        status=memory.status.value,
        generation=generation,
        scope=scope.reply(),
    )
    if scope.notes:
        reply["notes"] = list(scope.notes)
    return reply


def _retire_successors(store: Store, tx: Transaction, memory: Memory, now: datetime) -> None:
    # Undo of a supersession: one subject has one active memory in its tier and branch.
    subject = subject_key(memory.subject)
    if subject is None:
        return
    for other in store.memories.find_subject(subject, memory.tier, memory.branch, reader=tx):
        if other.seq != memory.seq:
            store.memories.set_status(tx, other.seq, Status.SUPERSEDED, now)
            store.memories.link(tx, memory.seq, other.seq, "supersedes")


def _status(status: str | None) -> Status | None:
    if status is None:
        return None
    if status not in (Status.ACTIVE, Status.ARCHIVED):
        raise InvalidInput(f"status {status[:40]!r} cannot be set; use active or archived")
    return Status(status)


def _feedback(feedback: str | None) -> Feedback | None:
    if feedback is None:
        return None
    if feedback not in tuple(Feedback):
        raise InvalidInput(f"feedback {feedback[:40]!r} does not exist; use {', '.join(Feedback)}")
    return Feedback(feedback)
