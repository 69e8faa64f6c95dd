"""Gone means gone: memories with all their versions, captured edits, and what was read of a commit."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memhub_mcp.domain.memory import Draft, Memory
from memhub_mcp.domain.replies import ForgetReply
from memhub_mcp.domain.revision import Commit, Edit
from memhub_mcp.errors import InvalidInput, NotFound
from memhub_mcp.retrieval.packing import moment
from memhub_mcp.service.drafts import content_key
from memhub_mcp.service.renewing import COMPACT
from memhub_mcp.service.scope import Scope
from memhub_mcp.store.file import Store

UNREACHABLE = (
    "git objects and commit messages",
    "backups made before today",
    "the host's own transcripts",
)
STILL_IN_LOG = (
    "another process was reading: the text is gone from the store, and leaves its log file when a memhub has time,"
    " or when the last one ends"
)
NOT_YET = "nothing was erased yet; call again with confirm=true to erase for good"
PREVIEW_CHARACTERS = 160
_TELLING = 8  # characters of a line that stands elsewhere by no accident
_LOOKED_THROUGH, _MOST_NAMED = 200, 20
_COMMIT_ID = re.compile(r"[0-9a-fA-F]{7,64}")


@dataclass(frozen=True, slots=True)
class _Named:
    """What the ids name in one store."""

    store: Store
    memories: list[Memory] = field(default_factory=list[Memory])
    edits: list[Edit] = field(default_factory=list[Edit])
    commits: dict[int, Commit] = field(default_factory=dict[int, Commit])


def forget(scope: Scope, ids: Sequence[str], *, confirm: bool) -> ForgetReply:
    """What would be erased, or with `confirm` the erasing itself.

    A memory goes with all versions, words, vectors and links, the fact of a session also with what was asked for in
    its edits. An edit goes as if it had not been captured. A commit stays known, without author, message and patch.

    Raises:
        InvalidInput: no ids.
        NotFound: one of the ids is not here; nothing was erased.
    """
    if not ids:
        raise InvalidInput("ids is empty; name what to forget")
    found = [_Named(store) for store in scope.stores()]
    listed = [_find(found, named, erased=confirm) for named in dict.fromkeys(ids)]
    notes = list(scope.notes)
    if others := [other for named in found for other in _holding_the_same(named)]:
        notes.append(f"the same lines stand in {', '.join(others)}: name these too to erase them")
    if confirm:
        emptied = [_erase(named) for named in found if named.memories or named.edits or named.commits]
        if not all(emptied):
            notes.append(STILL_IN_LOG)
    reply = ForgetReply(erased=confirm, memories=listed, unreachable=list(UNREACHABLE), scope=scope.reply())
    if not confirm:
        notes.append(NOT_YET)
    if notes:
        reply["notes"] = notes
    return reply


def _find(found: Sequence[_Named], named: str, *, erased: bool) -> dict[str, Any]:
    """The receipt's line for what `named` is, which is noted with its store."""
    for place in found:
        if memory := place.store.memories.get(named):
            place.memories.append(memory)
            versions = len(place.store.memories.versions(memory.seq))
            line = {"kind": memory.kind.value, "at": moment(memory.created_at), "versions": versions}
            return _receipt(named, line, memory.text, erased)
        if edit := place.store.edits.get(named):
            place.edits.append(edit)
            line = {"kind": "edit", "at": moment(edit.event.time), "path": edit.event.path}
            return _receipt(named, line, edit.event.said or edit.event.new_text or "", erased)
        seq = place.store.commits.find(named) if _COMMIT_ID.fullmatch(named) else None
        if seq is not None and (commit := place.store.commits.get_many((seq,)).get(seq)):
            place.commits[seq] = commit
            line = {"kind": "commit", "at": moment(commit.committed_at)}
            return _receipt(commit.sha, line, commit.message, erased)
    raise NotFound(f"nothing here has the id {named[:40]!r}; recall, list and history show the ids of what is stored")


def _holding_the_same(named: _Named) -> list[str]:
    """The ids of other edits and commits of the same files that hold a line of these: they replaced it, mostly."""
    found: dict[str, None] = {}
    for edit in named.edits:
        lines = _telling(edit.event.new_text or "")
        for other in named.store.edits.by_path(edit.event.path, _LOOKED_THROUGH):
            texts = (other.event.old_text, other.event.new_text, other.event.content_after)
            if any(line in text for text in texts if text for line in lines):
                found[other.id] = None
    for commit in named.commits.values():
        lines = _telling("\n".join(row[1:] for row in commit.patch.split("\n") if row.startswith("+")))
        for path in {change.path for change in commit.changes}:
            for other in named.store.commits.by_path(path, _LOOKED_THROUGH):
                if any(line in other.patch for line in lines):
                    found[other.sha] = None
    own = {edit.id for edit in named.edits} | {commit.sha for commit in named.commits.values()}
    return [id_ for id_ in found if id_ not in own][:_MOST_NAMED]


def _telling(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if len(line.strip()) >= _TELLING]


def _receipt(named: str, line: dict[str, Any], text: str, erased: bool) -> dict[str, Any]:
    # The receipt of an erasure must not keep what was erased.
    return {"id": named, **line} if erased else {"id": named, **line, "preview": text[:PREVIEW_CHARACTERS]}


def _erase(named: _Named) -> bool:
    """Erase; whether no byte is left in a file."""
    store = named.store
    with store.write() as tx:
        for memory in named.memories:
            for version in store.memories.versions(memory.seq):
                draft = Draft(text=version.text, solution=memory.solution, environment=memory.environment)
                store.memories.tombstone(tx, content_key(draft))
        rows = [memory.seq for memory in named.memories]
        store.edits.erase_requests(tx, rows)
        store.memories.erase(tx, rows)
        store.operations.blank(tx, [memory.id for memory in named.memories])
        store.edits.erase(tx, [edit.id for edit in named.edits])
        store.commits.erase(tx, list(named.commits))
    if store.compact():
        return True
    with store.write() as tx:
        store.renewal.begin(tx, COMPACT)
    return False
