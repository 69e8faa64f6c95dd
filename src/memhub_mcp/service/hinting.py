"""What is worth telling an assistant that did not ask, when the person has just said what to do.

Few things are: nothing is better than noise. Everyday requests ("run the tests", "fix the lint errors") share ordinary
words with many memories, so a memory must be met by words that tell something, or by its meaning and such a word.

`memhub-mcp eval hints` measures it: 77 requests that bear on one memory of their project, 184 that bear on none.

    the two projects of the set, 150 and 33 memories     a right hint 74 %   noise 0.0 %   by words alone 61 %   0.0 %
    both among 1,000 bench memories                      a right hint 74 %   noise 1.1 %   by words alone 62 %   1.1 %
"""

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass

from memhub_mcp.capture.markers import escape
from memhub_mcp.capture.said import is_filler, words_of
from memhub_mcp.domain.hit import MemoryHit
from memhub_mcp.domain.scope import Caller
from memhub_mcp.retrieval.packing import PREVIEW_CHARACTERS, estimate_tokens
from memhub_mcp.retrieval.previews import preview
from memhub_mcp.retrieval.terms import index_terms
from memhub_mcp.service.memories import Memories

BUDGET_TOKENS = 340  # with the sentence and the marks around them, hints stay below 400
MOST_HINTS = 3
NEXT_BEST = 0.75  # of the best score; what is further behind only seems to belong

CLOSE, CLOSE_TERMS = 0.52, 2
NEAR, NEAR_SHARE = 0.42, 0.35
NAMED = 0.25
WORDS_SHARE = 0.28
TELLING = 2

_HALF_READ = 1_000  # of a long request, beginning and end
_NAME = re.compile(r"[\w$]+(?:[./_:-]+[\w$]+)+|\b\w*[a-z]\w*[A-Z]\w*\b|\b[A-Z]+-?\d{2,}\b")
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_EVERYDAY = """
    action add again align answer app apply argument async back bad bottom branch break bug build button bump
    call case change check class clean click close code colour column comment commit compile component config
    convert copy correct count crash create data debug default delete dependency diff different document edit
    email empty endpoint error example exception exit explain extract fail feature field file find finish
    first fix folder font form format function generate get git github give handle handler header help hint
    icon image implement import improve increase input install issue item job keep key label last latest
    layout line link lint linter list load local log login long loop make match menu merge message method
    minute missing mock module move name need new next number object open option order output package page
    parameter parse pass patch path performance plan please point print problem product production project
    property pull push put read refactor release remove rename replace report repo request reset resolve
    response result return revert review rewrite row run save schema screen script second send server service
    set short show simple size sort source split start state statement step stop store string style suite
    support system table task test text thing time timeout title token top try turn type undo unit unused
    update upgrade url use user value variable version view wait warning web window word work worker write
    wrong year day hour month week yes
"""
_EVERYDAY_TERMS = frozenset(term for word in _EVERYDAY.split() for term in index_terms(word))


@dataclass(frozen=True, slots=True)
class Hint:
    """A line about one memory, in the version that it tells of."""

    memory: str
    version: int
    line: str


def hints(memories: Memories, caller: Caller, prompt: str, told: Set[tuple[str, int]] = frozenset()) -> list[Hint]:
    """Hints to what surely bears on `prompt`, best first, within the budget; often none.

    `told` are (memory, version) that this session heard of already. What follows the person is only told where it was
    written, or once confirmed.
    """
    said = words_of(prompt)
    if not said or is_filler(said):
        return []
    said = said if len(said) <= 2 * _HALF_READ else f"{said[:_HALF_READ]}\n{said[-_HALF_READ:]}"
    request = _Request.read(said)
    found: list[Hint] = []
    best, room = 0.0, BUDGET_TOKENS
    for hit in memories.bearing(caller, said):
        if len(found) == MOST_HINTS or hit.score < NEXT_BEST * best:
            break
        if not request.is_met_by(hit):
            continue
        best = best or hit.score
        hint = _hint(hit)
        cost = estimate_tokens(hint.line)
        if (hint.memory, hint.version) not in told and cost <= room:
            found.append(hint)
            room -= cost
    return found


@dataclass(frozen=True, slots=True)
class _Request:
    """What a person said, as the gate reads it: names of things in the code, and the terms of each telling word."""

    names: frozenset[str]
    telling: Mapping[str, frozenset[str]]

    @classmethod
    def read(cls, said: str) -> "_Request":
        words = {word for word in said.split() if not _IDEOGRAPH.search(word)}
        terms = {word: frozenset(index_terms(word)) for word in words}
        telling = {word: found for word, found in terms.items() if not found <= _EVERYDAY_TERMS}
        return cls(frozenset(_NAME.findall(said)), telling)

    def is_met_by(self, hit: MemoryHit) -> bool:
        evidence = hit.evidence
        telling = self._telling_words(evidence.terms)
        if telling and any(name in hit.text for name in self.names):
            return evidence.cosine is None or evidence.cosine >= NAMED
        if evidence.cosine is None:
            return telling >= TELLING and evidence.share >= WORDS_SHARE
        if evidence.cosine >= CLOSE:
            return telling > 0 and len(evidence.terms) >= CLOSE_TERMS
        return evidence.cosine >= NEAR and telling >= TELLING and evidence.share >= NEAR_SHARE

    def _telling_words(self, matched: frozenset[str]) -> int:
        """How many telling words were met; of ideographs two pairs make a word."""
        pairs = sum(1 for term in matched if _IDEOGRAPH.search(term))
        words = {terms & matched for terms in self.telling.values()} - {frozenset[str]()}
        return len([terms for terms in words if not terms <= _EVERYDAY_TERMS]) + pairs // 2


def _hint(hit: MemoryHit) -> Hint:
    memory = hit.memory
    text = " ".join(preview(escape(hit.text), hit.evidence.terms, PREVIEW_CHARACTERS).split())
    line = f"- {memory.kind} {memory.id} ({memory.updated_at:%Y-%m-%d}, {memory.source}): {text}"
    return Hint(memory.id, memory.version, line)
