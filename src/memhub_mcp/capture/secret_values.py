"""Whether the value of a secret-looking name is a secret, or a placeholder, a label, a path, an expression.

Standard library only: the hook path imports this.
"""

import re

_TEMPLATE = re.compile(
    r"\$\{|\$\(|\{\{|\}\}|<%|#\{|%\(\w{1,64}\)|\{\w{0,40}\}|\.{3}|\A(?:[\W_]{0,8}%[sdrvq]){1,4}[\W_]{0,8}\Z"
    r"|\A(?:\$[A-Za-z_]\w{0,64}|\$\d|%\w{1,64}%|<[^>]{0,64}>|\[[^\]]{0,64}\])\Z"
)
_PATH_OR_VERSION = re.compile(
    r"[.~]{0,2}/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.\-]{1,20}://"
    r"|[\^~<>=v]{1,3}\d{1,6}(?:\.\w{1,6}){0,4}$|\d{1,6}(?:\.\w{1,6}){2,4}$"
)
_DOTTED = re.compile(r"[A-Za-z_$][\w$]{0,64}(?:(?:\.|->|::)[A-Za-z_$][\w$]{0,64}){1,8}$")
_VARIABLE = re.compile(r"[A-Za-z_$]{1,64}\d{0,2}$")
_LOWER_WORDS = re.compile(r"[a-z]{1,32}(?:[._:/\-][a-z]{1,32}){1,16}$")
_WORDS = re.compile(
    r"[a-z]{1,32}(?:[._:/\-][a-z]{1,32}){1,16}$|[A-Z]{1,32}(?:[._\-][A-Z]{1,32}){1,8}$"
    r"|[A-Za-z]?[a-z]{1,32}(?:[._\-]?[A-Z][a-z]{1,32}){1,8}$"
)
_NUMBER_OR_VARIABLE = re.compile(r"(?:[\d.,:_+\-]{1,64}|[A-Za-z_$]{1,64}\d{0,2})$")
_STEM = re.compile(r"passw|secret|token|key|credential|auth")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]{1,128}")
_DIGIT = re.compile(r"\d")
_LABEL_WORDS = re.compile(
    "access|account|api|auth(?:orization)?|basic|bearer|bcrypt|change|client|confirm(?:ation)?|cookie|credentials?|"
    "csrf|current|default|dummy|empty|enter|env|example|fake|false|field|file|foo|bar|form|github|gitlab|grant|hash|"
    "header|here|hidden|id|input|insert|invalid|key|label|login|me|missing|my|name|new|nil|none|null|oauth|old|"
    "optional|pass(?:word|wd|phrase|wort)?|path|placeholder|plain|private|public|put|refresh|removed?|repeat|replace|"
    "required|reset|sample|secret|session|some|string|test|text|the|this|todo|token|true|type|undefined|user|username|"
    "value|var|web|wrong|xsrf|your|x"
)
_DIGITS = "0123456789"
_LONGEST_PLACEHOLDER = 128


def is_template(value: str) -> bool:
    """Whether `value` stands for something filled in later: `${TOKEN}`, `<token>`, `%s`, `[token]`."""
    return _TEMPLATE.search(value) is not None


def is_secret_password(value: str, *, literal: bool) -> bool:
    """Whether `value` may be a password. `literal`: the writing says that it is a value, not an expression."""
    if len(value) < 3 or _PATH_OR_VERSION.match(value):
        return False
    if len(value) > _LONGEST_PLACEHOLDER:
        return literal
    has_digit = _DIGIT.search(value) is not None
    if is_template(value) or len(set(value)) < 3 or (not has_digit and not _beyond_labels(value)):
        return False
    if not literal:
        return has_digit and _DOTTED.match(value) is None and not _is_variable(value)
    if has_digit:
        return True
    if value.isalpha():
        return len(value) >= 6
    return not (value.isupper() and _WORDS.match(value)) and not (_LOWER_WORDS.match(value) and _STEM.search(value))


def is_secret_key(value: str, *, literal: bool) -> bool:
    """Whether `value` may be a key or token: long enough, and not made like a word."""
    if len(value) < (8 if literal else 12) or _PATH_OR_VERSION.match(value) or _DOTTED.match(value):
        return False
    if len(value) > _LONGEST_PLACEHOLDER:
        return literal
    if _DIGIT.search(value) is None:
        mixed = len(value) >= 20 and not value.islower() and not value.isupper() and value.isascii()
        return mixed and not _WORDS.match(value) and not is_template(value) and _beyond_labels(value) != ""
    return not (_NUMBER_OR_VARIABLE.match(value) or is_template(value) or len(set(value)) < 3)


def _beyond_labels(value: str) -> str:
    """The letters and digits of `value` that no label word explains."""
    return _NOT_ALPHANUMERIC.sub("", _LABEL_WORDS.sub("", value.lower()))


def _is_variable(value: str) -> bool:
    """Whether a bare word is little besides label words: `token2`, `newPassword1`."""
    return _VARIABLE.match(value) is not None and len(_beyond_labels(value).rstrip(_DIGITS)) < 4
