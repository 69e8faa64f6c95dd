"""Which words a memory is found by."""

from collections.abc import Mapping, Sequence

from memhub_mcp.domain.memory import Memory
from memhub_mcp.domain.session import Turn
from memhub_mcp.retrieval.terms import index_terms


def word_fields(memory: Memory, turn: Turn | None = None) -> Mapping[str, Sequence[str]]:
    """The terms of `memory` by column of the word index: what it says, what it names; of a turn also when it was."""
    said = "\n".join(part for part in (memory.text, memory.solution, memory.environment, *memory.search_keys) if part)
    named = "\n".join(part for part in (memory.subject, *memory.files, *memory.symbols) if part)
    fields = {"body": index_terms(said), "name": index_terms(named)}
    if turn is not None:
        fields["caption"] = index_terms(turn.caption or "")
        fields["time"] = index_terms(f"{turn.time:%B} {turn.time.day} {turn.time.year}")
    return fields
