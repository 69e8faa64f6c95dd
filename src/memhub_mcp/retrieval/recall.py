"""A question becomes ranked hits: words + meaning → fusion → rerank → recency, branch, feedback → gate.

    recall = Recall(embedder=door, reranker=door, clock=clock)
    answer = recall.ask("why sqlite-vec?", [Place(store=store, filter=filter, name="shop", commits=True)])
    page = recall.newest(places, limit=20, cursor=None)          # an empty question
    packed = packing.pack(answer.hits, "why sqlite-vec?", limit=8, budget_tokens=2_000)

Each place is searched for itself; scores mean the same in all of them, so their hits stand in one order. Nothing is
written, nothing is embedded but the question: queued memories are the caller's to embed before.
"""

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.hit import CommitHit, Evidence, Hit, MemoryHit, Mode
from memhub_mcp.domain.memory import Filter
from memhub_mcp.errors import InvalidInput
from memhub_mcp.models.load import EmbedderDoor, RerankerDoor
from memhub_mcp.retrieval.candidates import Asked, commit_hits, memory_hits
from memhub_mcp.retrieval.fusion import Fusion, rank_scores
from memhub_mcp.retrieval.meaning import read_meanings
from memhub_mcp.retrieval.priors import FEW_WORDS, latest_first, prior
from memhub_mcp.retrieval.rerank import rerank
from memhub_mcp.retrieval.spreading import spread
from memhub_mcp.retrieval.terms import parse_query
from memhub_mcp.store.file import Store

