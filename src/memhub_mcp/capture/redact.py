"""Secrets out of text, before it is hashed, stored or written anywhere.

`redact` is a pure function of its text and REDACTION_VERSION. It keeps the number of lines, puts a constant marker
where a secret stood, and changes nothing in a text that it has already seen. A rule runs only when its literal occurs,
and every quantifier is bounded. Standard library only: the hook path imports this.
"""

import re

from memhub_mcp.capture.assignments import STEMS, named_values
from memhub_mcp.capture.key_blocks import redact_key_blocks
from memhub_mcp.capture.key_formats import LITERALS, SHORTEST_KEY
from memhub_mcp.capture.logins import (
    authorization_values,
    bearer_values,
    redact_signatures,
    redact_urls,
    redact_user_options,
)

REDACTION_VERSION = 1
"""Raised whenever a rule changes; stored beside what was redacted."""

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
    # Every key format and login is inside a long word: the literals are looked for in such words only.
    words = "\n".join({word for word in text.split() if len(word) >= SHORTEST_KEY})
    if words:
        text = _redact_formats(text, words)
    if "://" in text and "@" in text:
        text = redact_urls(text)
    if "ignature=" in words or "sig=" in words:
        text = redact_signatures(text)
    if " -u " in text or " --user" in text:
        text = redact_user_options(text)
    lowered = _lower(text)
    stems = [stem for stem in STEMS if stem in lowered]
    if "key" in stems:
        text = redact_key_blocks(text)
        lowered = _lower(text)
    return _redact_values(text, lowered, stems)


def _redact_formats(text: str, words: str) -> str:
    for literal in [literal for literal in LITERALS if literal in words]:
        for name, pattern in LITERALS[literal]:
            text = re.sub(pattern, f"[redacted:{name}]", text)
    return text


def _redact_values(text: str, lowered: str, stems: list[str]) -> str:
    """`text` without the values that a name or a header announces."""
    found = [(*span, "assigned") for stem in stems for span in named_values(text, lowered, stem)]
    if "auth" in stems:
        found += [(*span, "header") for span in authorization_values(text, lowered)]
    if "bearer" in lowered:
        found += [(*span, "bearer") for span in bearer_values(text, lowered)]
    if not found:
        return text
    kept: list[str] = []
    position = 0
    for start, end, rule in sorted(found):
        if start >= position:
            kept += (text[position:start], f"[redacted:{rule}]")
        position = max(position, end)
    kept.append(text[position:])
    return "".join(kept)


def _lower(text: str) -> str:
    """`text` in lower case with every character at its place: only one lower-cases to two."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.replace("\u0130", "I").lower()
