"""Whether a hit bears on the question at all. Nothing relevant is an answer; padding is not.

A hit's strength is its cosine plus .8 of the share of the question's idf that its words carry; one shared word counts
half of that, two count two thirds, for a single word meets by chance. Of prose, half the closeness of tokens is added.
The bars were set for the embedded model on questions whose answer is known (refused: too strict) and on the strongest
hit of questions that have none (answered: too lax):

    text       58 questions in English of the set that ships with memhub         refused 0 %
               the 23 without an answer, and 61 everyday questions               answered 5 %
               100 bench questions on 1,000, 100 and 20 of their memories        refused 0 %
    code       150 docstrings on 500 functions                                   refused 18 %
               38 questions of daily life on the same functions                  answered 3 %
    dialogue   770 questions on their own conversations                          refused 20 %
               each eighth question on the other conversations                   answered 13 %

Words alone carry less far: at .2 text refuses 16 % and answers none.
"""

from collections.abc import Mapping

from memhub_mcp.domain.hit import Evidence
from memhub_mcp.retrieval.forms import Form

BARS: Mapping[Form, float] = {Form.TEXT: 0.46, Form.DIFF: 0.4, Form.CODE: 0.44, Form.DIALOGUE: 0.5}
WORD_BARS: Mapping[Form, float] = {Form.TEXT: 0.2, Form.DIFF: 0.2, Form.CODE: 0.25, Form.DIALOGUE: 0.25}
BARS_WITH_TOKENS: Mapping[Form, float] = {Form.TEXT: 0.63}
WORDS = 0.8
TOKENS = 0.5
WORDS_BY_FAR = 0.45
"""Words that say so much need no meaning to agree."""

LOOKUP_SHARE = 0.6
LOOKUP_COSINE = 0.55


def passes(evidence: Evidence, form: Form, *, lookup: bool) -> bool:
    """Whether the evidence suffices for a text of this form.

    A look-up is answered by what holds the identifier, or most of its parts, or means very nearly the same.
    """
    cosine = evidence.cosine
    if lookup:
        return evidence.share >= LOOKUP_SHARE or (cosine or 0.0) >= LOOKUP_COSINE
    words = word_strength(evidence)
    if cosine is None:
        return words >= WORD_BARS[form]
    if words >= WORDS_BY_FAR:
        return True
    strength = cosine + WORDS * words
    if evidence.tokens is not None and form in BARS_WITH_TOKENS:
        return strength + TOKENS * evidence.tokens >= BARS_WITH_TOKENS[form]
    return strength >= BARS[form]


def word_strength(evidence: Evidence) -> float:
    """The share of the question that words carry, less when few words carry it."""
    return evidence.share * (1.0 - 1.0 / (1 + len(evidence.terms)))