MAX_COMMITS = 3
MAX_LINKED = 3
LINKS_FROM = 3  # the best hits, whose links are followed
LINKED = 0.5  # of the score of the hit that a link leads from
DEEPEST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A store a question is put to, and what the asker may see of it.

    `name` is shown with each hit; None for what follows the person. `commits` says whether its commit
    history answers too.
    """

    store: Store
    filter: Filter
    name: str | None = None
    commits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What bears on a question, best first; empty when nothing is relevant."""

    hits: tuple[Hit, ...]
    mode: Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Newest memories first; `cursor` continues, None at the end."""

    hits: tuple[MemoryHit, ...]
    cursor: str | None


class Recall:
    """Finds what is known. Safe to call from several threads."""

    def __init__(
        self,
        *,
        embedder: EmbedderDoor,
        reranker: RerankerDoor,
        clock: Clock,
        embedder_of: Callable[[str], EmbedderDoor] | None = None,
        fusion: Fusion = "score",
    ) -> None:
        """`embedder_of` finds the model of a space by its name; without it `embedder` is asked for all."""
        self._embedder = embedder
        self._embedder_of = embedder_of or self._the_only_one
        self._reranker = reranker
        self._clock = clock
        self._fusion: Fusion = fusion

    def ask(
        self,
        question: str,
        places: Sequence[Place],
        *,
        branch: str | None = None,
        limit: int = DEEPEST,
        wait_s: float = 0.0,
        relevant_only: bool = True,
    ) -> Answer:
        """The hits that bear on `question`, at most `limit`, of them at most three commits.

        `branch` is the branch the asker stands on. A model that is being loaded is waited for up to `wait_s`.
        With `relevant_only=False` the gate stays open, to measure the order alone.
        """
        query = parse_query(question)
        serving = [place.store.vectors.active_space() for place in places]
        meanings = read_meanings(self._embedder, self._embedder_of, question, serving, wait_s)
        found: list[Hit] = []
        for place, meaning in zip(places, meanings, strict=True):
            asked = Asked(question, query, meaning, relevant_only)
            found += memory_hits(asked, place.store, place.filter, place.name)
            if place.commits:
                found += commit_hits(query, place.store, place.filter, place.name, relevant_only=relevant_only)
        if self._fusion == "rrf":
            found = _by_rank(found)
        reranked = rerank(self._reranker, question, _best_first(found))
        now = self._clock()
        found = _best_first(
            replace(hit, score=hit.score * prior(hit.memory, now, branch)) if isinstance(hit, MemoryHit) else hit
            for hit in reranked.hits
        )
        if len(query.terms) <= FEW_WORDS:
            found = _best_first(latest_first(found))
        found = _few_commits(spread(found))[:limit]
        found = _best_first([*found, *_linked(found, places)])[:limit]
        dense = next((meaning.state for meaning in meanings if meaning.state != "on"), "on")
        why = "; ".join(dict.fromkeys(part.why for part in (*meanings, reranked) if part.why))
        return Answer(hits=tuple(found), mode=Mode(dense=dense, rerank=reranked.state, why=why or None))

    def newest(self, places: Sequence[Place], *, limit: int, cursor: str | None = None) -> Page:
        """Memories by the order they were written in; stores are merged by time.

        Raises:
            InvalidInput: the cursor is not one of ours, or not for these stores.
        """
        starts = _read_cursor(cursor, len(places))
        pages = [
            [(n, memory) for memory in place.store.memories.newest(place.filter, before=starts[n], limit=limit + 1)]
            for n, place in enumerate(places)
        ]
        merged = heapq.merge(*pages, key=lambda item: item[1].updated_at, reverse=True)
        taken = list(islice(merged, limit + 1))
        for n, memory in taken[:limit]:
            starts[n] = (memory.generation, memory.seq)
        hits = (
            MemoryHit(memory=memory, workspace=places[n].name, score=0.0, evidence=Evidence())
            for n, memory in taken[:limit]
        )
        return Page(hits=tuple(hits), cursor=_write_cursor(starts) if len(taken) > limit else None)

    def _the_only_one(self, space: str) -> EmbedderDoor:
        return self._embedder


_Start = tuple[int, int] | None


def _by_rank(hits: Sequence[Hit]) -> list[Hit]:
    scores = rank_scores([hit.evidence for hit in hits])
    return [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]


def _best_first(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: -hit.score)


def _few_commits(hits: Sequence[Hit]) -> list[Hit]:
    commits = [hit for hit in hits if isinstance(hit, CommitHit)]
    surplus = {hit.commit.sha for hit in commits[MAX_COMMITS:]}
    return [hit for hit in hits if not isinstance(hit, CommitHit) or hit.commit.sha not in surplus]


def _linked(hits: Sequence[Hit], places: Sequence[Place]) -> list[MemoryHit]:
    """What the best hits are linked with and the asker may see, one hop, at most three."""
    known = {hit.memory.id for hit in hits if isinstance(hit, MemoryHit)}
    best = [hit for hit in hits if isinstance(hit, MemoryHit)][:LINKS_FROM]
    linked: list[MemoryHit] = []
    for place in places:
        origins = {hit.memory.seq: hit for hit in best if hit.workspace == place.name}
        links = place.store.memories.neighbours(list(origins), 4 * MAX_LINKED) if origins else []
        if not links:
            continue
        others = place.store.memories.visible(
            {seq for link in links for seq in (link.from_seq, link.to_seq)}, place.filter
        )
        for link in links:
            near, far = (link.from_seq, link.to_seq) if link.from_seq in origins else (link.to_seq, link.from_seq)
            memory, origin = others.get(far), origins[near]
            if memory is not None and memory.id not in known:
                known.add(memory.id)
                evidence = Evidence(linked_from=origin.memory.id)
                linked.append(
                    MemoryHit(memory=memory, workspace=place.name, score=LINKED * origin.score, evidence=evidence)
                )
    return linked[:MAX_LINKED]


def _read_cursor(cursor: str | None, stores: int) -> list[_Start]:
    """Where each store goes on: `generation.row`, or `-` at its beginning, joined by `_`."""
    if cursor is None:
        return [None] * stores
    try:
        starts = [None if part == "-" else _pair(part) for part in cursor.split("_")]
    except ValueError:
        starts = []
    if len(starts) != stores:
        raise InvalidInput("this cursor does not continue this list; ask again without one")
    return starts


def _pair(part: str) -> tuple[int, int]:
    generation, _, seq = part.partition(".")
    return int(generation), int(seq)


def _write_cursor(starts: Sequence[_Start]) -> str:
    return "_".join("-" if start is None else f"{start[0]}.{start[1]}" for start in starts)
