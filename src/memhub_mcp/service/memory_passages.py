"""The passages of a file of memories as drafts: what each is about, of which kind it is."""

import re
from collections.abc import Iterator

from memhub_mcp.capture.markdown import Passage
from memhub_mcp.capture.memory_files import MemoryFile
from memhub_mcp.domain.memory import Draft, Kind
from memhub_mcp.domain.scope import Tier
from memhub_mcp.hosts.memories import Reach
from memhub_mcp.service.drafts import MAX_KEY_CHARACTERS, MAX_SUBJECT_CHARACTERS, subject_key
from memhub_mcp.service.excerpts import Excerpt
from memhub_mcp.service.memory_paths import FoundFile

_SEPARATOR = " › "
_LONGEST_NUMBER = 8
_DECISION = re.compile(r"\bdecisions?\b|\bADRs?\b|决定|决策", re.IGNORECASE)
_PREFERENCE = re.compile(r"\bpreferences?\b|偏好", re.IGNORECASE)
_OF_PERSON = ("user", "feedback")  # the sorts of Claude Code's notes that are about the person


def excerpts_of(found: FoundFile, read: MemoryFile) -> Iterator[Excerpt]:
    """The passages of a file, each under a subject of its own."""
    tier = Tier.USER if found.reach is Reach.PERSON else Tier.WORKSPACE
    taken: set[str | None] = set()
    keys = _search_keys(read)
    for passage in read.passages:
        subject = _subject(found.name, passage, taken)
        draft = Draft(text=passage.text, kind=_kind(found, read, passage), subject=subject, tier=tier, search_keys=keys)
        yield Excerpt(draft, tier, passage.line)


def _kind(found: FoundFile, read: MemoryFile, passage: Passage) -> Kind:
    if found.reach is Reach.PERSON or (found.reach is Reach.PROJECT and read.sort in _OF_PERSON):
        return Kind.PREFERENCE
    for heading in reversed(passage.headings):
        if _DECISION.search(heading):
            return Kind.DECISION
        if _PREFERENCE.search(heading):
            return Kind.PREFERENCE
    return Kind.FACT


def _subject(file: str, passage: Passage, taken: set[str | None]) -> str:
    """The file, the headings, the beginning of the passage where its section has others: the last ones count most."""
    parts = [file, *passage.headings, *([passage.lead] if passage.lead else [])]
    parts = [parts[0], *(part for part in parts[1:] if part)]
    room = MAX_SUBJECT_CHARACTERS - _LONGEST_NUMBER
    while len(parts) > 2 and len(_SEPARATOR.join(parts)) > room:
        del parts[1]
    subject = _SEPARATOR.join(parts)
    if len(subject) > room:
        subject = f"{parts[0][-(room // 3) :]}{_SEPARATOR}{parts[-1]}"[:room]
    number, numbered = 2, subject
    while subject_key(numbered) in taken:
        numbered = f"{subject} ({number})"
        number += 1
    taken.add(subject_key(numbered))
    return numbered


def _search_keys(read: MemoryFile) -> tuple[str, ...]:
    """How the head of the file says when it matters."""
    keys = [read.description or "", " ".join(read.paths)]
    return tuple(key[:MAX_KEY_CHARACTERS] for key in keys if key.strip())
