"""The write path: nothing is lost, nothing is invented, a replay changes nothing."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from rapidfuzz import fuzz

from memhub_mcp.capture.redact import REDACTION_VERSION
from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.memory import Draft, Kind, Memory, Status
from memhub_mcp.domain.replies import RememberReply, RememberResult
from memhub_mcp.domain.scope import Caller, Tier
from memhub_mcp.domain.session import SessionFact
from memhub_mcp.errors import Conflict, InvalidInput, ScopeError
from memhub_mcp.retrieval.terms import TERMS_VERSION, query_terms
from memhub_mcp.service.confirming import note_author
from memhub_mcp.service.drafts import content_key, input_hash, read_drafts, read_session, subject_key
from memhub_mcp.service.scope import Scope
from memhub_mcp.service.wording import word_fields
from memhub_mcp.store.connection import Transaction
from memhub_mcp.store.file import Store

MAX_OPERATION_KEY = 200
SIMILAR_RATIO = 86.0  # rapidfuzz token_set_ratio; a report for the author, never a reason to discard
SIMILAR_TERMS = 3  # a near copy shares the rarest words that stand elsewhere at all
SIMILAR_ROWS = 12
SIMILAR_BYTES = 20_000  # longer texts are not compared


@dataclass(frozen=True, slots=True)
class _Placed:
    """A draft with the tier it will have, and its place among the call's memories."""

    position: int
    draft: Draft
    tier: Tier


def remember(
    scope: Scope,
    caller: Caller,
    memories: Sequence[Mapping[str, Any]],
    *,
    session: Mapping[str, Any] | None,
    operation_key: str | None,
    clock: Clock,
) -> RememberReply:
    """Store 1 to 20 memories, and the one fact of the session when it is given.

    Raises:
        InvalidInput: something cannot be stored; nothing was.
        Conflict: `operation_key` was used before with other content.
        ScopeError: a tier was asked for that this place does not have.
    """
    if not memories and session is None:
        raise InvalidInput("nothing to remember; send memories, each with a text, or a session with a task")
    if operation_key is not None and len(operation_key) > MAX_OPERATION_KEY:
        raise InvalidInput(f"operation_key has {len(operation_key):,} characters, the limit is {MAX_OPERATION_KEY}")
    drafts = read_drafts(memories) if memories else []
    fact = read_session(session) if session is not None else None
    placed = [_placed(scope, position, draft) for position, draft in enumerate(drafts)]
    writer = _Writer(scope, caller, clock(), operation_key, input_hash(drafts, fact))
    if fact is not None:
        fact = replace(fact, files=tuple(scope.relative(file) for file in fact.files))

    mine = [item for item in placed if item.tier is Tier.USER]
    theirs = [item for item in placed if item.tier is not Tier.USER]
    outcomes: dict[int, RememberResult] = {}
    if mine:
        outcomes |= writer.store_in(scope.user, mine, None)
    if theirs or fact is not None:
        outcomes |= writer.store_in(scope.store or scope.user, theirs, fact)

    results = [outcomes[position] for position in sorted(outcomes)]
    for item in placed:
        similar = _similar(scope, item, results[item.position])
        if similar:
            results[item.position]["similar_to"] = similar
    reply = RememberReply(results=results, generation=writer.generation, scope=scope.reply())
    notes = [*scope.notes, *writer.notes]
    if scope.store is None and any(draft.tier is None and draft.kind is not Kind.PREFERENCE for draft in drafts):
        notes.append("there is no repository here, so this is kept as yours and follows you everywhere (tier user)")
    if notes:
        reply["notes"] = notes
    return reply


def _placed(scope: Scope, position: int, draft: Draft) -> _Placed:
    tier = _tier(scope, draft)
    if tier is not Tier.USER:  # what follows the person elsewhere keeps its whole path
        draft = replace(draft, files=tuple(scope.relative(file) for file in draft.files))
    return _Placed(position, draft, tier)


