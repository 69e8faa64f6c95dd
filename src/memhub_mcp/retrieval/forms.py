"""What a text looks like: dialogue, code, a diff or prose. Each is ranked with weights of its own."""

import re
from enum import StrEnum

from memhub_mcp.domain.memory import Kind


class Form(StrEnum):
    """How a text is ranked."""

    DIALOGUE = "dialogue"
    CODE = "code"
    DIFF = "diff"
    TEXT = "text"


_HEAD = 4_000
_LINE = 400
_DIFF = re.compile(r"^(?:diff --git |index [0-9a-f]{7}|--- \S|\+\+\+ \S|@@ -\d)", re.MULTILINE)
_BEFORE_DEFINITION = ("@", "#", "//", "/*", "*", "[")
_MODIFIERS = frozenset(
    {"export", "default", "public", "private", "protected", "static", "final", "abstract", "async", "pub", "unsafe"}
)
_DEFINITION = re.compile(
    r"""(?:def|func|fn|function\*?)\s+[\w.$]+\s*[(<\[]
      | func\s+\([^()\n]{1,100}\)\s*\w+\(
      | (?:class|interface|struct|impl|trait|enum|module|namespace)\s+[\w.$:<>]+\s*
            (?:\([^()\n]{0,200}\)\s*)?(?:[:{]|extends|implements|for\b)
      | (?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:function\b|\()
      | \w+\s+\w+\s*\([^()\n]{0,200}\)\s*\{""",
    re.VERBOSE,
)
_CODE_LINE = re.compile(
    r"""(?:
        import\s+[\w.{*"'] | from\s+[\w.]+\s+import\b | @\w[\w.]*(?:\(|$) | return\b | raise\s+\w | yield\b
      | \#include\b
      | (?:if|for|while|elif|else|try|except|with|switch|catch)\b.*[:{]$ | (?:const|let|var|int|void)\s+\w
      | [\w.\[\]'"]+\s*[-+*/|&]?=\s*\S | [\w.]+\(.*\);?$ | [})\]]+[;,]?$ | .*[;{]$
    )""",
    re.VERBOSE,
)


def form_of(kind: Kind, text: str) -> Form:
    """The form of a memory: a turn is dialogue; code begins with a definition, or half of its lines read as code."""
    if kind is Kind.TURN:
        return Form.DIALOGUE
    head = text[:_HEAD]
    if _DIFF.search(head):
        return Form.DIFF
    lines = [line.strip() for line in head.splitlines() if line.strip()]
    first = next((line for line in lines if not line.startswith(_BEFORE_DEFINITION)), "")
    if _DEFINITION.match(_without_modifiers(first)):
        return Form.CODE
    if len(lines) < 2:
        return Form.TEXT
    code = sum(_CODE_LINE.match(line[:_LINE]) is not None for line in lines)
    return Form.CODE if 2 * code >= len(lines) else Form.TEXT


def _without_modifiers(line: str) -> str:
    word, _, rest = line[:_LINE].partition(" ")
    while word.partition("(")[0] in _MODIFIERS and rest:
        word, _, rest = rest.lstrip().partition(" ")
    return f"{word} {rest}"
