"""The few lines of a long text that show why it was found."""

from collections import deque
from collections.abc import Set

_PLACES = 40  # occurrences of a term that are looked at
_LEAD = 40  # characters shown before the first match
_ELLIPSIS = "…"


def preview(text: str, terms: Set[str], characters: int) -> str:
    """`text` within `characters`; a longer one is cut around the passage that holds most of `terms`."""
    text = text.strip()
    if len(text) <= characters:
        return text
    start = _best_passage(text, terms, characters)
    if start > 0:
        start = _next_word(text, start)
    end = start + characters - len(_ELLIPSIS) * (1 + (start > 0))
    if end >= len(text):
        start, end = _next_word(text, len(text) - characters + len(_ELLIPSIS)), len(text)
    head = _ELLIPSIS if start > 0 else ""
    tail = _ELLIPSIS if end < len(text) else ""
    return f"{head}{text[start:end].strip()}{tail}"


def _best_passage(text: str, terms: Set[str], characters: int) -> int:
    """Where the stretch begins that holds the most different terms; 0 when none is found."""
    lowered = text.lower()
    places = sorted((place, term) for term in terms for place in _occurrences(lowered, term))
    window: deque[tuple[int, str]] = deque()
    best, most = 0, 0
    for place, term in places:
        window.append((place, term))
        while place - window[0][0] > characters - 2 * _LEAD:
            window.popleft()
        held = len({name for _, name in window})
        if held > most:
            best, most = window[0][0], held
    return max(best - _LEAD, 0)


def _occurrences(lowered: str, term: str) -> list[int]:
    """Where the word behind a term stands: a stem may end otherwise than the word does (`retri`, retry)."""
    stem = term[:-1] if len(term) > 3 and term.isalpha() and term[-1] == "i" else term
    found: list[int] = []
    place = lowered.find(stem)
    while place >= 0 and len(found) < _PLACES:
        found.append(place)
        place = lowered.find(stem, place + len(stem))
    return found


def _next_word(text: str, start: int) -> int:
    """The beginning of the word after `start`, when one begins soon."""
    for place in range(start, min(start + 20, len(text))):
        if text[place].isspace():
            return place + 1
    return start
