"""The history of code: what the commit index says about a path, lines of it, a commit, or words."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from rapidfuzz import process

from memhub_mcp.capture.markers import fence
from memhub_mcp.domain.replies import ChainReply, HistoryReply
from memhub_mcp.domain.revision import Commit, FileChange
from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import InvalidInput, NotFound, ScopeError
from memhub_mcp.retrieval.packing import estimate_tokens
from memhub_mcp.retrieval.terms import query_terms
from memhub_mcp.service.describing import moment
from memhub_mcp.service.scope import Scope, Scopes
from memhub_mcp.store.file import Store

MAX_VERSIONS = 50
DIFF_LINES = 12
DIFF_CHARACTERS = 700
DEFAULT_BUDGET_TOKENS = 2_000
MAX_BUDGET_TOKENS = 8_000
_SHA = re.compile(r"[0-9a-f]{4,64}", re.IGNORECASE)


class History:
    """Answers questions about the history of code."""

    def __init__(self, *, scopes: Scopes) -> None:
        self._scopes = scopes

    def code_history(
        self,
        caller: Caller,
        *,
        path: str | None = None,
        symbol: str | None = None,
        line: int | None = None,
        commit: str | None = None,
        memory: str | None = None,
        query: str | None = None,
        limit: int = 8,
        budget_tokens: int | None = None,
        branch: str | None = None,
    ) -> HistoryReply:
        """The versions of what is asked for, oldest first.

        Raises:
            InvalidInput: nothing was asked for, or a commit id that cannot be one.
            NotFound: no such path or commit in the index; near names are suggested.
            ScopeError: there is no repository here.
        """
        scope = self._scopes.resolve(caller)
        if scope.store is None:
            raise ScopeError("there is no repository here; stand in one or name it with workspace")
        if commit:
            found = [_by_id(scope.store, commit)]
        elif path:
            path = _relative(scope, path)
            found = _by_path(scope.store, path, line)
        elif query or symbol:
            found = _by_words(scope.store, " ".join(filter(None, (symbol, query))), limit)
        else:
            raise InvalidInput("nothing to look up; give path (with line or symbol), commit, or query")
        wanted = max(1, min(limit, MAX_VERSIONS))
        budget = min(budget_tokens or DEFAULT_BUDGET_TOKENS, MAX_BUDGET_TOKENS)
        versions, left_out = _versions(found[:wanted], path, budget)
        chain = ChainReply(path=path or "", versions=versions)
        if left_out or len(found) > wanted:
            chain["notes"] = [
                f"{left_out + len(found[wanted:])} older versions are not shown; raise limit or budget_tokens"
            ]
        reply = HistoryReply(chains=[chain] if versions else [], nothing_relevant=not versions, scope=scope.reply())
        if scope.notes:
            reply["notes"] = list(scope.notes)
        return reply


def _by_id(store: Store, commit: str) -> Commit:
    if not _SHA.fullmatch(commit):
        raise InvalidInput(f"{commit[:40]!r} is no commit id; give 4 to 40 hexadecimal digits")
    found = store.commits.get(commit)
    if found is None:
        raise NotFound(f"no single commit {commit[:40]} in the index; `memhub-mcp init` indexes what is missing")
    return found


def _by_path(store: Store, path: str, line: int | None) -> list[Commit]:
    found = store.commits.by_path(path, MAX_VERSIONS)
    if not found:
        near = [name for name, _, _ in process.extract(path, _paths(store), limit=3, score_cutoff=70)]
        hint = f"; did you mean {', '.join(near)}?" if near else "; `memhub-mcp init` indexes what is missing"
        raise NotFound(f"no commit in the index touched {path[:200]!r}{hint}")
    if line is None:
        return found
    return [commit for commit in found if any(_touches(change, path, line) for change in commit.changes)]


def _by_words(store: Store, words: str, limit: int) -> list[Commit]:
    matches = store.commits.search(query_terms(words), limit)
    commits = store.commits.get_many(match.seq for match in matches)
    return [commits[match.seq] for match in matches if match.seq in commits]


def _paths(store: Store) -> set[str]:
    return {change.path for _, commit in store.commits.walk() for change in commit.changes}


def _touches(change: FileChange, path: str, line: int) -> bool:
    return change.path == path and any(h.new_start <= line <= h.new_start + max(h.new_lines, 1) for h in change.hunks)


def _relative(scope: Scope, path: str) -> str:
    plain = path.replace("\\", "/").removeprefix("./")
    root = f"{scope.checkout.root.as_posix()}/" if scope.checkout else "\0"
    plain = plain.removeprefix(root)
    if plain.startswith("/") or ".." in plain.split("/"):
        raise InvalidInput(f"{path[:200]!r} is outside this repository; give a path below its root")
    return plain


def _versions(commits: Sequence[Commit], path: str | None, budget: int) -> tuple[list[dict[str, Any]], int]:
    """The versions that fit, oldest first, and how many did not."""
    shown: list[dict[str, Any]] = []
    spent = 0
    for commit in commits:
        version = _version(commit, path)
        spent += estimate_tokens(str(version))
        if shown and spent > budget:
            break
        shown.append(version)
    return shown[::-1], len(commits) - len(shown)


def _version(commit: Commit, path: str | None) -> dict[str, Any]:
    return {
        "commit": commit.sha[:12],
        "at": moment(commit.committed_at),
        "author": commit.author,
        "subject": commit.subject[:200],
        "diff": fence(_shortened(_part_of(commit.patch, path))),
    }


def _part_of(patch: str, path: str | None) -> str:
    if path is None:
        return patch
    parts = re.split(r"^(?=--- )", patch, flags=re.MULTILINE)
    mine = [part for part in parts if path in part.partition("\n@@")[0]]
    return "".join(mine) or patch


def _shortened(patch: str) -> str:
    changed = [line for line in patch.splitlines() if line[:1] in "+-" and not line.startswith(("+++", "---"))]
    return "\n".join(_first(changed, DIFF_LINES))[:DIFF_CHARACTERS]


def _first(lines: Iterable[str], count: int) -> list[str]:
    listed = list(lines)
    return listed if len(listed) <= count else [*listed[:count], f"… {len(listed) - count} more lines"]
