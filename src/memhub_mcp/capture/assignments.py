"""Secrets that are recognised by their name: `DB_PASSWORD=…`, `"client_secret": "…"`, `--token …`, `;Pwd=…;`.

A name counts when it *ends* in a word for a secret (`AUTH_TOKEN_HEADER` and `max_tokens` do not). What follows is
judged by how it is written: a quoted literal, an environment line and a query parameter are values; a bare word in
code is an expression. Standard library only: the hook path imports this.
"""

import re
from collections.abc import Iterator

from memhub_mcp.capture.secret_values import is_secret_key, is_secret_password

Span = tuple[int, int]

_TAIL = (
    r"s?(?:[_-]?(?:access[_-]?key|key|token|value|base64|b64|hex|raw|prod|production|dev|staging|stage|test|live|old|new"
    r"|primary|secondary|\d{1,3}))?(?![a-z0-9_])"
)
# Each pattern begins with the literal it is filed under, so that the search skips from one to the next.
_NAME_ENDS = {
    "passw": r"passw(?:or)?[dt]",
    "passphrase": r"passphrase",
    "pwd": r"pwd",
    "secret": r"secret",
    "token": r"token",
    "credential": r"credential",
    "key": r"key",
    "auth": r'auth(?:(?<=_auth)|(?<="auth)(?="))',
}
STEMS = tuple(_NAME_ENDS)
"""One of these is in every name that counts, in lower case."""

_PASSWORDS = ("passw", "passphrase", "pwd", "secret")
_PRIVATE = ("private", "private_", "private-")
_KEY_OWNERS = tuple(
    owner + joint
    for owner in ("private", "api", "access", "account", "auth", "signing", "encryption", "master", "license")
    for joint in ("", "_", "-", " ")
)

# A closing quote or bracket, then `=`, `:`, `=>`, `:=`, a comparison, a type and `=`, or the comma between arguments.
_SEPARATOR = re.compile(
    r"(?P<closing>\\{0,3}[\"'`]?[\])]?)(?:[ \t]{1,4}value)?(?P<before>[ \t]{0,8})"
    r"(?P<sign>:[ \t]{0,4}[A-Za-z_&][\w&'<>\[\]|?. ]{0,40}?=(?![=>])|=>|:=|={1,3}|!={1,2}|:|,)(?P<after>[ \t]{0,8})"
)
_QUOTED = re.compile(
    r"[bBrRuU@]?(?:\"(?P<double>[^\"\\\s]{1,512}(?:\\\S[^\"\\\s]{0,512}){0,16})\""
    r"|'(?P<single>[^'\\\s]{1,512}(?:\\\S[^'\\\s]{0,512}){0,16})'|`(?P<back>[^`\\\s]{1,512})`"
    r"|(?P<escape>\\{1,3}[\"'])(?P<escaped>[^\s\\\"']{1,512})(?P=escape))"
)
_QUOTED_WORDS = re.compile(
    r"([\"'])(?P<inside>(?:(?!\1)[^\\\n\r\v\f\x1c-\x1e\x85\u2028\u2029]){1,512})\1[ \t\r]{0,8}$", re.MULTILINE
)
_BARE = re.compile(r"(?P<inside>[^\s\"'`<>;&|,()\[\]{}\\]{1,512})(?![(\[{])")
_BARE_LINE = re.compile(r"(?P<inside>[^\s\"'`]{1,512})(?=[ \t\r]{0,8}(?:#.{0,200})?$)", re.MULTILINE)
_SPACED = re.compile(
    r"[ \t\n]{1,4}(?P<told>(?:is|was)[ \t]{1,4})?[\"'`]?(?P<inside>[^\s\"'`<>;&|,()\[\]{}\\]{1,512})(?![(\[{])"
)
_ELEMENT = re.compile(r">(?P<inside>[^<>\s]{3,512})</")
_LINE_START = re.compile(r"[+\- >]?[ \t]{0,80}(?:(?:export|setx?|ENV|ARG|SET)[ \t]{1,4}|-[ \t]{1,4}|#[ \t]{0,2})?$")
_SET_BY_SPACE = re.compile(r"[+\- >]?[ \t]{0,80}(?:setx|ENV)[ \t]{1,4}$")
_LOGIN = re.compile(r"machine[ \t\n]{1,8}[^\s]{1,255}[ \t\n]{1,8}login[ \t\n]{1,8}[^\s]{1,64}[ \t\n]{1,8}$")
_CONNECTION = ("host=", "dbname=", "user=", "server=")

_NAME_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
_NAME_LIMIT = 64
_PREFIX_LIMIT = 100


