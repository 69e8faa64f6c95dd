"""What a repository's memory holds, for a person who just set it up."""

import re
from dataclasses import dataclass
from datetime import datetime

from memhub_mcp.domain.memory import Filter
from memhub_mcp.service.scope import Scope
from memhub_mcp.store import overview as index

BUSIEST = 4
_LOOKED_AT = 200
_PREFIX = re.compile(r"^(?:\w+(?:\([^)]*\))?!?:|\[[^\]]*\])\s*")
_REFERENCE = re.compile(r"\s*[(\[]?(?:#|gh-|pr )\d+[)\]]?\.?$", re.IGNORECASE)
_ROUTINE = re.compile(r"^(?:merge|bump|release|update|version|v?\d|revert|wip|typo)\b", re.IGNORECASE)
_IMPERATIVE = re.compile(
    r"^(?:add|allow|answer|ask|avoid|begin|bring|build|cache|change|check|clean|convert|disable|"
    r"drop|enable|ensure|find|fix|forbid|give|handle|ignore|improve|introduce|keep|let|limit|"
    r"look|make|move|prefer|prevent|raise|read|reduce|refuse|remove|rename|replace|require|"
    r"return|rewrite|send|set|show|simplify|skip|split|start|stop|store|support|switch|take|"
    r"teach|tell|test|turn|use|validate|warn|write)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """`span` is None before the first commit; `question` when no commit lends itself to one."""

    commits: int
    span: tuple[datetime, datetime] | None
    busiest: tuple[tuple[str, int], ...]
    memories: int
    following: int
    question: str | None


def overview(scope: Scope) -> Overview:
    """Counts, the span of time, the files that changed most and still exist, and a question worth asking."""
    following = scope.user.memories.count(Filter())
    store = scope.store
    if store is None:
        return Overview(commits=0, span=None, busiest=(), memories=0, following=following, question=None)
    root = scope.checkout.root if scope.checkout else None
    busiest = index.busiest_paths(store.db, BUSIEST * 10)
    present = [(path, number) for path, number in busiest if root is None or (root / path).is_file()]
    return Overview(
        commits=store.commits.count(),
        span=index.span(store.db),
        busiest=tuple(present[:BUSIEST]),
        memories=store.memories.count(Filter(anchors=scope.anchors())),
        following=following,
        question=_question(index.newest_messages(store.db, _LOOKED_AT)),
    )


def _question(messages: list[str]) -> str | None:
    """Why the newest commit did what it says, of those that say something."""
    lines = [message.partition("\n")[0] for message in messages]
    subjects = [_REFERENCE.sub("", _PREFIX.sub("", line)).strip().rstrip(".") for line in lines]
    telling = [subject for subject in subjects if 4 <= len(subject.split()) <= 12 and not _ROUTINE.match(subject)]
    for subject in telling:
        if _IMPERATIVE.match(subject):
            return f"Why did we {subject[0].lower()}{subject[1:]}?"
    return f'What do we know about "{telling[0]}"?' if telling else None
