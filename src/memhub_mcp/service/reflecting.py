"""What a repository's memory holds for an assistant that looks it over: to begin there, or to put it in order.

No model of ours reads it: the evidence is chosen by rule, and the assistant concludes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations

from rapidfuzz import fuzz

from memhub_mcp.domain.hit import MemoryHit
from memhub_mcp.domain.memory import TOLD_UNASKED, Filter, Kind, Memory, Status
from memhub_mcp.retrieval.packing import PREVIEW_CHARACTERS, estimate_tokens
from memhub_mcp.retrieval.previews import preview
from memhub_mcp.service.code_state import UNCHANGED, CodeState
from memhub_mcp.service.overview import overview
from memhub_mcp.service.remembering import SIMILAR_RATIO
from memhub_mcp.service.scope import Scope
from memhub_mcp.store.file import Store
from memhub_mcp.store.overview import newest_messages

ONBOARD_TOKENS = 1_500
REFLECT_TOKENS = 3_000
_LANDED = 12
_KNOWN = 15
_LOOKED_AT = 200  # of the newest memories, for what changed and for near copies
_COMPARED_CHARACTERS = 1_000
_A_GROUP = 8
_TOLD_APART = frozenset({Kind.EXPERIENCE, Kind.SUMMARY})


def onboarding(scope: Scope, now: datetime) -> str:
    """What is known of a repository before anybody surveyed it: its history in figures, and what is stored already."""
    found = overview(scope)
    store = scope.store
    if store is None:
        return "There is no repository here; what is stored follows the person."
    facts = [f"{scope.reply()['workspace']}: {found.commits} commits indexed, {found.memories} memories stored."]
    if found.span is not None:
        facts[0] += f" First commit {found.span[0]:%Y-%m-%d}, latest {found.span[1]:%Y-%m-%d}."
    if found.busiest:
        busiest = ", ".join(f"{path} {number}" for path, number in found.busiest)
        facts.append(f"Changed most, with how many commits: {busiest}.")
    landed = [f"- {message.partition(chr(10))[0]}" for message in newest_messages(store.db, _LANDED)]
    known = store.memories.newest(_seen(scope, now), before=None, limit=_KNOWN)
    groups = [
        ("Landed last:", landed),
        ("Stored already, newest first:", [_line(memory) for memory in known]),
    ]
    return _within(ONBOARD_TOKENS, "\n".join(facts), groups)


def reflection(scope: Scope, code: CodeState, now: datetime, about: Sequence[MemoryHit]) -> str:
    """The memories that deserve a second look here, each once, under the reason. `about` come first."""
    shown: set[str] = set()
    groups = [
        (title, [look.line for look in _unseen(looks, shown)])
        for title, looks in (
            ("About what was asked:", (_Look(hit.memory) for hit in about)),
            ("Judged wrong or outdated more often than useful:", _judged(scope, now)),
            ("Their code changed since:", _changed(scope, code, now)),
            ("Past their end:", _expired(scope, now)),
            ("Nearly the same:", _copies(scope, now)),
            ("Superseded lately; is anything lost?", _superseded(scope)),
            ("Recent experiences and sessions:", _experiences(scope, now)),
        )
    ]
    if not any(lines for _, lines in groups):
        return "Nothing is stored here that needs a second look."
    return _within(REFLECT_TOKENS, "", groups)


@dataclass(frozen=True, slots=True)
class _Look:
    """A memory, and why it is looked at again."""

    memory: Memory
    why: str = ""

    @property
    def line(self) -> str:
        return _line(self.memory, self.why)


def _judged(scope: Scope, now: datetime) -> Iterator[_Look]:
    for store, seen in _places(scope, now):
        for memory in store.memories.disputed(seen, _A_GROUP):
            yield _Look(memory, f"wrong {memory.wrong}, outdated {memory.outdated}, useful {memory.useful}")


def _changed(scope: Scope, code: CodeState, now: datetime) -> Iterator[_Look]:
    memories = [memory for memory in _newest(scope, now) if memory.files]
    states = code.states(scope, memories)
    for memory in memories:
        state = states.get(memory.id, UNCHANGED)
        if state != UNCHANGED:
            yield _Look(memory, f"{', '.join(memory.files[:3])}: {state}")


def _expired(scope: Scope, now: datetime) -> Iterator[_Look]:
    for store, seen in _places(scope, now):
        for memory in store.memories.newest(replace(seen, valid_at=None), before=None, limit=_LOOKED_AT):
            if memory.is_expired(now) and memory.valid_until is not None:
                yield _Look(memory, f"until {memory.valid_until:%Y-%m-%d}")


def _copies(scope: Scope, now: datetime) -> Iterator[_Look]:
    texts = [(memory, memory.text[:_COMPARED_CHARACTERS]) for memory in _newest(scope, now)]
    for (one, text), (other, same) in combinations(texts, 2):
        if one.kind not in _TOLD_APART and fuzz.token_set_ratio(text, same, score_cutoff=SIMILAR_RATIO):
            yield _Look(one, f"like {other.id}")
            yield _Look(other, f"like {one.id}")


def _superseded(scope: Scope) -> Iterator[_Look]:
    store = scope.store or scope.user
    old = Filter(anchors=scope.anchors(), statuses=frozenset({Status.SUPERSEDED}), kinds=TOLD_UNASKED)
    for memory in store.memories.newest(old, before=None, limit=_A_GROUP):
        links = store.memories.links(memory.seq)
        by = [other for relation, direction, other in links if (relation, direction) == ("supersedes", "in")]
        yield _Look(memory, f"superseded by {by[-1]}" if by else "superseded")


def _experiences(scope: Scope, now: datetime) -> Iterator[_Look]:
    for store, seen in _places(scope, now):
        narrowed = replace(seen, kinds=_TOLD_APART)
        yield from map(_Look, store.memories.newest(narrowed, before=None, limit=_A_GROUP))


def _newest(scope: Scope, now: datetime) -> list[Memory]:
    """The newest memories of the workspace, or of the person where there is none."""
    store, seen = _places(scope, now)[0]
    return store.memories.newest(seen, before=None, limit=_LOOKED_AT)


def _places(scope: Scope, now: datetime) -> list[tuple[Store, Filter]]:
    """Where to look and what is seen: of what follows the person, in a workspace only what belongs to it."""
    if scope.store is None:
        return [(scope.user, Filter(valid_at=now, kinds=TOLD_UNASKED))]
    mine = Filter(valid_at=now, kinds=TOLD_UNASKED, told_in=scope.store.workspace.id)
    return [(scope.store, _seen(scope, now)), (scope.user, mine)]


def _seen(scope: Scope, now: datetime) -> Filter:
    return Filter(valid_at=now, kinds=TOLD_UNASKED, anchors=scope.anchors(), shadowed=scope.shadowed())


def _unseen(looks: Iterable[_Look], shown: set[str]) -> Iterator[_Look]:
    """The first looks at memories that stand under no other reason."""
    taken = 0
    for look in looks:
        if taken == _A_GROUP:
            return
        if look.memory.id not in shown:
            shown.add(look.memory.id)
            taken += 1
            yield look


def _line(memory: Memory, why: str = "") -> str:
    full = f"{memory.text} → {memory.solution}" if memory.solution else memory.text
    text = preview(" ".join(full.split()), frozenset(), PREVIEW_CHARACTERS)
    about = [f"{memory.created_at:%Y-%m-%d}", memory.source, memory.branch, why]
    subject = f" [{memory.subject}]" if memory.subject else ""
    return f"- {memory.kind} {memory.id} ({', '.join(part for part in about if part)}){subject}: {text}"


def _within(tokens: int, head: str, groups: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Head and groups as text; lines that do not fit are counted at the end."""
    out = [head] if head else []
    room = tokens - estimate_tokens(head)
    left_out = 0
    for title, lines in groups:
        kept: list[str] = []
        for line in lines:
            cost = estimate_tokens(line)
            if cost <= room:
                room -= cost
                kept.append(line)
            else:
                left_out += 1
        if kept:
            out.append("\n".join([title, *kept]))
    if left_out:
        out.append(f"{left_out} more did not fit; recall finds them")
    return "\n\n".join(out)
