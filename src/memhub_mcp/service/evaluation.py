"""How well recall finds things, measured through the real service on a throw-away data directory.

Each `conv` of a set is a workspace of its own. Rows with a speaker become turns of sessions, the others memories.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pygit2

from memhub_mcp.domain.memory import EVERYTHING
from memhub_mcp.domain.scope import Caller
from memhub_mcp.domain.session import Utterance
from memhub_mcp.errors import ModelError
from memhub_mcp.service.dialogue import add_turns
from memhub_mcp.service.hinting import hints
from memhub_mcp.service.hub import Hub
from memhub_mcp.service.question_sets import Asked, Document, QuestionSet
from memhub_mcp.service.scoring import intervals, measure, percentile, summary
from memhub_mcp.store.file import Store

LIMIT = 20
SOURCE = "eval"
_BATCH = 20
_STALLED_S = 120.0

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one question was answered with, best first, and what that cost."""

    asked: Asked
    ranked: list[str]
    wall_s: float
    cpu_s: float


class Evaluation:
    """A set laid into the hub of a throw-away data directory, and asked."""

    def __init__(self, hub: Hub, questions: QuestionSet, folder: Path, progress: Progress) -> None:
        """Store the whole set below `folder`, vectors included.

        Raises:
            ModelError: the model does not come to embed the set.
        """
        self._hub = hub
        self._set = questions
        self._progress = progress
        self._callers: dict[str, Caller] = {}
        self._documents: dict[str, list[str]] = {}
        for number, (conv, documents) in enumerate(questions.documents.items()):
            self._callers[conv] = self._workspace(folder / f"conv{number}")
            self._store(self._callers[conv], documents)

    def rank(self, limit: int = LIMIT) -> Iterator[Ranking]:
        """Each question that has an answer, ranked with gate, budget and collapse off."""
        asked = [one for one in self._set.questions if one.evidence and one.conv in self._callers]
        for number, one in enumerate(asked):
            wall, cpu = time.perf_counter(), time.process_time()
            ids = self._hub.memories.ranked(self._callers[one.conv], one.text, limit)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            ranked = [document for id_ in ids for document in self.documents(id_)]
            yield Ranking(one, ranked, wall, cpu)
            self._progress("asked", number + 1, len(asked))

    def caller(self, conv: str) -> Caller:
        """Who asks in the workspace of `conv`."""
        return self._callers[conv]

    def documents(self, id: str) -> list[str]:
        """The documents of the set that this memory stands for: equal texts are one memory."""
        return self._documents.get(id, [])

    def refused(self, conv: str, question: str) -> bool:
        """Whether the question gets the answer that nothing is relevant."""
        return self._hub.memories.recall(self._callers[conv], question)["nothing_relevant"]

    def hinted(self, conv: str, request: str) -> list[str]:
        """The documents that a request brings up unasked."""
        found = hints(self._hub.memories, self._callers[conv], request)
        return [document for hint in found for document in self.documents(hint.memory)]

    def _workspace(self, folder: Path) -> Caller:
        pygit2.init_repository(str(folder))
        return Caller(source=SOURCE, cwd=folder)

    def _store(self, caller: Caller, documents: Sequence[Document]) -> None:
        turns = [document for document in documents if document.speaker]
        others = [document for document in documents if not document.speaker]
        for start in range(0, len(others), _BATCH):
            batch = others[start : start + _BATCH]
            reply = self._hub.memories.remember(caller, [_memory(document) for document in batch])
            for document, result in zip(batch, reply["results"], strict=True):
                self._documents.setdefault(result["id"], []).append(document.id)
            self._progress("stored", start + len(batch), len(others))
        store = self._hub.scopes.resolve(caller).store
        assert store is not None
        for session in dict.fromkeys(document.session for document in turns):
            spoken = [document for document in turns if document.session == session]
            ids = add_turns(store, source=SOURCE, host_session=session, said=[self._utterance(one) for one in spoken])
            for document, id_ in zip(spoken, ids, strict=True):
                if id_ is not None:
                    self._documents.setdefault(id_, []).append(document.id)
        self._embed(caller)

    def _embed(self, caller: Caller) -> None:
        scope = self._hub.scopes.resolve(caller)
        total, left, moved_at = sum(map(_left, scope.stores())), -1, time.monotonic()
        while left:
            if self._hub.memories.status(caller)["mode"]["dense"] == "off":
                return
            self._hub.maintenance.run_once(caller)
            before, left = left, sum(map(_left, scope.stores()))
            if left != before:
                moved_at = time.monotonic()
            elif time.monotonic() - moved_at > _STALLED_S:
                raise ModelError("the model embeds nothing; `memhub-mcp doctor` says why")
            self._progress("embedded", max(total - left, 0), total)

    def _utterance(self, document: Document) -> Utterance:
        return Utterance(
            position=document.position,
            speaker=document.speaker,
            text=document.text,
            time=document.time or self._set.now,
            caption=document.caption or None,
        )


