"""Whether the value of a secret-looking name is a secret, or a placeholder, a label, a path, an expression.

Standard library only: the hook path imports this.
"""

import re

_TEMPLATE = re.compile(
    r"\$\{|\$\(|\{\{|\}\}|<%|#\{|%\(|%[sdrvq](?![A-Za-z0-9])|\{\w{0,40}\}"
    r"|\$[A-Za-z_]\w{0,64}$|\$\d$|%\w{1,64}%$|<[^>]{0,64}>$|\[[^\]]{0,64}\]$|\.{3}"
)
_PATH = re.compile(r"(?:[.~]{0,2}/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.\-]{1,20}://)")
_DOTTED = re.compile(r"[A-Za-z_$][\w$]{0,64}(?:(?:\.|->|::)[A-Za-z_$][\w$]{0,64}){1,8}$")
_IDENTIFIER = re.compile(r"[A-Za-z_$]{1,64}\d{0,2}$")
_LOWER_WORDS = re.compile(r"[a-z]{1,32}(?:[._:/\-][a-z]{1,32}){1,16}$")
_CAMEL_WORDS = re.compile(r"[A-Za-z]?[a-z]{1,32}(?:[._\-]?[A-Z][a-z]{1,32}){1,8}$")
_UPPER_WORDS = re.compile(r"[A-Z]{1,32}(?:[._\-][A-Z]{1,32}){1,8}$")
_STEM = re.compile(r"passw|secret|token|key|credential|auth", re.IGNORECASE)
_LABEL_WORDS = re.compile(
    "access|account|api|auth(?:orization)?|basic|bearer|bcrypt|change|client|confirm(?:ation)?|cookie|credentials?|"
    "csrf|current|default|dummy|empty|enter|env|example|fake|false|field|file|foo|bar|form|github|gitlab|grant|hash|"
    "header|here|hidden|id|input|insert|invalid|key|label|login|me|missing|my|name|new|nil|none|null|oauth|old|"
    "optional|pass(?:word|wd|phrase|wort)?|path|placeholder|plain|private|public|put|refresh|removed?|repeat|replace|"
    "required|reset|sample|secret|session|some|string|test|text|the|this|todo|token|true|type|undefined|user|username|"
    "value|var|web|wrong|xsrf|your|x"
)
_VERSION = re.compile(r"[\^~<>=v]{1,3}\d{1,6}(?:\.\w{1,6}){0,4}$|\d{1,6}(?:\.\w{1,6}){2,4}$")
_NUMBER = re.compile(r"[\d.,:_+\-]{1,64}$")


def is_template(value: str) -> bool:
    """Whether `value` stands for something filled in later: `${TOKEN}`, `<token>`, `%s`, `[token]`."""
    return _TEMPLATE.search(value) is not None


def is_secret_password(value: str, *, literal: bool) -> bool:
    """Whether `value` may be a password. `literal`: the writing says that it is a value, not an expression."""
    if len(value) < 3 or _is_placeholder(value):
        return False
    if literal:
        if value.isalpha():
            return len(value) >= 6
        return not (_LOWER_WORDS.match(value) and _STEM.search(value)) and not _UPPER_WORDS.match(value)
    return _DOTTED.match(value) is None and not _is_variable(value)


def is_secret_key(value: str, *, literal: bool) -> bool:
    """Whether `value` may be a key or token: long enough, and not made like a word."""
    if len(value) < 8 or _is_placeholder(value):
        return False
    if _DOTTED.match(value) or _LOWER_WORDS.match(value) or _CAMEL_WORDS.match(value) or _UPPER_WORDS.match(value):
        return False
    if not any(map(str.isdigit, value)):
        return len(value) >= 20 and not value.islower() and not value.isupper() and value.isascii()
    if _NUMBER.match(value) or _IDENTIFIER.match(value):
        return False
    return literal or len(value) >= 12


def _is_variable(value: str) -> bool:
    """Whether a bare word reads as code: no digit in it, or little besides label words (`token2`, `newPassword1`)."""
    if not any(map(str.isdigit, value)):
        return True
    rest = _LABEL_WORDS.sub("", value.lower())
    return _IDENTIFIER.match(value) is not None and sum(map(str.isalpha, rest)) < 4


def _is_placeholder(value: str) -> bool:
    if len(set(value)) < 3 or is_template(value) or _PATH.match(value) or _VERSION.match(value):
        return True
    rest = _LABEL_WORDS.sub("", value.lower())
    return not any(map(str.isalnum, rest))
