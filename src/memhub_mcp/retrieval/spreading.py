"""Many memories of one pattern must not fill an answer: each further one of a family steps back a little.

Two hits are of one family when most of their words are the same, numbers left out, and the question finds no word in
one that the other lacks. Only prose is spread: code and diffs look alike and are not. Nothing is dropped, and what is
clearly better stays ahead.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memhub_mcp.domain.hit import Hit, MemoryHit
from memhub_mcp.retrieval.forms import Form, form_of
from memhub_mcp.retrieval.terms import index_terms

ALIKE = 0.5
"""Shared words over all words of two hits, from which on they are of one family."""

STEP = 0.03
MOST_STEPS = 5
_READ = 400


@dataclass(slots=True)
class _Family:
    words: frozenset[str]
    asked: frozenset[str]
    members: int = 1


def spread(hits: Sequence[Hit]) -> list[Hit]:
    """`hits`, best first, in an order that shows different things early."""
    families: list[_Family] = []
    spread_out: list[Hit] = []
    for hit in hits:
        if not isinstance(hit, MemoryHit) or form_of(hit.memory.kind, hit.memory.text) is not Form.TEXT:
            spread_out.append(hit)
            continue
        words = frozenset(term for term in index_terms(hit.text[:_READ]) if not any(map(str.isdigit, term)))
        family = next((known for known in families if _alike(known, words, hit.evidence.terms)), None)
        if family is None:
            families.append(_Family(words, hit.evidence.terms))
            spread_out.append(hit)
        else:
            spread_out.append(replace(hit, score=hit.score * (1 - STEP * min(family.members, MOST_STEPS))))
            family.members += 1
    return sorted(spread_out, key=lambda hit: -hit.score)


def _alike(family: _Family, words: frozenset[str], asked: frozenset[str]) -> bool:
    return asked <= family.asked and len(family.words & words) >= ALIKE * len(family.words | words) > 0