def named_values(text: str, lowered: str, stem: str) -> Iterator[Span]:
    """Where in `text` the secrets stand that a name with `stem` announces, in order."""
    position = 0
    for name in re.finditer(_NAME_ENDS[stem] + _TAIL, lowered):
        if name.start() < position:
            continue
        strong = stem in _PASSWORDS
        if stem == "key":
            owner = lowered[max(0, name.start() - 11) : name.start()]
            if not owner.endswith(_KEY_OWNERS):
                continue
            strong = owner.endswith(_PRIVATE)
        span = _value_span(text, name, strong)
        if span is not None:
            position = span[1]
            yield span


def _value_span(text: str, name: re.Match[str], strong: bool) -> Span | None:
    separator = _SEPARATOR.match(text, name.end())
    if separator is None:
        return _element_value(text, name.end(), strong) or _spaced_value(text, name, strong)
    found = _QUOTED.match(text, separator.end())
    if found is None:
        return _bare_value(text, name, separator, strong)
    group = found.lastgroup or ""
    # ("password", "value") is a call; `password, "name"` is a list.
    argument = separator["sign"] == ","
    listed = argument and not separator["closing"]
    secret = not listed and _is_secret(found[group], strong, literal=not argument)
    return found.span(group) if secret else None


def _bare_value(text: str, name: re.Match[str], separator: re.Match[str], strong: bool) -> Span | None:
    sign, position = separator["sign"], separator.end()
    if sign not in ("=", ":") or separator["closing"] not in ("", "]"):
        return None
    start = _name_start(text, name.start())
    written = text[start : name.end()]
    tight = sign == "=" and not separator["before"] and not separator["after"]
    environment = tight and written.upper() == written
    begins_line = _begins_line(text, start)
    if begins_line and environment:
        value = _QUOTED_WORDS.match(text, position) or _BARE_LINE.match(text, position)
        if value is not None:
            return value.span("inside") if _is_secret(value["inside"].replace(" ", ""), strong, literal=True) else None
    before = text[start - 1] if start else "\n"
    if tight and (environment or written.startswith("--") or before in "?&;:\"'"):
        value = _BARE.match(text, position)
        literal = environment or before != ";"
        secret = value is not None and _is_secret(value["inside"], strong, literal=literal)
    elif tight and before == " " and _is_connection(text, start):
        value = _BARE.match(text, position)
        secret = value is not None and _is_secret(value["inside"], strong, literal=True)
    elif begins_line or (sign == ":" and ("-" in written or separator["after"])):
        value = _BARE.match(text, position)
        rest = _BARE_LINE.match(text, position) if begins_line else None
        whole = value is not None and rest is not None and rest.end() == value.end()
        announced = whole or sign == ":"
        secret = announced and value is not None and _is_secret(value["inside"], strong and whole, literal=False)
    else:
        return None
    return value.span("inside") if value is not None and secret else None


def _element_value(text: str, position: int, strong: bool) -> Span | None:
    """The content of `<password>…</password>`."""
    value = _ELEMENT.match(text, position)
    return value.span("inside") if value is not None and _is_secret(value["inside"], strong, literal=True) else None


def _spaced_value(text: str, name: re.Match[str], strong: bool) -> Span | None:
    """The word after `--password `, `ENV API_KEY `, `login me password `, `the password is `."""
    value = _SPACED.match(text, name.end())
    if value is None or value["inside"].startswith("-"):
        return None
    start = _name_start(text, name.start())
    if value["told"] is not None:
        secret = _is_secret(value["inside"].rstrip(".:!?"), strong, literal=False)
    elif text.startswith("--", start) or (strong and _LOGIN.search(text[max(0, start - 4 * _PREFIX_LIMIT) : start])):
        secret = _is_secret(value["inside"], strong, literal=True)
    else:
        line = text[max(0, start - _PREFIX_LIMIT) : start].rpartition("\n")[2]
        secret = _SET_BY_SPACE.match(line) is not None and _is_secret(value["inside"], strong, literal=True)
    return value.span("inside") if secret else None


def _name_start(text: str, position: int) -> int:
    head = text[max(0, position - _NAME_LIMIT) : position]
    return position - (len(head) - len(head.rstrip(_NAME_CHARACTERS)))


def _begins_line(text: str, start: int) -> bool:
    limit = max(0, start - _PREFIX_LIMIT)
    line_start = text.rfind("\n", limit, start) + 1
    return (line_start > 0 or limit == 0) and _LINE_START.match(text[line_start:start]) is not None


def _is_connection(text: str, start: int) -> bool:
    """Whether the words around are those of a connection: `host=… user=… password=…`."""
    around = text[max(0, start - _PREFIX_LIMIT) : start + _PREFIX_LIMIT].lower()
    return any(word in around for word in _CONNECTION)


def _is_secret(value: str, strong: bool, *, literal: bool) -> bool:
    return is_secret_password(value, literal=literal) if strong else is_secret_key(value, literal=literal)