def _tier(scope: Scope, draft: Draft) -> Tier:
    if draft.tier is None:
        return scope.default_tier(draft.kind)
    if draft.tier is not Tier.USER and scope.store is None:
        raise ScopeError(
            f"there is no repository here, so nothing can be kept for its {draft.tier}; "
            "leave out tier, or name a repository with workspace"
        )
    if draft.tier is Tier.BRANCH and (scope.checkout is None or scope.checkout.branch is None):
        raise ScopeError("HEAD is on no branch, so there is no branch tier; use tier=workspace")
    return draft.tier


class _Writer:
    """One call's writes: one transaction a store, a receipt in each."""

    def __init__(self, scope: Scope, caller: Caller, now: datetime, operation_key: str | None, digest: bytes) -> None:
        self._scope = scope
        self._caller = caller
        self._now = now
        self._key = operation_key
        self._digest = digest
        self.generation = 0
        self.notes: list[str] = []

    def store_in(self, store: Store, items: Sequence[_Placed], fact: SessionFact | None) -> dict[int, RememberResult]:
        with store.write() as tx:
            receipt = self._earlier_receipt(store, tx)
            if receipt is not None:
                self.generation = receipt["generation"]
                return {int(position): result for position, result in receipt["results"].items()}
            session = self._session(store, tx)
            results: dict[int, RememberResult] = {}
            for item in items:
                results[item.position] = self.store_one(store, tx, item, session)
            if fact is not None:
                self.store_session_fact(store, tx, fact, session, [result["id"] for result in results.values()])
            self.generation = tx.generation
            if self._key is not None:
                kept = {"results": results, "generation": self.generation}
                store.operations.keep(tx, self._key, self._digest, json.dumps(kept), self._now)
        return results

    def _earlier_receipt(self, store: Store, tx: Transaction) -> dict[str, Any] | None:
        found = store.operations.find(tx, self._key) if self._key is not None else None
        if found is None:
            return None
        digest, receipt = found
        if digest != self._digest:
            raise Conflict(f"operation_key {self._key!r} was used with other content; choose a new key")
        if receipt is None:
            raise Conflict(f"what operation_key {self._key!r} stored was forgotten since; nothing was stored again")
        return json.loads(receipt)

    def _session(self, store: Store, tx: Transaction) -> str | None:
        if self._caller.session is None:
            return None
        checkout = self._scope.checkout
        session = store.sessions.ensure(
            tx,
            source=self._caller.source,
            host_session=self._caller.session,
            now=self._now,
            branch=checkout.branch if checkout else None,
            head=checkout.head if checkout else None,
        )
        return session.id

    def store_one(self, store: Store, tx: Transaction, item: _Placed, session: str | None) -> RememberResult:
        draft, tier = item.draft, item.tier
        checkout = self._scope.checkout
        branch = checkout.branch if checkout and tier is Tier.BRANCH else None
        key, subject = content_key(draft), subject_key(draft.subject)
        equal = store.memories.find_equal(key, tier, branch, reader=tx)
        if equal is not None and equal.status is Status.ACTIVE and not equal.is_expired(self._now):
            store.memories.add_source(tx, equal.seq, self._caller.source)
            note_author(store, tx, equal, self._caller, self._now)
            return RememberResult(id=equal.id, status="duplicate_of", other=equal.id)
        older = store.memories.find_subject(subject, tier, branch, reader=tx) if subject else []
        memory = store.memories.add(
            tx,
            draft,
            id=f"m_{secrets.token_hex(6)}",
            tier=tier,
            branch=branch,
            anchor=self._scope.anchor_for_new(tx) if tier is Tier.BRANCH else None,
            commit=checkout.head if checkout else None,
            source=self._caller.source,
            session=session,
            origin_workspace=self._scope.workspace.name if self._scope.workspace else None,
            origin_id=self._scope.workspace.id if self._scope.workspace else None,
            content_key=key,
            subject_key=subject,
            now=self._now,
            redaction=REDACTION_VERSION,
            terms=TERMS_VERSION,
        )
        index_words(store, tx, memory)
        note_author(store, tx, memory, self._caller, self._now)
        for old in older:
            store.memories.set_status(tx, old.seq, Status.SUPERSEDED, self._now)
            store.memories.link(tx, memory.seq, old.seq, "supersedes")
        if older:
            return RememberResult(id=memory.id, status="superseded", other=older[0].id)
        return RememberResult(id=memory.id, status="added")

    def store_session_fact(
        self,
        store: Store,
        tx: Transaction,
        fact: SessionFact,
        session: str | None,
        ids: Sequence[str],
        *,
        drafted: bool = False,
    ) -> None:
        draft = Draft(text=_session_text(fact), kind=Kind.SUMMARY, files=fact.files)
        seq = store.sessions.fact(tx, session) if session is not None else None
        earlier = store.memories.by_seqs([seq], reader=tx).get(seq) if seq is not None else None
        if earlier is not None:
            memory = store.memories.new_version(
                tx,
                earlier,
                draft.text,
                content_key(draft),
                self._caller.source,
                self._now,
                redaction=REDACTION_VERSION,
                terms=TERMS_VERSION,
            )
            index_words(store, tx, memory)
        else:
            tier = Tier.WORKSPACE if store is self._scope.store else Tier.USER
            found = self.store_one(store, tx, _Placed(0, draft, tier), session)
            memory = store.memories.get_many([found["id"]], reader=tx)[found["id"]]
        if session is not None:
            store.sessions.set_fact(tx, session, memory.seq, drafted=drafted)
        linked = store.memories.get_many(list(ids), reader=tx)
        for other in linked.values():
            store.memories.link(tx, other.seq, memory.seq, "session")
        self.notes.append(f"the session is kept as {memory.id}")


