"""Private keys in PEM, OpenSSH and PGP armour, also inside diffs, comments and string literals.

Standard library only: the hook path imports this.
"""

import re

KEY_BLOCK = "PRIVATE KEY"

_MARKER = "[redacted:key-block]"
_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_EDGE = re.compile(r"-----(?:BEGIN|(?P<end>END)) ")
_LINE_KEY = re.compile(
    r"(?P<before>[+\-> \t\"'`#*|]{0,80})(?P<key>[A-Za-z0-9+/=]{1,512})(?P<after>[\"'`,;+\\ \t\r]{0,20}|\\[nr].{0,20})$"
)
_RUN = re.compile(r"[A-Za-z0-9+/=]{16,65536}")
_OTHER_LINE_ENDS = re.compile(r"([\r\v\f\x1c-\x1e\x85\u2028\u2029])")
_HEADER = re.compile(r"[+\-> \t\"'`#*|]{0,80}(?:[A-Z][A-Za-z\-]{1,20}: .{0,200})?[\"'`,;+\\nr \t]{0,20}$")


def redact_key_blocks(text: str) -> str:
    """`text` with the body of every private key replaced, line by line; the lines around it stay."""
    kept: list[str] = []
    position = 0
    begin = _BEGIN.search(text)
    while begin is not None:
        edge = _EDGE.search(text, begin.end())
        body_end = edge.start() if edge else len(text)
        kept += (
            text[position : begin.end()],
            _redact_body(text[begin.end() : body_end], edge is not None and edge["end"]),
        )
        position = body_end
        begin = _BEGIN.search(text, position)
    kept.append(text[position:])
    return "".join(kept)


def _redact_body(body: str, closed: object) -> str:
    """Every line of a closed block that is key material; of one that never closes, those up to the first other line."""
    lines = body.split("\n")
    if len(lines) == 1:
        return _on_each_line(body) if closed and _RUN.search(body) else body
    for number, line in enumerate(lines[:-1] if closed else lines):
        material = _LINE_KEY.match(line)
        if material is not None:
            lines[number] = f"{material['before']}{_MARKER}{material['after']}"
        elif _RUN.search(line):
            lines[number] = _RUN.sub(_MARKER, line)
        elif not closed and _MARKER not in line and not _HEADER.match(line):
            break
    return "\n".join(lines)


def _on_each_line(body: str) -> str:
    """The marker in place of what stands between the line ends other than `\\n` that Unicode knows."""
    parts = _OTHER_LINE_ENDS.split(body)
    return "".join(_MARKER if part and number % 2 == 0 else part for number, part in enumerate(parts))
