"""The objects that doors hand out: the shapes of JSON replies, one for each use case.

An absent key means "nothing to say": replies cost tokens, so empty values are left out.
"""

from typing import Any, Literal, NotRequired, TypedDict


class ScopeReply(TypedDict):
    """Where the call was answered from."""

    workspace: str | None
    branch: str | None
    head: str | None
    hidden: NotRequired[int]
    visibility: NotRequired[Literal["partial"]]
    repo: NotRequired[str]


class ModeReply(TypedDict):
    """Which parts of retrieval took part, and why one did not."""

    dense: str
    rerank: str
    why: NotRequired[str]


class ChainReply(TypedDict):
    """The versions of one block of code, oldest first."""

    path: str
    symbol: NotRequired[str]
    versions: list[dict[str, Any]]
    notes: NotRequired[list[str]]


class HitReply(TypedDict):
    """One thing that bears on the question."""

    id: str
    type: Literal["memory", "commit", "turn"]
    kind: str
    preview: str
    source: str
    at: str
    score: float
    why: str
    workspace: NotRequired[str]
    tier: NotRequired[str]
    subject: NotRequired[str]
    branch: NotRequired[str]
    commit: NotRequired[str]
    matched_key: NotRequired[str]
    state: NotRequired[str]
    similar: NotRequired[int]
    chain: NotRequired[ChainReply]


class RecallReply(TypedDict):
    """What we know that bears on a question."""

    hits: list[HitReply]
    nothing_relevant: bool
    mode: ModeReply
    scope: ScopeReply
    cursor: NotRequired[str]
    notes: NotRequired[list[str]]


class RememberResult(TypedDict):
    """What became of one memory."""

    id: str
    status: Literal["added", "duplicate_of", "superseded"]
    other: NotRequired[str]
    similar_to: NotRequired[list[str]]


class RememberReply(TypedDict):
    """What became of the memories sent."""

    results: list[RememberResult]
    generation: int
    scope: ScopeReply
    notes: NotRequired[list[str]]


class MemoryReply(TypedDict):
    """One memory in full."""

    id: str
    kind: str
    tier: str
    status: str
    version: int
    text: str
    source: str
    at: str
    updated: NotRequired[str]
    workspace: NotRequired[str]
    subject: NotRequired[str]
    branch: NotRequired[str]
    commit: NotRequired[str]
    files: NotRequired[list[str]]
    symbols: NotRequired[list[str]]
    search_keys: NotRequired[list[str]]
    solution: NotRequired[str]
    environment: NotRequired[str]
    valid_until: NotRequired[str]
    confirmed: NotRequired[str]
    places: NotRequired[list[str]]
    versions: NotRequired[list[dict[str, Any]]]
    links: NotRequired[list[dict[str, str]]]
    state: NotRequired[str]
    chain: NotRequired[ChainReply]


class GetReply(TypedDict):
    """Memories asked for by id."""

    memories: list[MemoryReply]
    scope: ScopeReply
    missing: NotRequired[list[str]]
    notes: NotRequired[list[str]]


class UpdateReply(TypedDict):
    """A memory after an update."""

    id: str
    version: int
    status: str
    generation: int
    scope: ScopeReply
    notes: NotRequired[list[str]]


class WaitingReply(TypedDict):
    """What follows the person and waits for their word; `more` were left out."""

    memories: list[MemoryReply]
    more: int


class ConfirmReply(TypedDict):
    """The memories a person stands by from now on."""

    confirmed: list[str]


class ForgetReply(TypedDict):
    """What would be, or was, erased; `unreachable` names the copies that are not ours."""

    erased: bool
    memories: list[dict[str, Any]]
    unreachable: list[str]
    scope: ScopeReply
    notes: NotRequired[list[str]]


class HistoryReply(TypedDict):
    """Chains or commits that answer a question about code."""

    chains: list[ChainReply]
    nothing_relevant: bool
    scope: ScopeReply
    cursor: NotRequired[str]
    notes: NotRequired[list[str]]


class SwitchReply(TypedDict):
    """How far another embedding model is in a store: `serves` answers until `fills` holds every memory."""

    store: str
    serves: str
    fills: str
    done: int
    of: int
    why: NotRequired[str]


class ImportReply(TypedDict):
    """What transcripts and files of memories brought into the current workspace, or would bring on a dry run.

    `sessions` were read in `files`. Of their edits `edits` are new, `known` were there, `outside` lie elsewhere,
    `failed` did not happen, `silent` fell into a pause; `withheld` ones keep no texts. `facts` and `turns` are new
    memories.

    Of what files of memories say, `memories` are new, `changed` earlier wordings were replaced, `unchanged` ones
    were there, `archived` ones are no longer said, `forgotten` ones stay forgotten.
    """

    source: str
    files: int
    sessions: int
    edits: int
    facts: int
    known: NotRequired[int]
    outside: NotRequired[int]
    withheld: NotRequired[int]
    failed: NotRequired[int]
    silent: NotRequired[int]
    turns: NotRequired[int]
    memories: NotRequired[int]
    changed: NotRequired[int]
    unchanged: NotRequired[int]
    archived: NotRequired[int]
    forgotten: NotRequired[int]
    lines: NotRequired[int]
    damaged: NotRequired[int]
    dry_run: NotRequired[bool]
    scope: ScopeReply
    notes: NotRequired[list[str]]


class StatusReply(TypedDict):
    """Scope, counts, modes, health. `capture` is `off`, `edits`, `all` or `paused`, in a workspace."""

    version: str
    home: str
    scope: ScopeReply
    counts: dict[str, Any]
    mode: ModeReply
    capture: NotRequired[str]
    paused_until: NotRequired[str]
    health: list[str]
    switches: NotRequired[list[SwitchReply]]
    notes: NotRequired[list[str]]


class CaptureReply(TypedDict):
    """What hooks may record in a workspace: `capture` is `off`, `edits`, `all` or `paused`.

    `level` is what holds without a pause, and `own` whether it was said for this workspace, not in config.toml.
    """

    capture: str
    level: str
    own: bool
    paused_until: NotRequired[str]
    scope: ScopeReply
    notes: NotRequired[list[str]]


class ModelReply(TypedDict):
    """One model that can be chosen. `origin` is the repository or package it comes from, `get` how it is had."""

    name: str
    kind: Literal["embedder", "reranker"]
    state: Literal["present", "partial", "absent"]
    chosen: bool
    origin: str
    revision: str
    licence: str
    size_bytes: int
    folder: NotRequired[str]
    get: NotRequired[str]


class ModelsReply(TypedDict):
    """Models, and what is to be said about them."""

    models: list[ModelReply]
    notes: NotRequired[list[str]]


class FileCheckReply(TypedDict):
    """One file of a model; `problem` says why it is not what was pinned."""

    name: str
    problem: NotRequired[str]


class ModelCheckReply(TypedDict):
    """The files of one model, read again."""

    name: str
    ok: bool
    files: list[FileCheckReply]


class VerifyReply(TypedDict):
    """Whether the models on disk are what was pinned."""

    ok: bool
    models: list[ModelCheckReply]