def keep_drafted_fact(
    scope: Scope, store: Store, tx: Transaction, fact: SessionFact, *, source: str, session: str, now: datetime
) -> bool:
    """Keep what was captured of a session as its one fact, `session` being our id of it.

    False when there is nothing new in it, it was forgotten, or an assistant told the fact itself.
    """
    key = content_key(Draft(text=_session_text(fact)))
    if store.memories.is_tombstoned(key, reader=tx):
        return False
    seq = store.sessions.fact(tx, session)
    if seq is not None:
        versions = store.memories.versions(seq)
        told = not store.sessions.is_fact_drafted(tx, session)
        if told or any(content_key(Draft(text=version.text)) == key for version in versions):
            return False
    writer = _Writer(scope, Caller(source=source), now, None, b"")
    writer.store_session_fact(store, tx, fact, session, (), drafted=True)
    return True


def keep_excerpt(
    scope: Scope, store: Store, tx: Transaction, draft: Draft, tier: Tier, *, source: str, now: datetime
) -> RememberResult:
    """What came of a memory that a file holds: as `remember` keeps one, an earlier one on its subject superseded."""
    writer = _Writer(scope, Caller(source=source), now, None, b"")
    return writer.store_one(store, tx, _Placed(0, draft, tier), None)


def index_words(store: Store, tx: Transaction, memory: Memory) -> None:
    """Make `memory` findable by its words at once, and queue it for its vectors."""
    store.words.index(tx, memory.seq, word_fields(memory))
    store.vectors.enqueue(tx, memory.seq)


def _session_text(fact: SessionFact) -> str:
    parts = [f"Task: {fact.task}"]
    if fact.approach:
        parts.append(f"Approach: {fact.approach}")
    if fact.outcome:
        parts.append(f"Outcome: {fact.outcome}")
    return "\n".join(parts)


def _similar(scope: Scope, item: _Placed, result: RememberResult) -> list[str]:
    """Ids of active memories that read almost the same, at most three."""
    store = scope.user if item.tier is Tier.USER else scope.store
    text = item.draft.text
    if store is None or result["status"] == "duplicate_of" or len(text) > SIMILAR_BYTES:
        return []
    terms = query_terms(text)
    frequencies = store.words.frequencies(terms)
    shared = sorted((term for term in terms if frequencies.get(term, 0) > 1), key=lambda term: frequencies[term])
    others = store.memories.by_seqs(store.words.holding(shared[:SIMILAR_TERMS], SIMILAR_ROWS))
    known = {result["id"], result.get("other")}
    return [
        memory.id
        for memory in others.values()
        if memory.id not in known
        and (memory.status, memory.tier) == (Status.ACTIVE, item.tier)
        and fuzz.token_set_ratio(text, memory.text[:SIMILAR_BYTES]) >= SIMILAR_RATIO
    ][:3]
