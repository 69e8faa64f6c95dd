"""Secrets out of text, before it is hashed, stored or written anywhere.

`redact` is a pure function of its text and REDACTION_VERSION. It keeps the number of lines, puts a constant marker
where a secret stood, and changes nothing in a text that it has already seen. A rule runs only when its literal occurs,
and every quantifier is bounded. Standard library only: the hook path imports this.
"""

import re

from memhub_mcp.capture.assignments import STEMS, redact_named
from memhub_mcp.capture.key_blocks import KEY_BLOCK, redact_key_blocks
from memhub_mcp.capture.key_formats import KEY_FORMATS
from memhub_mcp.capture.logins import redact_authorization, redact_bearer, redact_urls

REDACTION_VERSION = 1
"""Raised whenever a rule changes; stored beside what was redacted."""

_SHORTEST_KEY = 20
_AUTHORIZATION, _BEARER = "authorization", "bearer"
_LINE_STEMS = (*STEMS, _AUTHORIZATION, _BEARER)
_MOST_PASSES = 4


def redact(text: str) -> str:
    """`text` with a marker like `[redacted:github]` in place of each secret, line for line."""
    for _ in range(_MOST_PASSES):
        redacted = _redact_once(text)
        if redacted == text:
            break
        text = redacted
    return text


def _redact_once(text: str) -> str:
    if KEY_BLOCK in text:
        text = redact_key_blocks(text)
    # Every key format is a word of at least twenty characters: the literals are looked for in such words only.
    words = "\n".join([word for word in text.split() if len(word) >= _SHORTEST_KEY])
    if words:
        text = _redact_formats(text, words)
        if "://" in words and "@" in words:
            text = redact_urls(text)
    lowered = _lower(text)
    stems = [stem for stem in _LINE_STEMS if stem in lowered]
    return _redact_lines(text, lowered, stems) if stems else text


def _redact_formats(text: str, words: str) -> str:
    for name, literals, pattern in KEY_FORMATS:
        for literal in literals:
            if literal in words:
                text = re.sub(pattern, f"[redacted:{name}]", text)
                break
    return text


def _redact_lines(text: str, lowered: str, stems: list[str]) -> str:
    """`text` with the lines examined that hold one of `stems`."""
    ends: dict[int, int] = {}
    for stem in stems:
        position = lowered.find(stem)
        while position >= 0:
            end = lowered.find("\n", position)
            end = len(lowered) if end < 0 else end
            ends[lowered.rfind("\n", 0, position) + 1] = end
            position = lowered.find(stem, end)
    kept: list[str] = []
    position = 0
    for start, end in sorted(ends.items()):
        kept += (text[position:start], _redact_line(text[start:end], lowered[start:end]))
        position = end
    kept.append(text[position:])
    return "".join(kept)


def _redact_line(line: str, lowered: str) -> str:
    if _AUTHORIZATION in lowered:
        line = redact_authorization(line)
    if _BEARER in lowered:
        line = redact_bearer(line)
    return redact_named(line, lowered if len(line) == len(lowered) else _lower(line))


def _lower(text: str) -> str:
    """`text` in lower case with every character at its place: only one lower-cases to two."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.replace("\u0130", "I").lower()
