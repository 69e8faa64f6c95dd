"""Credentials in URLs, `Authorization` headers and bearer tokens.

Standard library only: the hook path imports this.
"""

import re
from collections.abc import Iterator

from memhub_mcp.capture.secret_values import is_secret_key, is_secret_password, is_template

_URL_LOGIN = re.compile(r"(?P<user>://[^\s:/@?#\"'`<>\\]{0,128}:)(?P<password>[^\s/?#\"'`<>\\]{1,512})(?=@)")
_URL_TOKEN = re.compile(r"://(?P<token>[A-Za-z0-9_\-.~%]{20,512})(?=@)")
_SIGNATURE = re.compile(
    r"(?P<name>[?&](?:sig|Signature|X-(?:Amz|Goog)-Signature)=)(?P<value>[A-Za-z0-9%+/_.=\-]{16,512})"
)
_USER_OPTION = re.compile(
    r"(?P<name> (?:-u|--user)[ =]{1,4}[\"']?[^\s:\"'$]{1,64}:)(?P<password>[^\s\"']{3,128})(?=[\"'\s]|$)"
)
_FETCHERS = ("curl", "wget", "http")
_AUTHORIZATION = re.compile(
    r"authorization(?:\\{0,3}[\"'`]\]?[ \t]{0,4}[:=,]|\]?[ \t]{0,4}[:=])[ \t]{0,4}\\{0,3}[\"'`]?"
    r"(?P<scheme>[a-z][a-z0-9\-]{2,20}[ \t]{1,4})?(?P<value>[^\s\"'`,;\\<>(){}\[\]]{4,4096})"
)
_BEARER = re.compile(r"bearer[ \t]{1,4}(?P<value>[a-z0-9._~+/=\-]{8,4096})")
_PARAMETER = re.compile(r"[A-Za-z_]{1,32}=$")


def redact_urls(text: str) -> str:
    """`text` without the passwords in `scheme://user:password@host`, and without long tokens before the `@`."""
    text = _URL_LOGIN.sub(_without_password, text)
    return _URL_TOKEN.sub(lambda m: "://[redacted:url]" if is_secret_key(m["token"], literal=True) else m[0], text)


def redact_signatures(text: str) -> str:
    """`text` without the signatures of signed URLs."""
    return _SIGNATURE.sub(lambda m: f"{m['name']}[redacted:signature]", text)


def redact_user_options(text: str) -> str:
    """`text` without the password in `curl -u user:password`."""
    return _USER_OPTION.sub(_without_user_password, text)


def authorization_values(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Where in `text` the credentials of `Authorization: <scheme> <credentials>` stand, in order."""
    for found in _AUTHORIZATION.finditer(lowered):
        start, end = found.span("value")
        value = text[start:end]
        if _PARAMETER.match(value):
            continue
        if is_secret_password(value, literal=True) if found["scheme"] else is_secret_key(value, literal=True):
            yield start, end


def bearer_values(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Where in `text` the token of `Bearer <token>` stands, in order."""
    for found in _BEARER.finditer(lowered):
        start, end = found.span("value")
        if is_secret_key(text[start:end], literal=True):
            yield start, end


def _without_password(match: re.Match[str]) -> str:
    return match[0] if is_template(match["password"]) else f"{match['user']}[redacted:url]"


def _without_user_password(match: re.Match[str]) -> str:
    text, start, end = match.string, match.start(), match.end()
    command = text[max(0, start - 200) : start].rpartition("\n")[2] + text[end : end + 200].partition("\n")[0]
    asks = any(fetcher in command.lower() for fetcher in _FETCHERS)
    secret = asks and is_secret_password(match["password"], literal=True)
    return f"{match['name']}[redacted:option]" if secret else match[0]
