"""A question about code, from where it is asked, and the chains of what it means."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from memhub_mcp.domain.replies import ChainReply
from memhub_mcp.repo.plain_files import read_inside
from memhub_mcp.retrieval.terms import query_terms
from memhub_mcp.service.blocks import Block, Found, Lines, find_blocks, near_misses, split_place
from memhub_mcp.service.chains import build_chain, file_chain, only_edits
from memhub_mcp.service.edit_versions import MOST_EDITS
from memhub_mcp.service.gone import find_gone
from memhub_mcp.service.tracing import BlockHistory
from memhub_mcp.service.versions import Chain
from memhub_mcp.store.edits import Edits

DEFAULT_LIMIT = 8
DEFAULT_BUDGET_TOKENS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: a place (path, with a symbol or lines), a commit, a memory, or words."""

    path: str | None = None
    symbol: str | None = None
    lines: Lines | None = None
    commit: str | None = None
    memory: str | None = None
    query: str | None = None
    limit: int = DEFAULT_LIMIT
    budget_tokens: int = DEFAULT_BUDGET_TOKENS
    branch: str | None = None

    @property
    def terms(self) -> Set[str]:
        """The words that versions are wanted for."""
        return frozenset(query_terms(self.query)) if self.query else frozenset()


@dataclass(slots=True)
class Answer:
    """A reply under way."""

    chains: list[ChainReply] = field(default_factory=list[ChainReply])
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Seat:
    """From where history is looked at: the working tree counts when `root` is there."""

    history: BlockHistory
    head: str
    root: Path | None
    edits: Edits
    branch: str | None

    def chain(self, block: Block) -> Chain:
        """The chain of a block as it is seen from here."""
        return build_chain(self.history, self.head, block, edits=self.edits, branch=self.branch)


def find_chains(seat: Seat, question: Question, answer: Answer) -> tuple[list[Chain], Question]:
    """The chains of what is meant, also when symbol or line were written behind the path, or it is gone."""
    found, question = _find(seat, question)
    answer.notes += found.notes
    chains = [seat.chain(block) for block in found.blocks]
    if not chains:
        chains = _gone(seat, question, answer) or _from_edits(seat, question) or _opaque(seat, question)
    if not chains and not found.notes:
        path = question.path or ""
        if seat.root is not None and read_inside(seat.root, path) is not None:
            answer.notes.append(f"{path[:200]!r} is not committed yet, and no session is known that edited it")
        else:
            known = seat.history.index.paths() if seat.history.index else []
            answer.notes.append(f"nothing is known of {path[:200]!r}; {did_you_mean(near_misses(path, known))}")
    return chains, question


def _find(seat: Seat, question: Question) -> tuple[Found, Question]:
    """The blocks, also when symbol or line were written behind the path."""
    found = _blocks(seat, question)
    if not found.blocks and not found.notes:
        path, symbol, lines = split_place(question.path or "")
        if path != question.path:
            question = replace(question, path=path, symbol=question.symbol or symbol, lines=question.lines or lines)
            found = _blocks(seat, question)
    return found, question


def _blocks(seat: Seat, question: Question) -> Found:
    path = question.path or ""
    return find_blocks(
        seat.history,
        seat.head,
        seat.root,
        path,
        symbol=question.symbol,
        lines=question.lines,
        untracked=bool(seat.edits.by_path(path, 1)),
    )


def _gone(seat: Seat, question: Question, answer: Answer) -> list[Chain]:
    assert question.path is not None
    gone = find_gone(seat.history, seat.head, question.path, question.symbol)
    if gone.renamed_to is not None:
        answer.notes.append(f"the file is now {gone.renamed_to}")
        moved = replace(question, path=gone.renamed_to)
        found, _ = _find(seat, moved)
        answer.notes += found.notes
        return [seat.chain(block) for block in found.blocks]
    return [gone.chain] if gone.chain else []


def _from_edits(seat: Seat, question: Question) -> list[Chain]:
    """The chains of a file that neither HEAD nor the working tree has: what sessions made of it."""
    path = question.path or ""
    texts = (edit.event.content_after for edit in seat.edits.by_path(path, MOST_EDITS))
    latest = next((text for text in texts if text is not None), None)
    if latest is None:
        return []
    found = find_blocks(
        seat.history,
        seat.head,
        None,
        path,
        symbol=question.symbol,
        lines=question.lines,
        remembered=latest.encode("utf-8", "replace"),
    )
    return [only_edits(build_chain(seat.history, seat.head, block, edits=seat.edits)) for block in found.blocks]


def _opaque(seat: Seat, question: Question) -> list[Chain]:
    """The chain of a file that is there but has no lines to look at."""
    path = question.path or ""
    blob = seat.history.walked.blob(seat.head, path)
    if blob is None or seat.history.contents.lines(blob) is not None:
        return []
    chain = file_chain(seat.history, seat.head, path)
    return [chain] if chain else []


def did_you_mean(names: Sequence[str]) -> str:
    return f"did you mean {', '.join(names)}?" if names else "nothing similar is known either"
