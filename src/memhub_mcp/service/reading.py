"""The read path: few, right, cheap, honest."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.hit import Hit, MemoryHit
from memhub_mcp.domain.memory import TOLD_UNASKED, Filter, Memory
from memhub_mcp.domain.replies import GetReply, HitReply, MemoryReply, ModeReply, RecallReply
from memhub_mcp.errors import InvalidInput
from memhub_mcp.models.load import Models
from memhub_mcp.retrieval.fusion import Fusion
from memhub_mcp.retrieval.packing import FRAME_TOKENS, MAX_BUDGET_TOKENS, moment, pack
from memhub_mcp.retrieval.recall import DEEPEST, Answer, Place, Recall
from memhub_mcp.service.code_state import CodeState
from memhub_mcp.service.describing import describe
from memhub_mcp.service.drafts import read_kinds, read_moment
from memhub_mcp.service.reflecting import reflection
from memhub_mcp.service.scope import Scope
from memhub_mcp.service.serving import Serving
from memhub_mcp.store.file import Store

EVERY_BRANCH = "*"
EXPIRED = "expired"
DEFAULT_LIMIT = 8
MIN_BUDGET_TOKENS = 200
MAX_QUERY_CHARACTERS = 100_000
WAIT_S = 2.0  # for the model and the vectors that are due, together; beyond it words answer alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a reader asks. An empty query lists, newest first; `branch="*"` looks at every branch."""

    query: str
    limit: int = DEFAULT_LIMIT
    kinds: Sequence[str] = ()
    files: Sequence[str] = ()
    branch: str | None = None
    include_sources: Sequence[str] = ()
    exclude_sources: Sequence[str] = ()
    since: str | datetime | None = None
    until: str | datetime | None = None
    budget_tokens: int | None = None
    cursor: str | None = None


