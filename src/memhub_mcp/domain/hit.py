"""What a question found, and why."""

from dataclasses import dataclass

from memhub_mcp.domain.memory import Memory
from memhub_mcp.domain.revision import Commit


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Why something was found.

    `share` is how much of the question's weight its words carry, 0 to 1; `words` its score over the best
    possible one. `cosine` is the meaning's closeness and `tokens` the mean closeness of the question's tokens,
    None when they were not compared. `matched_key` is the search key that was closest, None when it was the
    text itself. `linked_from` is the id of the hit that a link led from.
    """

    terms: frozenset[str] = frozenset()
    share: float = 0.0
    words: float = 0.0
    cosine: float | None = None
    tokens: float | None = None
    matched_key: str | None = None
    rerank: float | None = None
    linked_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHit:
    """A memory that bears on the question. `workspace` is None for what follows the person."""

    memory: Memory
    workspace: str | None
    score: float
    evidence: Evidence

    @property
    def id(self) -> str:
        """What the full text is asked for by."""
        return self.memory.id

    @property
    def text(self) -> str:
        """What a preview is cut from: an experience shows its solution too."""
        memory = self.memory
        return f"{memory.text}\n→ {memory.solution}" if memory.solution else memory.text


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitHit:
    """A commit that bears on the question, found by words alone."""

    commit: Commit
    workspace: str | None
    score: float
    evidence: Evidence

    @property
    def id(self) -> str:
        """The commit's own."""
        return self.commit.sha

    @property
    def text(self) -> str:
        """What a preview is cut from."""
        return self.commit.message


Hit = MemoryHit | CommitHit


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """Which parts of retrieval took part: `on`, or what they were instead; `why` says the reason in words."""

    dense: str
    rerank: str
    why: str | None = None
