"""What opens a session: where we stand, how much is known, what was learned last, what follows the person."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from memhub_mcp.domain.memory import TOLD_UNASKED, Filter, Memory
from memhub_mcp.service.scope import Scope

WORKSPACE_MEMORIES = 6
PERSON_MEMORIES = 3
_CHARACTERS = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestLine:
    """One line, and how long it may be told: until a moment, and only while `head` is checked out."""

    text: str
    until: datetime | None = None
    head: str | None = None


def digest(scope: Scope, now: datetime, *, any_branch: bool = False) -> list[DigestLine]:
    """The lines to tell an assistant that did not ask. `any_branch`: what every branch sees.

    Of what follows the person only what was written here, or confirmed.
    """
    store = scope.store
    if store is None:
        return [DigestLine(text="No repository here: only what follows the person is remembered.")]
    seen = Filter(valid_at=now, undisputed=True)
    if not any_branch:
        seen = replace(seen, anchors=scope.anchors(), shadowed=scope.shadowed())
    counts = store.memories.counts_by_kind(seen)
    commits = store.commits.count()
    known = ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items())) or "nothing yet"
    here = scope.reply()
    first = f"memhub · {here['workspace']}" + (f" on {here['branch']}" if here["branch"] and not any_branch else "")
    told = replace(seen, kinds=TOLD_UNASKED)
    mine = Filter(valid_at=now, undisputed=True, kinds=TOLD_UNASKED, told_in=store.workspace.id)
    return [
        DigestLine(text=f"{first}: {known}; {commits} {'commit' if commits == 1 else 'commits'} indexed."),
        *_lines(scope, store.memories.newest(told, before=None, limit=WORKSPACE_MEMORIES)),
        *_lines(scope, scope.user.memories.newest(mine, before=None, limit=PERSON_MEMORIES)),
    ]


def as_text(lines: Iterable[DigestLine]) -> str:
    """The lines as they are told now."""
    return "\n".join(line.text for line in lines)


def _lines(scope: Scope, memories: Iterable[Memory]) -> Iterable[DigestLine]:
    branch, head = (scope.checkout.branch, scope.checkout.head) if scope.checkout else (None, None)
    for memory in memories:
        text = " ".join(memory.text.split())
        short = text if len(text) <= _CHARACTERS else text[: _CHARACTERS - 1] + "…"
        yours = ", follows the person" if memory.anchor is None and memory.tier == "user" else ""
        # Work of another branch is seen because HEAD has it; another HEAD may not.
        bound = memory.anchor is not None and memory.branch != branch
        yield DigestLine(
            text=f"- {memory.kind} {memory.id} ({memory.created_at:%Y-%m-%d}, {memory.source}{yours}): {short}",
            until=memory.valid_until,
            head=head if bound else None,
        )
