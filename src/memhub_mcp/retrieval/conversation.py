"""Who said what before and after: raw turns are ranked with their neighbours. Other memories have none."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memhub_mcp.domain.session import Turn

REACH = 2

WORD_WEIGHTS: Mapping[int, float] = {-1: 0.5, 1: 0.3, -2: 0.3, 2: 0.2}
"""How much of a neighbour's words, and of its vector, counts for a turn: the one before is mostly the question."""

TOKEN_WEIGHTS: Mapping[int, float] = {-1: 0.9, 1: 0.85, -2: 0.8, 2: 0.75}
"""How much of the closeness of a neighbour's token counts."""

ROLES = frozenset({"user", "assistant", "human", "system", "developer", "tool", "agent", "ai", "model", "bot"})
"""Speakers whose name is a word like others in a question."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns among some memories and those around them."""

    turns: Mapping[int, Turn]
    places: Mapping[tuple[str, int], int]

    @classmethod
    def of(cls, turns: Iterable[Turn]) -> "Conversation":
        """The conversation that `turns` are part of."""
        known = {turn.memory: turn for turn in turns}
        return cls(known, {(turn.session, turn.position): seq for seq, turn in known.items()})

    def around(self, seq: int) -> Iterator[tuple[int, int]]:
        """(offset, row) of the turns around one, as far as they are known."""
        turn = self.turns.get(seq)
        if turn is not None:
            for offset in WORD_WEIGHTS:
                other = self.places.get((turn.session, turn.position + offset))
                if other is not None:
                    yield offset, other

    def said_by(self, seq: int, speakers: Iterable[str]) -> bool:
        """Whether one of `speakers` said it."""
        turn = self.turns.get(seq)
        return turn is not None and turn.speaker in speakers