def retrieval_report(name: str, rankings: Sequence[Ranking]) -> dict[str, Any]:
    """How right the rankings are: metrics with their 95 % intervals, by category too, and what a question costs."""
    measured = [measure(one.ranked, one.asked.evidence) for one in rankings]
    categories: dict[str, list[dict[str, float]]] = {}
    for one, metrics in zip(rankings, measured, strict=True):
        categories.setdefault(one.asked.category, []).append(metrics)
    return {
        "set": name,
        "questions": len(rankings),
        "metrics": _rounded(summary(measured)),
        "interval95": {metric: [round(low, 4), round(high, 4)] for metric, (low, high) in intervals(measured).items()},
        "by_category": {
            category: {"questions": len(found), **_rounded(summary(found))} for category, found in categories.items()
        },
        "per_query": {
            "p50_ms": round(1e3 * percentile([one.wall_s for one in rankings], 0.5), 1),
            "p95_ms": round(1e3 * percentile([one.wall_s for one in rankings], 0.95), 1),
            "cpu_ms": round(1e3 * sum(one.cpu_s for one in rankings) / max(len(rankings), 1), 1),
        },
    }


def abstain_report(evaluation: Evaluation, questions: QuestionSet) -> dict[str, Any]:
    """How often the gate is right: what has no answer gets none, what has one is not refused."""
    counts: dict[str, dict[str, int]] = {}
    wrong: list[str] = []
    for one in questions.questions:
        answerable = bool(one.evidence)
        refused = evaluation.refused(one.conv, one.text)
        row = counts.setdefault(one.category, {"answerable": 0, "refused": 0, "unanswerable": 0, "answered": 0})
        row["answerable" if answerable else "unanswerable"] += 1
        if answerable and refused:
            row["refused"] += 1
            wrong.append(one.id)
        if not answerable and not refused:
            row["answered"] += 1
            wrong.append(one.id)
    total = {
        name: sum(row[name] for row in counts.values())
        for name in ("answerable", "refused", "unanswerable", "answered")
    }
    return {
        "set": questions.name,
        "answerable": total["answerable"],
        "wrongly_refused": round(total["refused"] / max(total["answerable"], 1), 4),
        "unanswerable": total["unanswerable"],
        "rightly_refused": round(1 - total["answered"] / total["unanswerable"], 4) if total["unanswerable"] else None,
        "by_category": counts,
        "wrong": wrong,
    }


def hints_report(evaluation: Evaluation, requests: QuestionSet) -> dict[str, Any]:
    """How often a request that bears on a memory brings up the right one, and any other request anything at all."""
    bearing = [one for one in requests.questions if one.evidence]
    others = [one for one in requests.questions if not one.evidence]
    told = {one.id: evaluation.hinted(one.conv, one.text) for one in requests.questions}
    right = [one.id for one in bearing if set(told[one.id]) & set(one.evidence)]
    noise = [one.id for one in others if told[one.id]]
    return {
        "set": requests.name,
        "bearing": len(bearing),
        "useful": round(len(right) / max(len(bearing), 1), 4),
        "misleading": [one.id for one in bearing if told[one.id] and one.id not in right],
        "missed": [one.id for one in bearing if not told[one.id]],
        "others": len(others),
        "noise": round(len(noise) / max(len(others), 1), 4),
        "noisy": noise,
    }


def _rounded(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in metrics.items()}


def _memory(document: Document) -> dict[str, Any]:
    memory: dict[str, Any] = {"text": document.text, "kind": document.kind}
    if document.subject:
        memory["subject"] = document.subject
    return memory


def _left(store: Store) -> int:
    space = store.vectors.active_space()
    return store.vectors.pending(space.id) if space is not None else store.memories.count(EVERYTHING)
