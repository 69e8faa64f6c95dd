"""The word side of a question: BM25 over its best possible score, and the share of the question that is met."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.domain.memory import Filter
from memhub_mcp.retrieval.conversation import WORD_WEIGHTS, Conversation
from memhub_mcp.retrieval.fusion import idf
from memhub_mcp.retrieval.terms import Query
from memhub_mcp.store.words import K1, MAX_TERMS, B, WordRows, Words

UNSEEN = 100
"""Texts that a store is taken to hold besides its own when a word is weighed: in a small one every word is rare."""

SPEAKER = 2.0
"""How much more the turns of a speaker count whom the question names."""


@dataclass(frozen=True, slots=True)
class ByWords:
    """How well a row's words answer: `score` over the best possible one, `share` of the question's weight."""

    score: float
    share: float
    matched: frozenset[str]


NO_WORDS = ByWords(0.0, 0.0, frozenset())


@dataclass(frozen=True, slots=True)
class Terms:
    """A question's terms in one table: those searched for, and what each weighs, unknown ones included."""

    searched: tuple[str, ...]
    idf: Mapping[str, float]
    says: Mapping[str, float]

    @property
    def best(self) -> float:
        """The score that no row exceeds."""
        return sum(self.idf.values()) * (K1 + 1)


def weigh(query: Query, words: Words, without: frozenset[str] = frozenset()) -> Terms:
    """The terms that take part: known ones first, the rarest of them, then those that nobody wrote.

    `without` are terms that do not count unless there is nothing else.
    """
    frequencies = words.frequencies((*query.terms, *query.characters))
    # An identifier that nobody wrote is asked by its parts alone.
    terms = [term for term in query.terms if frequencies.get(term) or term not in query.wholes]
    terms = [term for term in terms if term not in without] or terms
    if not any(frequencies.get(term) for term in terms):
        terms = list(query.characters) or terms
    known = sorted((term for term in terms if frequencies.get(term)), key=lambda term: frequencies[term])
    unknown = [term for term in terms if not frequencies.get(term)]
    chosen = [*known, *unknown][:MAX_TERMS]
    total = words.total()
    return Terms(
        searched=tuple(known[:MAX_TERMS]),
        idf={term: idf(frequencies.get(term, 0), total) for term in chosen},
        says={term: idf(frequencies.get(term, 0), total + UNSEEN) for term in chosen},
    )


def match(terms: Terms, words: Words, visible: Filter | None, limit: int) -> WordRows:
    """The rows that hold some of the terms."""
    return words.match(terms.searched, visible, limit)


def score(terms: Terms, rows: WordRows) -> dict[int, ByWords]:
    """Each row by its own words."""
    return _scored(terms, rows, rows.seqs, rows.scores(), rows.tf)


def score_in_conversation(
    terms: Terms, rows: WordRows, talk: Conversation, speakers: Sequence[str]
) -> dict[int, ByWords]:
    """Each row, and each turn beside one, by its own words and, for turns, those said around it.

    The counts of neighbours are added to a turn's own at half weight and less, then saturate together.
    """
    at = {seq: row for row, seq in enumerate(rows.seqs)}
    seqs = [*rows.seqs, *dict.fromkeys(other for seq in rows.seqs for _, other in talk.around(seq) if other not in at)]
    own = np.zeros((len(seqs), len(rows.terms)))
    own[: len(rows.seqs)] = rows.tf
    lengths = np.full(len(seqs), rows.average_length)
    lengths[: len(rows.seqs)] = rows.lengths
    place = {seq: row for row, seq in enumerate(seqs)}
    tf, length, expected = own.copy(), lengths.copy(), np.full(len(seqs), rows.average_length)
    for row, seq in enumerate(seqs):
        if seq in talk.turns:
            expected[row] *= 1 + sum(WORD_WEIGHTS.values())
        for offset, other in talk.around(seq):
            if other in place:
                tf[row] += WORD_WEIGHTS[offset] * own[place[other]]
                length[row] += WORD_WEIGHTS[offset] * lengths[place[other]]
            else:
                length[row] += WORD_WEIGHTS[offset] * rows.average_length
    norm = K1 * (1 - B + B * length / expected)
    scores = (tf / (tf + norm[:, None]) * rows.idf).sum(axis=1) * (K1 + 1)
    scores *= [SPEAKER if talk.said_by(seq, speakers) else 1.0 for seq in seqs]
    return _scored(terms, rows, seqs, scores, own)


def _scored(
    terms: Terms, rows: WordRows, seqs: Sequence[int], scores: NDArray[np.float64], own: NDArray[np.float64]
) -> dict[int, ByWords]:
    best, whole = terms.best or 1.0, sum(terms.says.values()) or 1.0
    says = np.array([terms.says.get(term, 0.0) for term in rows.terms])
    shares = (own > 0) @ says / whole
    return {
        seq: ByWords(
            score=float(scores[row]) / best,
            share=float(shares[row]),
            matched=frozenset(rows.terms[k] for k in np.flatnonzero(own[row])),
        )
        for row, seq in enumerate(seqs)
    }
