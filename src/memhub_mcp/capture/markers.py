"""The fence around text we put into an assistant's context, and its removal from text we read back.

Standard library only: the hook path imports this.
"""

import re

OPENING_MARKER = "<memhub-evidence>"
CLOSING_MARKER = "</memhub-evidence>"

_TAG = re.compile(r"<(?=/?memhub-evidence)", re.IGNORECASE)


def escape(text: str) -> str:
    """`text` with nothing in it that opens or closes the fence."""
    return _TAG.sub("&lt;", text)


def fence(text: str) -> str:
    """`text` as quoted evidence: escaped, between the markers, on lines of its own."""
    return f"{OPENING_MARKER}\n{escape(text)}\n{CLOSING_MARKER}"


def strip_fenced(text: str) -> str:
    """`text` without the blocks that `fence` made, whoever repeated them.

    A block that was cut off before its closing marker goes to the end; a marker inside a sentence is left alone.
    """
    kept: list[str] = []
    position = 0
    while (start := text.find(OPENING_MARKER, position)) >= 0:
        inner = start + len(OPENING_MARKER)
        end = text.find(CLOSING_MARKER, inner)
        if end >= 0:
            kept.append(text[position:start])
            position = end + len(CLOSING_MARKER)
            if text.startswith("\n", position) and (start == 0 or text[start - 1] == "\n"):
                position += 1
        elif text.startswith("\n", inner):
            kept.append(text[position:start])
            return "".join(kept)
        else:
            break
    kept.append(text[position:])
    return "".join(kept)
