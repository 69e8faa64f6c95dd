"""Rows are made anew by the rules of today: what is redacted in them, and the words they are found by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memhub_mcp.capture.redact import REDACTION_VERSION, redact
from memhub_mcp.domain.memory import Draft, Kind, Memory
from memhub_mcp.domain.revision import Commit, EditEvent
from memhub_mcp.domain.session import Turn
from memhub_mcp.retrieval.terms import TERMS_VERSION
from memhub_mcp.service.drafts import content_key, subject_key
from memhub_mcp.service.indexing import commit_fields
from memhub_mcp.service.wording import word_fields
from memhub_mcp.store.connection import Transaction
from memhub_mcp.store.file import Store

COMPACT = "compact"
"""Stands in `Store.renewal.positions` while files may still hold what was erased, or redacted when it was stored."""

CHARACTERS_A_BATCH = 100_000  # indexing them takes about 50 ms, during which another client's write waits


@dataclass(frozen=True, slots=True)
class _Renewed:
    """A memory as it was and as it will be. Of versions and caption only what changes."""

    was: Memory
    memory: Memory
    fields: Mapping[str, Sequence[str]]
    versions: Mapping[int, str]
    caption: str | None


def renew_memories(store: Store, seqs: Sequence[int]) -> list[int]:
    """Make texts and words of these memories anew, as many of the first as are written quickly; those that were.

    One that another client changed meanwhile is left as that client made it.
    """
    found = store.memories.by_seqs(seqs)
    chosen = _first(found, seqs)
    turns = store.sessions.turns_of(chosen)
    renewed = {seq: _renew(store, found[seq], turns.get(seq)) for seq in chosen if seq in found}
    with store.write() as tx:
        now = store.memories.by_seqs(chosen, reader=tx)
        changed = [seq for seq in renewed if seq not in now or _told(now[seq]) != _told(found[seq])]
        for seq in renewed.keys() - changed:
            store.words.index(tx, seq, renewed[seq].fields)
            _replace(store, tx, renewed[seq])
        done = [seq for seq in chosen if seq not in changed]
        store.renewal.mark_memories(tx, done, REDACTION_VERSION, TERMS_VERSION)
    return chosen


def renew_commits(store: Store, seqs: Sequence[int]) -> list[int]:
    """Make texts and words of these commits anew; those that were. What was erased on request stays erased."""
    found = store.commits.get_many(seqs)
    renewed = {seq: _redacted_commit(commit) for seq, commit in found.items()}
    fields = {seq: commit_fields(commit) for seq, commit in renewed.items()}
    with store.write() as tx:
        for seq in store.renewal.live_commits(tx, renewed):
            store.commits.words.index(tx, seq, fields[seq])
            if renewed[seq] != found[seq]:
                store.renewal.replace_commit(tx, seq, renewed[seq])
                store.renewal.begin(tx, COMPACT)
        store.renewal.mark_commits(tx, seqs, REDACTION_VERSION, TERMS_VERSION)
    return list(seqs)


def renew_edits(store: Store, seqs: Sequence[int]) -> list[int]:
    """Redact the texts of these edits by the rules of today; those that were."""
    found = store.edits.by_seqs(seqs)
    renewed = {seq: _redacted_edit(edit.event) for seq, edit in found.items()}
    with store.write() as tx:
        for seq, event in renewed.items():
            if event != found[seq].event:
                store.edits.replace(tx, seq, event)
                store.renewal.begin(tx, COMPACT)
        store.edits.mark(tx, seqs, REDACTION_VERSION)
    return list(seqs)


def _first(found: Mapping[int, Memory], seqs: Sequence[int]) -> list[int]:
    chosen: list[int] = []
    size = 0
    for seq in seqs:
        size += len(found[seq].text) if seq in found else 0
        if chosen and size > CHARACTERS_A_BATCH:
            break
        chosen.append(seq)
    return chosen


def _renew(store: Store, was: Memory, turn: Turn | None) -> _Renewed:
    memory = _redacted(was)
    caption = redact(turn.caption) if turn is not None and turn.caption else None
    versions = {version.version: version.text for version in store.memories.versions(was.seq)}
    redacted = {version: redact(text) for version, text in versions.items()}
    return _Renewed(
        was=was,
        memory=memory,
        fields=word_fields(memory, None if turn is None else replace(turn, caption=caption)),
        versions={version: text for version, text in redacted.items() if text != versions[version]},
        caption=caption if turn is not None and caption != turn.caption else None,
    )


def _replace(store: Store, tx: Transaction, renewed: _Renewed) -> None:
    """Write the texts that today's rules redact. Vectors of the former text go."""
    memory = renewed.memory
    if _told(memory) != _told(renewed.was):
        draft = Draft(text=memory.text, solution=memory.solution, environment=memory.environment)
        # A turn is itself by its place in the conversation, whatever is said there.
        key = None if memory.kind is Kind.TURN else content_key(draft)
        store.renewal.replace_memory(tx, memory, key, subject_key(memory.subject))
        store.vectors.enqueue(tx, memory.seq)
        store.renewal.begin(tx, COMPACT)
    if renewed.versions or renewed.caption is not None:
        store.renewal.replace_versions(tx, memory.seq, renewed.versions)
        if renewed.caption is not None:
            store.renewal.replace_caption(tx, memory.seq, renewed.caption)
        store.renewal.begin(tx, COMPACT)


def _told(memory: Memory) -> tuple[object, ...]:
    """All that is text in a memory."""
    named = memory.subject, memory.files, memory.symbols
    return memory.text, memory.solution, memory.environment, memory.search_keys, *named


def _redacted(memory: Memory) -> Memory:
    return replace(
        memory,
        text=redact(memory.text),
        solution=_maybe_redacted(memory.solution),
        environment=_maybe_redacted(memory.environment),
        subject=_maybe_redacted(memory.subject),
        search_keys=tuple(map(redact, memory.search_keys)),
        files=tuple(map(redact, memory.files)),
        symbols=tuple(map(redact, memory.symbols)),
    )


def _redacted_commit(commit: Commit) -> Commit:
    return replace(commit, author=redact(commit.author), message=redact(commit.message), patch=redact(commit.patch))


def _redacted_edit(event: EditEvent) -> EditEvent:
    return replace(
        event,
        said=_maybe_redacted(event.said),
        old_text=_maybe_redacted(event.old_text),
        new_text=_maybe_redacted(event.new_text),
        content_after=_maybe_redacted(event.content_after),
    )


def _maybe_redacted(text: str | None) -> str | None:
    return redact(text) if text else text
