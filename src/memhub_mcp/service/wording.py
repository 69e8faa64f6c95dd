"""Which words a memory is found by."""

from collections.abc import Mapping, Sequence

from memhub_mcp.domain.memory import Memory
from memhub_mcp.retrieval.terms import index_terms


def word_fields(memory: Memory) -> Mapping[str, Sequence[str]]:
    """The terms of `memory` by column of the word index: what it says, and what it names."""
    said = "\n".join(part for part in (memory.text, memory.solution, memory.environment, *memory.search_keys) if part)
    named = "\n".join(part for part in (memory.subject, *memory.files, *memory.symbols) if part)
    return {"body": index_terms(said), "name": index_terms(named)}
