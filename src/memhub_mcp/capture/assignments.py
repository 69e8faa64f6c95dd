"""Secrets that are recognised by their name: `DB_PASSWORD=…`, `"client_secret": "…"`, `--token …`, `;Pwd=…;`.

A name counts when it *ends* in a word for a secret (`AUTH_TOKEN_HEADER` and `max_tokens` do not). What follows is
judged by how it is written: a quoted literal, an environment line and a query parameter are values; a bare word in
code is an expression. Standard library only: the hook path imports this.
"""

import re

from memhub_mcp.capture.secret_values import is_secret_key, is_secret_password

STEMS = ("passw", "passphrase", "pwd", "secret", "credential", "token", "key", "_auth", '"auth"')
"""One of these is in every name that counts, in lower case."""

MARKER = "[redacted:assigned]"

# Every alternative begins with a literal: the search skips to the next possible first letter.
_STEM = re.compile(
    r"passw(?:or)?d|passphrase|passwort|pwd|secret|private[_-]?key|token|credential|api[_-]?key|access[_-]?key"
    r"|account[_-]?key|auth[_-]?key|signing[_-]?key|encryption[_-]?key|master[_-]?key|license[_-]?key|_auth|\"auth(?=\")"
)
_STRONG = ("pass", "pwd", "secret", "private")
_TAIL = re.compile(
    r"s?(?:[_-]?(?:access[_-]?key|key|token|value|base64|b64|hex|raw|prod|production|dev|staging|stage|test|live|old|new"
    r"|primary|secondary|\d{1,3}))?(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
# A closing quote or bracket, then `=`, `:`, `=>`, `:=`, a comparison, a type and `=`, or the comma between arguments.
_SEPARATOR = re.compile(
    r"(?P<closing>\\{0,3}[\"'`]?[\])]?)(?P<before>[ \t]{0,8})"
    r"(?P<sign>:[ \t]{0,4}[A-Za-z_&][\w&'<>\[\]|?. ]{0,40}?=(?![=>])|=>|:=|={1,3}|!={1,2}|:|,)(?P<after>[ \t]{0,8})"
)
_QUOTED = re.compile(
    r"[bBrRuU@]?(?:(?P<escaped>\\{1,3}[\"'])(?P<in_escaped>[^\s\\\"']{1,512})(?P=escaped)"
    r"|(?P<quote>[\"'`])(?P<inside>(?:(?!(?P=quote))[^\\\s]|\\\S){1,512})(?P=quote))"
)
_QUOTED_WORDS = re.compile(r"([\"'])(?P<inside>(?:(?!\1)[^\\\r\v\f\x1c-\x1e\x85\u2028\u2029]){1,512})\1\s{0,8}$")
_BARE = re.compile(r"(?P<inside>[^\s\"'`<>;&|,()\[\]{}\\]{1,512})(?![(\[{])")
_BARE_LINE = re.compile(r"(?P<inside>[^\s\"'`]{1,512})(?=\s{0,8}(?:#.{0,200})?$)")
_ELEMENT = re.compile(r"(?P<inside>[^<>\s]{3,512})</")
_LINE_START = re.compile(r"[+\- >]?[ \t]{0,80}(?:(?:export|setx?|ENV|ARG|SET)[ \t]{1,4}|-[ \t]{1,4}|#[ \t]{0,2})?$")

_NAME_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
_NAME_LIMIT = 64


def redact_named(line: str, lowered: str) -> str:
    """`line` with the values of secret-looking names replaced. `lowered` is the line in lower case, same length."""
    kept: list[str] = []
    position = 0
    for stem in _STEM.finditer(lowered):
        if stem.start() < position:
            continue
        span = _value_span(line, stem)
        if span is not None:
            kept += (line[position : span[0]], MARKER)
            position = span[1]
    if not kept:
        return line
    kept.append(line[position:])
    return "".join(kept)


def _value_span(line: str, stem: re.Match[str]) -> tuple[int, int] | None:
    """Where the secret stands that `stem` names, if one does."""
    tail = _TAIL.match(line, stem.end())
    if tail is None:
        return None
    strong = stem[0].startswith(_STRONG)
    if line.startswith(">", tail.end()):
        element = _ELEMENT.match(line, tail.end() + 1)
        secret = element is not None and _is_secret(element["inside"], strong, quoted=True)
        return element.span("inside") if element is not None and secret else None
    separator = _SEPARATOR.match(line, tail.end())
    if separator is None:
        return _flag_value(line, stem.start(), tail.end(), strong)
    found = _QUOTED.match(line, separator.end())
    if found is not None:
        group = "inside" if found["quote"] else "in_escaped"
        # ("password", "value") is a call; ["user", "password", "token"] is a list of names.
        listed = separator["sign"] == "," and not separator["closing"]
        secret = not listed and _is_secret(found[group], strong and separator["sign"] != ",", quoted=True)
        return found.span(group) if secret else None
    return _bare_value(line, stem.start(), tail.end(), separator, strong)


def _bare_value(line: str, stem: int, name_end: int, separator: re.Match[str], strong: bool) -> tuple[int, int] | None:
    sign, position = separator["sign"], separator.end()
    if sign not in ("=", ":") or separator["closing"] not in ("", "]"):
        return None
    start = _name_start(line, stem)
    name = line[start:name_end]
    tight = not separator["before"] and not separator["after"]
    before = line[start - 1] if start else ""
    begins_line = _LINE_START.match(line[max(0, start - 100) : start]) is not None
    environment = name.upper() == name and sign == "=" and tight
    if begins_line and environment:
        words = _QUOTED_WORDS.match(line, position)
        if words is not None:
            return words.span("inside") if _is_secret(words["inside"].replace(" ", ""), strong, quoted=True) else None
        value = _BARE_LINE.match(line, position)
        if value is not None:
            return value.span("inside") if _is_secret(value["inside"], strong, quoted=True) else None
    value = _BARE.match(line, position)
    if value is None:
        return None
    if sign == "=" and tight and (environment or name.startswith("--") or before in ("?", "&", ";", ":", '"', "'")):
        loose = environment or before != ";"
        return value.span("inside") if _is_secret(value["inside"], strong, quoted=loose) else None
    header = sign == ":" and "-" in name
    rest = _BARE_LINE.match(line, position) if begins_line else None
    whole = rest is not None and rest.end() == value.end()
    if header or whole or (sign == ":" and separator["after"]):
        return value.span("inside") if _is_secret(value["inside"], strong and whole, quoted=False) else None
    return None


def _flag_value(line: str, stem: int, name_end: int, strong: bool) -> tuple[int, int] | None:
    """The argument after `--password `, and the word after `password ` in a netrc line."""
    value = _BARE.match(line, name_end + 1) if line.startswith((" ", "\t"), name_end) else None
    if value is None:
        return None
    start = _name_start(line, stem)
    is_flag = line.startswith("--", start) and not value["inside"].startswith("-")
    is_netrc = strong and " login " in line[max(0, start - 200) : start]
    if (is_flag or is_netrc) and _is_secret(value["inside"], strong, quoted=True):
        return value.span("inside")
    return None


def _name_start(line: str, stem: int) -> int:
    head = line[max(0, stem - _NAME_LIMIT) : stem]
    return stem - (len(head) - len(head.rstrip(_NAME_CHARACTERS)))


def _is_secret(value: str, strong: bool, *, quoted: bool) -> bool:
    return is_secret_password(value, literal=quoted) if strong else is_secret_key(value, literal=quoted)
