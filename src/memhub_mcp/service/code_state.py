"""What became of the code that memories name, cheap enough for every reply, and the chains of some of it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memhub_mcp.domain.hit import Hit, MemoryHit
from memhub_mcp.domain.memory import Memory
from memhub_mcp.domain.replies import ChainReply, HitReply, MemoryReply
from memhub_mcp.domain.revision import ChangeKind, Spans
from memhub_mcp.errors import InvalidInput, RepoError
from memhub_mcp.repo.contents import difference
from memhub_mcp.repo.plain_files import read_inside
from memhub_mcp.repo.spans import carry_forward, union
from memhub_mcp.repo.symbols import find_symbols, read_symbols
from memhub_mcp.service.blocks import find_blocks, plain_path
from memhub_mcp.service.chains import build_chain
from memhub_mcp.service.scope import Scope
from memhub_mcp.service.showing import SHORT_SHA, show_chain
from memhub_mcp.service.tracing import BlockHistory, Tracing

UNCHANGED, CHANGED, MOVED, GONE = "unchanged", "changed since", "moved to", "gone"
MOST_CHAINS = 2
CHAIN_VERSIONS = 3
_SMALLEST_CHAIN_TOKENS = 150
_IN_FULL_TOKENS = 1_600
_LOOK_S = 0.06  # for all memories of a reply; what is not looked at by then has no state
_CHAIN_S = 0.15
_LAST_TOUCHES = 5
_ORDER = (UNCHANGED, CHANGED, MOVED, GONE)


@dataclass(frozen=True, slots=True)
class _Eye:
    """From where the code is looked at."""

    history: BlockHistory
    head: str
    root: Path


class CodeState:
    """Compares the code that memories name with what it was. Threads may share it."""

    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing

    def decorate(self, scope: Scope, replies: Sequence[HitReply], hits: Sequence[Hit], *, budget_tokens: int) -> None:
        """Says in the hits of a reply what became of their code, and attaches chains as far as the budget goes."""
        by_id = {hit.memory.id: hit.memory for hit in hits if isinstance(hit, MemoryHit)}
        memories = [by_id[reply["id"]] for reply in replies if reply["id"] in by_id]
        states = self.states(scope, memories)
        chains = self.chains(scope, memories, budget_tokens=budget_tokens)
        for reply in replies:
            if reply["id"] in states:
                reply["state"] = states[reply["id"]]
            if reply["id"] in chains:
                reply["chain"] = chains[reply["id"]]

    def complete(self, scope: Scope, replies: Sequence[MemoryReply], memories: Sequence[Memory]) -> None:
        """Says in memories shown in full what became of their code, with the chain of at most two."""
        states = self.states(scope, memories)
        chains = self.chains(scope, memories, budget_tokens=_IN_FULL_TOKENS)
        for reply in replies:
            if reply["id"] in states:
                reply["state"] = states[reply["id"]]
            if reply["id"] in chains:
                reply["chain"] = chains[reply["id"]]

    def states(self, scope: Scope, memories: Sequence[Memory]) -> dict[str, str]:
        """`unchanged`, `changed since <commit>`, `moved to <path>` or `gone`, by memory id.

        A memory that names no code, or whose commit is not here, has no state.
        """
        wanted = [memory for memory in memories if memory.files and memory.commit]
        eye = self._eye(scope) if wanted else None
        if eye is None:
            return {}
        deadline = time.monotonic() + _LOOK_S
        found: dict[str, str] = {}
        for memory in wanted:
            if time.monotonic() > deadline:
                break
            state = self._state(eye, memory)
            if state is not None:
                found[memory.id] = state
        return found

    def chains(self, scope: Scope, memories: Sequence[Memory], *, budget_tokens: int) -> dict[str, ChainReply]:
        """The chains of the symbols that the first memories name, at most two, within the budget."""
        wanted = [memory for memory in memories if memory.files and memory.symbols]
        eye = self._eye(scope) if wanted and budget_tokens >= _SMALLEST_CHAIN_TOKENS else None
        if eye is None or scope.store is None:
            return {}
        deadline = time.monotonic() + _CHAIN_S
        found: dict[str, ChainReply] = {}
        shown: set[tuple[str, str | None]] = set()
        for memory in wanted:
            if len(found) == MOST_CHAINS or budget_tokens < _SMALLEST_CHAIN_TOKENS or time.monotonic() > deadline:
                break
            branch = scope.checkout.branch if scope.checkout else None
            for file in memory.files:
                blocks = find_blocks(
                    eye.history, eye.head, eye.root, _inside(eye, file), symbol=memory.symbols[0]
                ).blocks
                block = next((block for block in blocks if (block.path, block.symbol) not in shown), None)
                if block is None:
                    continue
                shown.add((block.path, block.symbol))
                chain = build_chain(eye.history, eye.head, block, edits=scope.store.edits, branch=branch)
                reply, spent = show_chain(eye.history, chain, limit=CHAIN_VERSIONS, budget_tokens=budget_tokens // 2)
                found[memory.id] = reply
                budget_tokens -= spent
                break
        return found

    def _eye(self, scope: Scope) -> _Eye | None:
        checkout = scope.checkout
        if checkout is None or checkout.head is None or checkout.limited is not None:
            return None
        try:
            return _Eye(self._tracing.history(scope, checkout.head), checkout.head, checkout.root)
        except RepoError:
            return None

    def _state(self, eye: _Eye, memory: Memory) -> str | None:
        """The worst of what became of its files."""
        commit = _commit_here(eye, memory.commit or "")
        if commit is None:
            return None
        states = [
            state for file in memory.files if (state := self._file_state(eye, memory, commit, _inside(eye, file)))
        ]
        return max(states, key=lambda state: _rank(state), default=None)

    def _file_state(self, eye: _Eye, memory: Memory, commit: str, path: str) -> str | None:
        walked = eye.history.walked
        then = walked.blob(commit, path)
        if then is None:
            return None  # named before it was committed, or never a file of this repository
        now = walked.blob(eye.head, path)
        disk = read_inside(eye.root, path)
        if now is None and disk is None:
            renamed = _renamed(eye, path)
            return f"{MOVED} {renamed}" if renamed else GONE
        before = eye.history.contents.data(then)
        after = disk if disk is not None else eye.history.contents.data(now or "")
        if before is None or after is None:
            return None
        if b"\r\n" in after and b"\r\n" not in before:
            after = after.replace(b"\r\n", b"\n")
        if before == after:
            return UNCHANGED
        changed = f"{CHANGED} {commit[:SHORT_SHA]}"
        spans = self._spans(path, before, memory.symbols)
        hunks = difference(before, after)
        if hunks is None or not spans:
            return changed
        _, touched = carry_forward(spans, hunks)
        if not touched:
            return UNCHANGED
        return changed if self._spans(path, after, memory.symbols) else GONE

    def _spans(self, path: str, data: bytes, symbols: Sequence[str]) -> Spans:
        """The lines of the symbols named, in a text of the file; none when they are not there."""
        if not symbols:
            return ()
        parsed = read_symbols(path, data)
        found = [each for symbol in symbols for each in find_symbols(parsed.symbols, symbol)]
        return union((each.lead, each.end) for each in found)


def _rank(state: str) -> int:
    return next(number for number, kind in enumerate(_ORDER) if state.startswith(kind))


def _inside(eye: _Eye, file: str) -> str:
    try:
        return plain_path(eye.root, file)
    except InvalidInput:
        return file


def _commit_here(eye: _Eye, commit: str) -> str | None:
    """The commit itself, or a copy of it that is still here: rewritten ones get pruned."""
    candidates = [commit, *(eye.history.index.twins(commit) if eye.history.index else [])]
    return next((sha for sha in candidates if eye.history.walked.holds(sha)), None)


def _renamed(eye: _Eye, path: str) -> str | None:
    """The path to which the last commit that touched `path` moved it, if the file is still there."""
    index = eye.history.index
    for _ in range(_LAST_TOUCHES):
        moved = None
        for sha in index.last_touching(path, 1) if index else ():
            moved = next(
                (
                    change.path
                    for change in (index.changes_of(sha) if index else ())
                    if change.kind is ChangeKind.RENAME and change.old_path == path
                ),
                None,
            )
        if moved is None:
            return None
        if eye.history.walked.blob(eye.head, moved) is not None:
            return moved
        path = moved
    return None
