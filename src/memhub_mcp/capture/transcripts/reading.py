"""A transcript of any host: told apart by what is in it, read by its host's reader."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType

from memhub_mcp.capture.transcripts import claude_code, codex, cursor, gemini, opencode, qwen
from memhub_mcp.capture.transcripts.conversation import Record, Tally
from memhub_mcp.capture.transcripts.lines import Fields, fields_in, is_document, json_lines, parsed, string_in
from memhub_mcp.errors import InvalidInput

Reader = Callable[[Path, Tally], Iterator[Record]]

READERS: MappingProxyType[str, Reader] = MappingProxyType(
    {
        claude_code.SOURCE: claude_code.read,
        codex.SOURCE: codex.read,
        cursor.SOURCE: cursor.read,
        gemini.SOURCE: gemini.read,
        qwen.SOURCE: qwen.read,
        opencode.SOURCE: opencode.read,
    }
)
"""What reads the transcripts of each host, by its source name."""

_LOOKED_AT = 40
_DATABASES = (".db", ".vscdb")
_CODEX_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})


def read_transcript(path: Path, tally: Tally, *, source: str | None = None) -> Iterator[Record]:
    """The records of a transcript, in order: a conversation before what happened in it.

    Raises:
        InvalidInput: the file is of no known kind.
        OSError: it cannot be read.
    """
    found = source or source_of(path)
    if found is None or found not in READERS:
        raise InvalidInput(f"{path} is no transcript of {', '.join(sorted(READERS))}; give the session file itself")
    return (
        _from_database(READERS[found](path, tally), path) if path.suffix in _DATABASES else READERS[found](path, tally)
    )


def _from_database(records: Iterator[Record], path: Path) -> Iterator[Record]:
    try:
        yield from records
    except sqlite3.Error as error:
        raise InvalidInput(f"{path} cannot be read as the assistant's database ({error})") from error


def source_of(path: Path) -> str | None:
    """Which host wrote a transcript; None when it is none."""
    if path.is_dir():
        return opencode.SOURCE if (path / "session").is_dir() and (path / "message").is_dir() else None
    if path.suffix == ".vscdb":
        return cursor.SOURCE
    if path.suffix == ".db":
        return opencode.SOURCE
    if is_document(path):
        return _source_of_document(path)
    for number, line in enumerate(json_lines(path, Tally())):
        found = _source_of_line(line, number)
        if found is not None or number >= _LOOKED_AT:
            return found
    return None


def _source_of_line(line: Fields, number: int) -> str | None:
    kind = string_in(line, "type")
    if kind in _CODEX_TYPES or (kind in ("message", "function_call") and "content" in line and "sessionId" not in line):
        return codex.SOURCE
    if "projectHash" in line and "sessionId" in line:
        return gemini.SOURCE
    if "role" in line and "message" in line:
        return cursor.SOURCE
    if number == 0 and "type" not in line and "id" in line and "timestamp" in line:
        return codex.SOURCE
    message = fields_in(line.get("message"))
    if "parts" in message or kind == "tool_result":
        return qwen.SOURCE
    if kind in ("user", "assistant") and "message" in line:
        return claude_code.SOURCE
    return None


def _source_of_document(path: Path) -> str | None:
    if path.stat().st_size > gemini.MAX_DOCUMENT_BYTES:
        return None
    document = fields_in(parsed(path.read_bytes()))
    return gemini.SOURCE if "sessionId" in document and "messages" in document else None
