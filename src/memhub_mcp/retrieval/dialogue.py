"""What a question expects of a turn: an answer rather than a question, a date for when, a number for how many."""

import re

ASKING = -0.03
ANSWERING = 0.025

_WHEN = re.compile(r"^\s*when\b|\b(?:what|which) (?:date|day|month|year|time)\b|\bhow long\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow (?:many|much|often)\b", re.IGNORECASE)
_WHO = re.compile(r"^\s*who(?:se|m)?\b", re.IGNORECASE)
_DATE = re.compile(
    r"""\b(?:yesterday|today|tonight|tomorrow|last|next|ago|recently|weekend|week|month|year|morning|night
    |(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october
    |november|december|\d{1,4})\b""",
    re.IGNORECASE | re.VERBOSE,
)
_NUMBER = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|once|twice|several|couple|few)\b", re.IGNORECASE
)
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
_READ = 2_000


def hint(question: str, turn: str) -> float:
    """What to add to the score of a turn."""
    turn = turn[:_READ]
    added = ASKING if turn.rstrip().endswith(("?", "？")) else 0.0
    for asks, answers in ((_WHEN, _DATE), (_HOW_MANY, _NUMBER), (_WHO, _NAME)):
        if asks.search(question):
            return added + (ANSWERING if answers.search(turn) else 0.0)
    return added
