"""Sets of documents and questions with known answers: `turns.jsonl` and `questions.jsonl` in a folder."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memhub_mcp.errors import InvalidInput, NotFound

ADVERSARIAL = "5"
"""The category whose questions rest on something false; they are left out."""

OWN = Path(__file__).parent / "data" / "own"
"""The set that ships with the project: coding memories and questions in English and Chinese, own sentences."""

HINTS = OWN.parent / "hints"
"""Requests as a person types them: for some one memory is worth telling, for most nothing is. One more project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One text to be found. With a speaker it is a turn of session `session` at `position`."""

    id: str
    conv: str
    text: str
    speaker: str = ""
    caption: str = ""
    session: str = ""
    position: int = 0
    time: datetime | None = None
    kind: str = "fact"
    subject: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question, and the documents of its `conv` that answer it: none, when nothing does."""

    id: str
    conv: str
    text: str
    category: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """Documents and questions by `conv`; only documents of its own answer a question."""

    name: str
    documents: Mapping[str, list[Document]]
    questions: list[Asked]

    @property
    def now(self) -> datetime:
        """The last time in the set: its questions are asked then."""
        times = [doc.time for docs in self.documents.values() for doc in docs if doc.time is not None]
        return max(times, default=datetime(2026, 1, 1, tzinfo=UTC))


def read_set(folder: Path) -> QuestionSet:
    """The set in `folder`, without its adversarial questions.

    Raises:
        NotFound: a file is missing.
        InvalidInput: a line is not what it should be; the text names file and line.
    """
    documents: dict[str, list[Document]] = {}
    places: dict[tuple[str, str], int] = {}
    for where, row in _rows(folder / "turns.jsonl"):
        try:
            session = str(row.get("session", ""))
            place = places.get((row["conv"], session), 0)
            places[row["conv"], session] = place + 1
            document = Document(
                id=row["id"],
                conv=row["conv"],
                text=row["text"],
                speaker=row.get("speaker") or "",
                caption=row.get("image_caption") or "",
                session=session,
                position=int(row.get("pos", place)),
                time=_moment(row["time"]) if row.get("time") else None,
                kind=row.get("kind") or "fact",
                subject=row.get("subject"),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"{where}: {error!r}; a turn has id, conv, text and optional speaker, time") from error
        documents.setdefault(document.conv, []).append(document)
    questions: list[Asked] = []
    for where, row in _rows(folder / "questions.jsonl"):
        try:
            asked = Asked(
                id=row["qid"],
                conv=row["conv"],
                text=row["query"],
                category=str(row.get("cat_name") or row.get("category", "")),
                evidence=tuple(row["evidence"]),
            )
        except (KeyError, TypeError) as error:
            raise InvalidInput(f"{where}: {error!r}; a question has qid, conv, query and evidence") from error
        if str(row.get("category", "")) != ADVERSARIAL:
            questions.append(asked)
    return QuestionSet(name=folder.resolve().name, documents=documents, questions=questions)


def hint_set() -> QuestionSet:
    """The requests that ship with memhub, on the projects of both sets."""
    own, more = read_set(OWN), read_set(HINTS)
    return replace(more, documents={**own.documents, **more.documents})


def _rows(path: Path) -> list[tuple[str, dict[str, Any]]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise NotFound(f"{path} cannot be read ({error.strerror}); name a folder with turns and questions") from error
    found: list[tuple[str, dict[str, Any]]] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise InvalidInput(f"{path}:{number} is not JSON ({error})") from error
            found.append((f"{path.name}:{number}", row))
    return found


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
