"""Chains as replies show them: what was kept, what was thrown away and why, within a token budget."""

import json
from collections.abc import Sequence, Set
from typing import Any

from memhub_mcp.capture.markers import escape, fence
from memhub_mcp.capture.never_stored import is_never_stored
from memhub_mcp.capture.redact import redact
from memhub_mcp.domain.replies import ChainReply
from memhub_mcp.domain.revision import Spans
from memhub_mcp.repo.contents import Contents, difference
from memhub_mcp.retrieval.packing import estimate_tokens, moment
from memhub_mcp.retrieval.terms import index_terms
from memhub_mcp.service.tracing import BlockHistory
from memhub_mcp.service.versions import Chain, Version

SHORT_SHA = 12
SAID_CHARACTERS = 500
_SUBJECT_CHARACTERS = 120
_MOST_EDITS = 3
_CODE_LINES = 12
_LATEST_CODE_LINES = 40
_CODE_CHARACTERS = 2_000
_LINE_CHARACTERS = 200
_MOST_LINES = 20_000
_KEY_LINES = 64  # a private key that begins above the block is known by its first line


def show_chain(
    history: BlockHistory, chain: Chain, *, limit: int, budget_tokens: int, terms: Set[str] = frozenset()
) -> tuple[ChainReply, int]:
    """The chain within the budget, and what it costs.

    Of a long chain at most `limit` versions are listed. The last, the first, returns, what they undid, and versions
    that hold `terms` come first, and they keep their code as long as there is room; the rest is one line each.
    """
    ranks = _ranks(chain.versions, terms)
    best_first = sorted(range(len(chain.versions)), key=lambda number: (ranks[number], -number))
    chosen: dict[int, dict[str, Any]] = {}
    spent = 0
    for number in best_first[:limit]:
        line = _line(chain, number)
        cost = _tokens(line)
        if chosen and spent + cost > budget_tokens:
            break
        chosen[number] = line
        spent += cost
    for number in (number for number in best_first if number in chosen):
        code = version_code(history, chain.versions[number], latest=number == len(chain.versions) - 1)
        cost = estimate_tokens(code)
        if code and spent + cost <= budget_tokens:
            chosen[number]["code"] = fence(code)
            spent += cost
    reply = ChainReply(path=escape(chain.path), versions=[chosen[number] for number in sorted(chosen)])
    if chain.symbol:
        reply["symbol"] = escape(chain.symbol)
    notes = [escape(note) for note in chain.notes]
    if len(chosen) < len(chain.versions):
        notes.append(f"{len(chain.versions) - len(chosen)} of {len(chain.versions)} versions are left out; raise limit")
    if notes:
        reply["notes"] = notes
    return reply, spent


def version_code(history: BlockHistory, version: Version, *, latest: bool = False) -> str:
    """What a version changed, as a few lines of a difference, redacted. Empty for what is never shown."""
    if version.withheld or is_never_stored(version.path):
        return ""
    revision = version.revision
    if version.lines and version.lines[1] - version.lines[0] > _MOST_LINES:
        return ""
    if revision is None:
        before, after = _redacted(version.before), _redacted(version.after)
    else:
        before = safe_block(history.contents, revision.blob_before, revision.before) if revision.blob_before else []
        after = safe_block(history.contents, revision.blob_after, revision.after)
    return "\n".join(cut(change_lines(before, after), _LATEST_CODE_LINES if latest else _CODE_LINES))


def safe_block(contents: Contents, blob: str, spans: Spans) -> list[str]:
    """The lines of a block without secrets."""
    out: list[str] = []
    for start, end in spans:
        lead = min(_KEY_LINES, start)
        out += _redacted(contents.block(blob, ((start - lead, end),)))[lead:]
    return out


def change_lines(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """A difference without context; `…` stands between its parts."""
    old, new = ("".join(f"{line}\n" for line in lines).encode("utf-8", "replace") for lines in (before, after))
    out: list[str] = []
    for hunk in difference(old, new) or ():
        if out:
            out.append("…")
        first_old, first_new = hunk.old_start - 1, hunk.new_start - 1
        out += [f"-{line}" for line in before[first_old : first_old + hunk.old_lines] if hunk.old_lines]
        out += [f"+{line}" for line in after[first_new : first_new + hunk.new_lines] if hunk.new_lines]
    return out


_LAST, _TOLD, _ASKED, _OTHER = range(4)


def _ranks(versions: Sequence[Version], terms: Set[str]) -> list[int]:
    undone_by = {version.reverted_by for version in versions} | {version.same_as for version in versions}
    ranks: list[int] = []
    for number, version in enumerate(versions):
        rank = _OTHER
        if number in (0, len(versions) - 1):
            rank = _LAST
        elif version.same_as is not None or version.reverted_by is not None or number in undone_by or version.requests:
            rank = _TOLD
        elif terms and terms & set(index_terms(version.subject or "")):
            rank = _ASKED
        ranks.append(rank)
    return ranks


def _line(chain: Chain, number: int) -> dict[str, Any]:
    """A version in one line, empty values left out. Versions are numbered from 1."""
    version = chain.versions[number]
    revision = version.revision
    requests = version.requests
    line: dict[str, Any] = {
        "version": number + 1,
        "kind": version.kind.value,
        "at": moment(version.at) if version.at else None,
        "commit": version.commit[:SHORT_SHA] if version.commit else None,
        "author": escape(version.author) if version.author else None,
        "subject": escape(version.subject or "")[:_SUBJECT_CHARACTERS],
        "said": escape(" / ".join(dict.fromkeys(each.said for each in requests if each.said)))[:SAID_CHARACTERS],
        "source": ", ".join(dict.fromkeys(each.source for each in requests)),
        "edits": [each.edit for each in requests if each.edit][-_MOST_EDITS:],
        "path": escape(version.path) if version.path != chain.path else None,
        "moved_from": escape(revision.old_path)
        if revision and revision.old_path and revision.old_path != revision.path
        else None,
        "lines": "-".join(map(str, version.lines)) if version.lines else None,
        "same_as": version.same_as + 1 if version.same_as is not None else None,
        "reverted_by": version.reverted_by + 1 if version.reverted_by is not None else None,
        "merge": revision.merge if revision else False,
        "branch": version.branch,
        "uncommitted": version.uncommitted,
        "current": version.current,
    }
    return {key: value for key, value in line.items() if value not in (None, "", False, [])}


def cut(lines: Sequence[str], most: int) -> list[str]:
    """The first lines, and how many were left out."""
    shown: list[str] = []
    room = _CODE_CHARACTERS
    for line in lines[:most]:
        shown.append(line if len(line) <= _LINE_CHARACTERS else f"{line[: _LINE_CHARACTERS - 1]}…")
        room -= len(shown[-1])
        if room < 0:
            break
    if len(shown) < len(lines):
        shown.append(f"… {len(lines) - len(shown)} more lines")
    return shown


def _redacted(lines: Sequence[str]) -> list[str]:
    return redact("\n".join(lines)).split("\n") if lines else []


def _tokens(line: dict[str, Any]) -> int:
    return estimate_tokens(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