class Reading:
    """Answers questions in a scope."""

    def __init__(
        self,
        *,
        models: Models,
        code: CodeState,
        serving: Serving,
        budget_tokens: int,
        clock: Clock,
        fusion: Fusion = "score",
    ) -> None:
        self._clock = clock
        self._code = code
        self._serving = serving
        self._budget_tokens = budget_tokens
        self._recall = Recall(
            embedder=models.embedder,
            embedder_of=serving.door_of,
            reranker=models.reranker,
            clock=clock,
            fusion=fusion,
        )

    def recall(self, scope: Scope, question: Question) -> RecallReply:
        """The hits that bear on the question, within the budget.

        Raises:
            InvalidInput: a filter that cannot be understood, or a query no one would type.
        """
        if len(question.query) > MAX_QUERY_CHARACTERS:
            raise InvalidInput(f"the query has {len(question.query):,} characters; ask in a few sentences")
        places = self._places(scope, question)
        limit = max(1, min(question.limit, DEEPEST))
        budget = max(MIN_BUDGET_TOKENS, min(question.budget_tokens or self._budget_tokens, MAX_BUDGET_TOKENS))
        if question.query.strip():
            reply = self._answer(scope, question, places, limit, budget)
        else:
            reply = self._page(scope, question, places, limit, budget)
        notes = [*scope.notes, *_unheard_of(scope, question.branch), *reply.get("notes", [])]
        if notes:
            reply["notes"] = notes
        return reply

    def bearing(self, scope: Scope, text: str) -> list[MemoryHit]:
        """The memories that may bear on what a person said to an assistant that did not ask, best first.

        A model that is not in memory is not waited for: the next request has it. Nothing is noted, for whoever hears
        of it did not look for it.
        """
        store = scope.store
        if store is None:
            return []
        seen = Filter(valid_at=self._clock(), undisputed=True, kinds=TOLD_UNASKED)
        here = replace(seen, anchors=scope.anchors(), shadowed=scope.shadowed())
        mine = replace(seen, told_in=store.workspace.id)
        places = (Place(store=store, filter=here, name=store.workspace.name), Place(store=scope.user, filter=mine))
        answer = self._recall.ask(text, places, branch=scope.checkout.branch if scope.checkout else None)
        return [hit for hit in answer.hits if isinstance(hit, MemoryHit)]

    def reflection(self, scope: Scope, about: str | None) -> str:
        """The memories that deserve a second look, as text; those that bear on `about` come first."""
        hits: list[Hit] = []
        if about:
            question = Question(query=about)
            hits += self._ask(scope, question, self._places(scope, question)).hits
        return reflection(scope, self._code, self._clock(), [hit for hit in hits if isinstance(hit, MemoryHit)])

    def ranked(self, scope: Scope, question: Question) -> list[str]:
        """The ids of what is nearest to the question, best first: `recall` without gate, budget and collapse."""
        answer = self._ask(scope, question, self._places(scope, question), relevant_only=False)
        return [hit.id for hit in answer.hits[: question.limit]]

    def _answer(
        self, scope: Scope, question: Question, places: Sequence[Place], limit: int, budget: int
    ) -> RecallReply:
        answer = self._ask(scope, question, places)
        packed = pack(answer.hits, question.query, limit=limit, budget_tokens=budget)
        self._code.decorate(scope, packed.hits, answer.hits, budget_tokens=budget - FRAME_TOKENS - packed.tokens)
        self._note_shown(scope, packed.hits, answer.hits)
        _tell_origin(scope, packed.hits, answer.hits)
        mode = ModeReply(dense=answer.mode.dense, rerank=answer.mode.rerank)
        if answer.mode.why:
            mode["why"] = answer.mode.why
        reply = RecallReply(hits=packed.hits, nothing_relevant=not packed.hits, mode=mode, scope=scope.reply())
        if packed.notes:
            reply["notes"] = list(packed.notes)
        return reply

    def _ask(self, scope: Scope, question: Question, places: Sequence[Place], *, relevant_only: bool = True) -> Answer:
        deadline = time.monotonic() + WAIT_S
        self._serving.prepare((place.store for place in places), deadline)
        return self._recall.ask(
            question.query,
            places,
            branch=scope.checkout.branch if scope.checkout else None,
            wait_s=max(0.0, deadline - time.monotonic()),
            relevant_only=relevant_only,
        )

    def _page(self, scope: Scope, question: Question, places: Sequence[Place], limit: int, budget: int) -> RecallReply:
        page = self._recall.newest(places, limit=limit, cursor=question.cursor)
        packed = pack(page.hits, "", limit=limit, budget_tokens=budget)
        self._code.decorate(scope, packed.hits, page.hits, budget_tokens=0)
        _tell_origin(scope, packed.hits, page.hits)
        now = self._clock()
        expired = {hit.id for hit in page.hits if hit.memory.is_expired(now)}
        for reply in packed.hits:
            if reply["id"] in expired:
                reply["state"] = EXPIRED
        mode = ModeReply(dense="not asked", rerank="not asked")
        reply = RecallReply(hits=packed.hits, nothing_relevant=not packed.hits, mode=mode, scope=scope.reply())
        if page.cursor:
            reply["cursor"] = page.cursor
        return reply

    def get(self, scope: Scope, ids: Sequence[str]) -> GetReply:
        """The memories of `ids` in full with versions, links and what became of their code, in the order asked for.

        Unknown ids are named.
        """
        found: list[MemoryReply] = []
        missing: list[str] = []
        memories: list[Memory] = []
        now = self._clock()
        for memory_id in dict.fromkeys(ids):
            for store in scope.stores():
                memory = store.memories.get(memory_id)
                if memory is not None:
                    found.append(_in_full(store, memory))
                    memories.append(memory)
                    store.uses.note([memory.seq], now)
                    break
            else:
                missing.append(memory_id[:80])
        self._code.complete(scope, found, memories)
        for described, memory in zip(found, memories, strict=True):
            if memory.is_expired(now):
                described["state"] = EXPIRED
        reply = GetReply(memories=found, scope=scope.reply())
        if missing:
            reply["missing"] = missing
        if scope.notes:
            reply["notes"] = list(scope.notes)
        return reply

    def _places(self, scope: Scope, question: Question) -> list[Place]:
        """Where to look. A list shows what has expired, marked as such; a question is not answered by it."""
        narrowed = _narrowed(scope, question, self._clock())
        only_all_commits = narrowed == Filter()
        if question.query.strip():
            narrowed = replace(narrowed, valid_at=self._clock())
        found: list[Place] = []
        if scope.store is not None and scope.workspace is not None:
            anchors = _anchors(scope, scope.store, question.branch)
            shadowed = frozenset[int]() if anchors is None else scope.shadowed()
            seen = replace(narrowed, anchors=anchors, shadowed=shadowed)
            found.append(Place(store=scope.store, filter=seen, name=scope.workspace.name, commits=only_all_commits))
        found.append(Place(store=scope.user, filter=narrowed))
        return found

    def _note_shown(self, scope: Scope, replies: Sequence[HitReply], hits: Sequence[Hit]) -> None:
        """Remember which memories were of use, for what is used counts as fresh."""
        shown = {reply["id"] for reply in replies}
        now = self._clock()
        for hit in hits:
            if isinstance(hit, MemoryHit) and hit.id in shown:
                store = scope.store if hit.workspace is not None else scope.user
                if store is not None:
                    store.uses.note([hit.memory.seq], now)


