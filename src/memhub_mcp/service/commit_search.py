"""Commits that answer a question about code: one by its id, or those whose words bear on it."""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from memhub_mcp.capture.markers import escape, fence
from memhub_mcp.domain.hit import CommitHit
from memhub_mcp.domain.memory import Filter
from memhub_mcp.domain.replies import ChainReply
from memhub_mcp.domain.revision import Commit
from memhub_mcp.retrieval.candidates import commit_hits
from memhub_mcp.retrieval.packing import moment
from memhub_mcp.retrieval.terms import index_terms, parse_query
from memhub_mcp.service.showing import SHORT_SHA, cut
from memhub_mcp.store.file import Store

_CODE_LINES = 14
_SUBJECT_CHARACTERS = 120
_MESSAGE_CHARACTERS = 600
_FILE = re.compile(r"^--- .*\n\+\+\+ .*\n", re.MULTILINE)
_HEADER = re.compile(r"--- (?:a/)?(.*)\n\+\+\+ (?:b/)?(.*)\n")


def describe_commit(commit: Commit, path: str | None) -> list[ChainReply]:
    """One chain of one version for each path the commit changed, or for `path` alone."""
    sections = patch_sections(commit.patch)
    chains: list[ChainReply] = []
    for change in commit.changes:
        if change.parent or (path is not None and path not in (change.path, change.old_path)):
            continue
        version = _version(commit, sections.get(change.path, ""))
        version["kind"] = change.kind.value
        if change.old_path:
            version["moved_from"] = escape(change.old_path)
        if change.binary:
            version["binary"] = True
        chains.append(ChainReply(path=escape(change.path), versions=[version]))
    body = commit.message.partition("\n")[2].strip()
    notes = [escape(body)[:_MESSAGE_CHARACTERS]] if body else []
    if commit.note:
        notes.append(escape(commit.note))
    if chains and notes:
        chains[0]["notes"] = notes
    return chains


def words_hits(store: Store, query: str) -> list[CommitHit]:
    """The commits whose words bear on `query`, best first; none when nothing is relevant."""
    return sorted(commit_hits(parse_query(query), store, Filter(), None), key=lambda hit: -hit.score)


def describe_hits(hits: Iterable[CommitHit], path: str | None) -> list[ChainReply]:
    """The commits found by words, under the path that says most, each path's commits oldest first."""
    by_path: dict[str, list[dict[str, Any]]] = {}
    for hit in hits:
        sections = patch_sections(hit.commit.patch)
        place = path or _telling_path(hit, sections)
        version = _version(hit.commit, sections.get(place, ""))
        by_path.setdefault(place, []).append(version)
    return [
        ChainReply(path=escape(place), versions=sorted(versions, key=lambda version: version["at"]))
        for place, versions in by_path.items()
    ]


def patch_sections(patch: str) -> dict[str, str]:
    """The patch text of each file, without its header, by the path afterwards (before, for a deleted file)."""
    starts = [match.start() for match in _FILE.finditer(patch)] + [len(patch)]
    found: dict[str, str] = {}
    for start, end in pairwise(starts):
        header = _HEADER.match(patch, start)
        if header is not None:
            old, new = header.groups()
            found[old if new == "/dev/null" else new] = patch[header.end() : end]
    return found


def _version(commit: Commit, section: str) -> dict[str, Any]:
    version: dict[str, Any] = {
        "commit": commit.sha[:SHORT_SHA],
        "at": moment(commit.committed_at),
        "author": escape(commit.author),
        "subject": escape(commit.subject)[:_SUBJECT_CHARACTERS],
    }
    if section:
        version["code"] = fence("\n".join(cut(section.rstrip("\n").split("\n"), _CODE_LINES)))
    return version


def _telling_path(hit: CommitHit, sections: Mapping[str, str]) -> str:
    """The path whose name and changed lines hold most of what was asked."""
    paths = [change.path for change in hit.commit.changes if change.parent == 0]
    if not paths:
        return ""

    def held(path: str) -> int:
        return len(hit.evidence.terms & set(index_terms(f"{path}\n{sections.get(path, '')[:8_000]}")))

    return max(paths[:100], key=held)
