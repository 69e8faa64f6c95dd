"""What a caller sends becomes a draft that can be stored: checked, redacted, normalised."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from memhub_mcp.capture.redact import redact
from memhub_mcp.domain.clock import system_clock
from memhub_mcp.domain.memory import WRITABLE_KINDS, Draft, Kind
from memhub_mcp.domain.moments import read_phrase
from memhub_mcp.domain.scope import Tier
from memhub_mcp.domain.session import SessionFact
from memhub_mcp.errors import InvalidInput

MAX_TEXT_BYTES = 1 << 20
MAX_MEMORIES = 20
MAX_SEARCH_KEYS = 5
MAX_SUBJECT_CHARACTERS = 200
MAX_KEY_CHARACTERS = 500
MAX_NAMES = 50
MAX_NAME_CHARACTERS = 1_000

_KINDS = ", ".join(sorted(WRITABLE_KINDS))
_TIERS = ", ".join(Tier)


def check_text(value: object, name: str, *, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """`value`, when it is text that can be stored unchanged.

    Raises:
        InvalidInput: not a string, empty, too large, with NUL or half a surrogate pair.
    """
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is {type(value).__name__}, not text; send a string")
    if "\0" in value:
        raise InvalidInput(f"{name} holds a NUL character; remove it and send again")
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{name} holds half a surrogate pair at {error.start}; send valid Unicode") from error
    if size > max_bytes:
        raise InvalidInput(f"{name} is {size:,} bytes, the limit is {max_bytes:,}; split it or store a summary")
    if not value.strip():
        raise InvalidInput(f"{name} is empty; say what is to be remembered")
    return value


def read_drafts(memories: Sequence[Mapping[str, Any]]) -> list[Draft]:
    """The memories of one call as drafts, in order, redacted.

    Raises:
        InvalidInput: the first thing that is wrong, with the number of the memory it is in.
    """
    if not memories:
        raise InvalidInput("memories is empty; send 1 to 20 of them, each with a text")
    if len(memories) > MAX_MEMORIES:
        raise InvalidInput(f"{len(memories)} memories in one call, the limit is {MAX_MEMORIES}; send them in parts")
    return [_read_draft(memory, f"memory {number}") for number, memory in enumerate(memories, 1)]


def read_session(session: Mapping[str, Any]) -> SessionFact:
    """The fact of a session as its assistant reports it, redacted.

    Raises:
        InvalidInput: no task, or a field that cannot be stored.
    """
    if session.get("task") in (None, ""):
        raise InvalidInput("session has no task; say in one sentence what was asked for")
    return SessionFact(
        task=redact(check_text(session["task"], "session.task")),
        approach=_optional_text(session.get("approach"), "session.approach"),
        outcome=_optional_text(session.get("outcome"), "session.outcome"),
        files=_names(session.get("files"), "session.files"),
    )


def content_key(draft: Draft) -> bytes:
    """What makes two memories equal: the words, whatever the white space between them. 32 bytes."""
    parts = (draft.text, draft.solution or "", draft.environment or "")
    return hashlib.sha256("\0".join(_normalised(part) for part in parts).encode()).digest()


def subject_key(subject: str | None) -> str | None:
    """What makes two subjects the same: letters and digits without case, accents and punctuation."""
    if subject is None:
        return None
    folded = unicodedata.normalize("NFKD", subject).casefold()
    words = re.findall(r"\w+", "".join(c for c in folded if not unicodedata.combining(c)))
    return " ".join(words) or folded.strip() or None


def input_hash(drafts: Sequence[Draft], session: SessionFact | None) -> bytes:
    """The digest of a call's canonical input, for idempotency. 32 bytes."""
    canonical = json.dumps([[repr(draft) for draft in drafts], repr(session)], ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).digest()


def _read_draft(memory: Mapping[str, Any], where: str) -> Draft:
    search_keys = _names(memory.get("search_keys"), f"{where}: search_keys", longest=MAX_KEY_CHARACTERS)
    if len(search_keys) > MAX_SEARCH_KEYS:
        raise InvalidInput(f"{where}: {len(search_keys)} search_keys, the limit is {MAX_SEARCH_KEYS}; keep the best")
    return Draft(
        text=redact(check_text(memory.get("text", ""), f"{where}: text")),
        kind=_kind(memory.get("kind"), where),
        subject=_subject(memory.get("subject"), where),
        tier=_tier(memory.get("tier"), where),
        files=tuple(name.replace("\\", "/") for name in _names(memory.get("files"), f"{where}: files")),
        symbols=_names(memory.get("symbols"), f"{where}: symbols"),
        search_keys=search_keys,
        solution=_optional_text(memory.get("solution"), f"{where}: solution"),
        environment=_optional_text(memory.get("environment"), f"{where}: environment"),
        valid_until=read_moment(memory.get("valid_until"), f"{where}: valid_until"),
    )


def read_moment(value: object, name: str, now: datetime | None = None) -> datetime | None:
    """A moment from an ISO date or time, UTC where it names no zone, or from a phrase: `last week`, `2 days ago`.

    None stays None. A phrase is meant at `now`, by the clock of this machine where that is None.

    Raises:
        InvalidInput: it means no moment.
    """
    if value is None or value == "":
        return None
    moment = read_phrase(str(value), now or system_clock())
    if moment is None:
        raise InvalidInput(f"{name} is {str(value)[:40]!r}; give an ISO date such as 2026-05-31, or `last week`")
    return moment


def read_kinds(kinds: Sequence[str]) -> frozenset[Kind]:
    """The kinds a reader asks for.

    Raises:
        InvalidInput: an unknown kind.
    """
    try:
        return frozenset(Kind(kind.strip().lower()) for kind in kinds)
    except ValueError as error:
        raise InvalidInput(f"unknown kind in {str(list(kinds))[:80]}; kinds are {', '.join(Kind)}") from error


def _kind(value: object, where: str) -> Kind:
    name = str(value or Kind.FACT).strip().lower()
    if name not in WRITABLE_KINDS:
        raise InvalidInput(f"{where}: kind {name[:40]!r} cannot be stored; use one of {_KINDS}")
    return Kind(name)


def _tier(value: object, where: str) -> Tier | None:
    if value is None or value == "":
        return None
    name = str(value).strip().lower()
    if name not in tuple(Tier):
        raise InvalidInput(f"{where}: tier {name[:40]!r} does not exist; use one of {_TIERS}")
    return Tier(name)


def _subject(value: object, where: str) -> str | None:
    subject = _optional_text(value, f"{where}: subject")
    if subject is not None and len(subject) > MAX_SUBJECT_CHARACTERS:
        raise InvalidInput(
            f"{where}: the subject has {len(subject)} characters, the limit is {MAX_SUBJECT_CHARACTERS}; "
            "name the thing the memory is about in a few words"
        )
    return subject.strip() if subject else None


def _optional_text(value: object, name: str) -> str | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    return redact(check_text(value, name))


def _names(value: object, what: str, *, longest: int = MAX_NAME_CHARACTERS) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"{what} is {type(value).__name__}; send a list of strings")
    names = [redact(check_text(item, what)).strip() for item in cast("Sequence[object]", value)]
    for name in names:
        if len(name) > longest:
            raise InvalidInput(f"{what}: an entry has {len(name)} characters, the limit is {longest}")
    if len(names) > MAX_NAMES:
        raise InvalidInput(f"{what} has {len(names)} entries, the limit is {MAX_NAMES}")
    return tuple(dict.fromkeys(names))


def _normalised(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
