"""Credentials in URLs, `Authorization` headers and bearer tokens.

Standard library only: the hook path imports this.
"""

import re

from memhub_mcp.capture.secret_values import is_secret_key, is_secret_password, is_template

_URL_LOGIN = re.compile(r"(?P<user>://[^\s:/@?#\"'`<>\\]{0,128}:)(?P<password>[^\s/?#\"'`<>\\]{1,512})(?=@)")
_URL_TOKEN = re.compile(r"://(?P<token>[A-Za-z0-9_\-.~%]{20,512})(?=@)")
_AUTHORIZATION = re.compile(
    r"(?P<name>authorization(?:\\{0,3}[\"'`]\]?[ \t]{0,4}[:=,]|\]?[ \t]{0,4}[:=])[ \t]{0,4}\\{0,3}[\"'`]?)"
    r"(?P<scheme>[A-Za-z][A-Za-z0-9\-]{2,20}[ \t]{1,4})?(?P<value>[^\s\"'`,;\\<>(){}\[\]]{4,4096})",
    re.IGNORECASE,
)
_PARAMETER = re.compile(r"[a-z_]{1,32}=$")
_BEARER = re.compile(r"(?P<name>bearer[ \t]{1,4})(?P<value>[A-Za-z0-9._~+/=\-]{8,4096})", re.IGNORECASE)


def redact_urls(text: str) -> str:
    """`text` without the passwords in `scheme://user:password@host`, and without long tokens before the `@`."""
    text = _URL_LOGIN.sub(_without_password, text)
    return _URL_TOKEN.sub(lambda m: "://[redacted:url]" if is_secret_key(m["token"], literal=True) else m[0], text)


def redact_authorization(text: str) -> str:
    """`text` without the value of `Authorization: <scheme> <value>`."""
    return _AUTHORIZATION.sub(_without_credentials, text)


def redact_bearer(text: str) -> str:
    """`text` without the token in `Bearer <token>`."""
    return _BEARER.sub(
        lambda m: f"{m['name']}[redacted:bearer]" if is_secret_key(m["value"], literal=True) else m[0], text
    )


def _without_password(match: re.Match[str]) -> str:
    return match[0] if is_template(match["password"]) else f"{match['user']}[redacted:url]"


def _without_credentials(match: re.Match[str]) -> str:
    value = match["value"]
    if _PARAMETER.match(value):
        return match[0]
    plain = is_secret_password(value, literal=True) if match["scheme"] else is_secret_key(value, literal=True)
    return f"{match['name']}{match['scheme'] or ''}[redacted:header]" if plain else match[0]