def _tell_origin(scope: Scope, replies: Sequence[HitReply], hits: Sequence[Hit]) -> None:
    """Say of what follows the person where it was written, when that was not here."""
    here = scope.workspace.id if scope.workspace else None
    elsewhere = {
        hit.id: hit.memory.origin_workspace
        for hit in hits
        if isinstance(hit, MemoryHit) and hit.workspace is None and hit.memory.origin_id != here
    }
    for reply in replies:
        origin = elsewhere.get(reply["id"])
        if origin is not None:
            reply["workspace"] = origin


def _in_full(store: Store, memory: Memory) -> MemoryReply:
    reply = describe(memory)
    confirmation = store.confirmations.of(memory)
    if confirmation is not None:
        reply["confirmed"] = moment(confirmation.at)
    places = store.excerpts.places([memory.seq]).get(memory.seq, ())
    if places:
        reply["places"] = [f"{file}:{line}" for file, line in places]
    earlier = store.memories.versions(memory.seq)[:-1]
    if earlier:
        reply["versions"] = [
            {
                "version": version.version,
                "text": version.text,
                "source": version.source,
                "at": moment(version.created_at),
            }
            for version in earlier
        ]
    links = store.memories.links(memory.seq)
    if links:
        reply["links"] = [
            {"relation": relation if direction == "out" else f"{relation} (from)", "id": other}
            for relation, direction, other in links
        ]
    return reply


def _narrowed(scope: Scope, question: Question, now: datetime) -> Filter:
    return Filter(
        kinds=read_kinds(question.kinds),
        files=tuple(scope.relative(file) for file in question.files),
        include_sources=frozenset(source.strip().lower() for source in question.include_sources),
        exclude_sources=frozenset(source.strip().lower() for source in question.exclude_sources),
        since=read_moment(question.since, "since", now),
        until=read_moment(question.until, "until", now),
    )


def _unheard_of(scope: Scope, branch: str | None) -> list[str]:
    """A note when nothing was ever remembered on the branch that was named."""
    here = scope.checkout.branch if scope.checkout else None
    if branch in (None, EVERY_BRANCH, here) or scope.store is None:
        return []
    if any(anchor.branch == branch for anchor in scope.store.anchors.all()):
        return []
    return [f"nothing was remembered on a branch {branch[:60]!r}; branch='*' looks at every branch"]


def _anchors(scope: Scope, store: Store, branch: str | None) -> frozenset[int] | None:
    """What is seen from here; with a branch's name also all that was said on that branch."""
    seen = scope.anchors()
    if branch is None:
        return seen
    if branch == EVERY_BRANCH:
        return None
    return seen | {anchor.id for anchor in store.anchors.all() if anchor.branch == branch}
