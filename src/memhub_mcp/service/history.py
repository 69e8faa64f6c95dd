"""The use case `code_history`: what a block of code went through, asked by place, commit, memory or words."""

from collections.abc import Sequence
from dataclasses import replace

from memhub_mcp.domain.memory import Memory
from memhub_mcp.domain.replies import HistoryReply
from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import InvalidInput, NotFound, RepoError
from memhub_mcp.repo.tips import branch_tip, branch_tips, full_id
from memhub_mcp.retrieval.packing import FRAME_TOKENS, MAX_BUDGET_TOKENS, estimate_tokens
from memhub_mcp.service.blocks import Lines, find_blocks, near_misses, plain_path
from memhub_mcp.service.chains import build_chain, marked
from memhub_mcp.service.commit_search import describe_commit, describe_hits, words_hits
from memhub_mcp.service.indexing import Indexing
from memhub_mcp.service.maintenance import Maintenance
from memhub_mcp.service.questions import (
    DEFAULT_BUDGET_TOKENS,
    DEFAULT_LIMIT,
    Answer,
    Question,
    Seat,
    did_you_mean,
    find_chains,
)
from memhub_mcp.service.scope import Scope, Scopes
from memhub_mcp.service.showing import show_chain
from memhub_mcp.service.tracing import Tracing
from memhub_mcp.service.versions import Chain

MAX_LIMIT = 50
EVERY_BRANCH = "*"
_MAX_QUERY_CHARACTERS = 4_096
_MIN_BUDGET_TOKENS = 200
_MEMORY_PLACES = 2
_MOST_BRANCHES = 20
_SYMBOL_FILES = 20
_SHORTEST_ID = 4


class History:
    """Answers questions about the history of code. Safe to call from several threads."""

    def __init__(self, *, scopes: Scopes, tracing: Tracing, indexing: Indexing, maintenance: Maintenance) -> None:
        self._scopes = scopes
        self._maintenance = maintenance
        self._indexing = indexing
        self._tracing = tracing

    def code_history(
        self,
        caller: Caller,
        *,
        path: str | None = None,
        symbol: str | None = None,
        line: int | Lines | None = None,
        commit: str | None = None,
        memory: str | None = None,
        query: str | None = None,
        limit: int | None = None,
        budget_tokens: int | None = None,
        branch: str | None = None,
    ) -> HistoryReply:
        """The versions of the code that is meant, oldest first; `line` is one line or a range, counted from 1.

        Raises:
            InvalidInput: nothing was asked, or a value cannot be understood. NotFound: no repository is here.
        """
        question = _read(path, symbol, line, commit, memory, query, limit, budget_tokens, branch)
        self._maintenance.drain()
        scope = self._scopes.resolve(replace(caller, paths=(*caller.paths, path)) if path else caller)
        if scope.checkout is None or scope.store is None:
            raise NotFound("there is no git repository here; call from inside one, or name it with `workspace`")
        answer = Answer(notes=list(scope.notes))
        if scope.checkout.limited is not None:
            answer.notes.append(f"the history cannot be read: {scope.checkout.limited}")
        elif scope.checkout.head is None:
            answer.notes.append("there is no commit yet")
        else:
            self._indexing.catch_up(scope)
            try:
                self._answer(scope, question, answer)
                if not answer.chains and not self._indexing.is_current(scope):
                    answer = self._answer_indexed(scope, question)
            except RepoError as error:
                answer.notes.append(f"the history cannot be read: {error}")
        reply = HistoryReply(chains=answer.chains, nothing_relevant=not answer.chains, scope=scope.reply())
        if answer.notes:
            reply["notes"] = list(dict.fromkeys(answer.notes))
        return reply

    def _answer(self, scope: Scope, question: Question, answer: Answer) -> None:
        seat = self._seat(scope, question.branch)
        if scope.checkout and scope.checkout.shallow:
            answer.notes.append("shallow clone: older versions are not here")
        if question.memory is not None:
            self._by_memory(scope, seat, question, answer)
        elif question.commit is not None:
            self._by_commit(scope, seat, question, answer)
        elif question.path is not None:
            assert scope.checkout is not None
            place = replace(question, path=plain_path(scope.checkout.root, question.path))
            self._by_place(scope, seat, place, answer)
        elif question.symbol is not None:
            self._by_symbol(scope, seat, question, answer)
        else:
            self._by_words(scope, question, answer)

    def _answer_indexed(self, scope: Scope, question: Question) -> Answer:
        """The answer once the index was begun: words, removed code and near misses are known from it alone."""
        self._indexing.catch_up(scope, begin=True)
        answer = Answer(notes=list(scope.notes))
        self._answer(scope, question, answer)
        if not answer.chains and not self._indexing.is_current(scope):
            answer.notes.append("not all commits are indexed yet; `memhub-mcp init` indexes them")
        return answer

    def _seat(self, scope: Scope, branch: str | None) -> Seat:
        checkout = scope.checkout
        assert checkout is not None
        assert checkout.head is not None
        assert scope.store is not None
        edits = scope.store.edits
        if branch in (None, EVERY_BRANCH, checkout.branch):
            viewed = None if branch == EVERY_BRANCH else checkout.branch
            return Seat(self._tracing.history(scope, checkout.head), checkout.head, checkout.root, edits, viewed)
        tip = branch_tip(checkout.root, branch)
        if tip is None:
            names = near_misses(branch, list(branch_tips(checkout.root)))
            raise InvalidInput(f"no branch {branch[:100]!r} here; {did_you_mean(names)}")
        return Seat(self._tracing.history(scope, tip), tip, None, edits, branch)

    def _by_place(self, scope: Scope, seat: Seat, question: Question, answer: Answer) -> None:
        chains, question = find_chains(seat, question, answer)
        if question.branch == EVERY_BRANCH:
            chains = [self._everywhere(scope, seat, question, chain) for chain in chains]
        self._show(seat, question, chains, answer)

    def _show(self, seat: Seat, question: Question, chains: Sequence[Chain], answer: Answer) -> None:
        room = question.budget_tokens - FRAME_TOKENS
        for number, chain in enumerate(chain for chain in chains if chain.versions):
            share = room // (len(chains) - number)
            reply, spent = show_chain(
                seat.history, chain, limit=question.limit, budget_tokens=share, terms=question.terms
            )
            answer.chains.append(reply)
            room -= spent

    def _everywhere(self, scope: Scope, seat: Seat, question: Question, chain: Chain) -> Chain:
        """The chain with the versions that only other branches have."""
        assert scope.checkout is not None
        versions = list(chain.versions)
        known = {version.commit for version in versions}
        for name, tip in list(branch_tips(scope.checkout.root).items())[:_MOST_BRANCHES]:
            if tip == seat.head:
                continue
            history = self._tracing.history(scope, tip)
            for block in find_blocks(
                history, tip, None, chain.path, symbol=question.symbol, lines=question.lines
            ).blocks:
                for version in build_chain(history, tip, block).versions:
                    if version.commit not in known:
                        known.add(version.commit)
                        versions.append(replace(version, branch=name, current=False))
        committed = sorted((each for each in versions if each.at is not None), key=lambda each: (each.at, each.current))
        return replace(chain, versions=marked([*committed, *(each for each in versions if each.at is None)]))

    def _by_commit(self, scope: Scope, seat: Seat, question: Question, answer: Answer) -> None:
        assert scope.store is not None
        assert scope.checkout is not None
        given = (question.commit or "").strip().lower()
        given = seat.head if given in ("head", "@") else given
        if len(given) < _SHORTEST_ID or not given.isalnum():
            raise InvalidInput(f"{given[:60]!r} is no commit id; give at least {_SHORTEST_ID} of its digits")
        sha = full_id(scope.checkout.root, given)
        commit = scope.store.commits.get(sha or given)
        if commit is None and sha is not None:
            commit = self._tracing.read(scope, sha)
        if commit is None:
            answer.notes.append(f"no commit {given[:60]} is known here")
            return
        path = plain_path(scope.checkout.root, question.path) if question.path else None
        room = question.budget_tokens - FRAME_TOKENS
        for chain in describe_commit(commit, path)[: question.limit]:
            cost = estimate_tokens(str(chain))
            if answer.chains and cost > room:
                answer.notes.append("more files did not fit the budget; name one with path")
                break
            answer.chains.append(chain)
            room -= cost
        self._say_where(seat, commit.sha, answer)

    def _say_where(self, seat: Seat, sha: str, answer: Answer) -> None:
        """A commit that HEAD does not hold may have been rebased, amended or picked."""
        reachable = set(seat.history.history.order(seat.head))
        if sha in reachable:
            return
        twins = [twin for twin in (seat.history.index.twins(sha) if seat.history.index else []) if twin in reachable]
        answer.notes.append(
            f"not part of this branch; the same change is {twins[0][:12]} here" if twins else "not part of this branch"
        )

    def _by_memory(self, scope: Scope, seat: Seat, question: Question, answer: Answer) -> None:
        memory = _memory(scope, question.memory or "")
        if memory is None:
            answer.notes.append(f"no memory {(question.memory or '')[:60]} here")
            return
        for place in _places(memory)[:_MEMORY_PLACES]:
            asked = replace(question, path=place[0], symbol=place[1], budget_tokens=question.budget_tokens // 2)
            self._by_place(scope, seat, asked, answer)
        if not answer.chains:
            answer.notes.append("the memory names no code that is known here")

    def _by_symbol(self, scope: Scope, seat: Seat, question: Question, answer: Answer) -> None:
        """A symbol without a file: looked for in the files of the commits that its words find."""
        assert scope.store is not None
        hits = words_hits(scope.store, question.symbol or "")
        paths = dict.fromkeys(change.path for hit in hits for change in hit.commit.changes)
        for path in list(paths)[:_SYMBOL_FILES]:
            found = find_blocks(seat.history, seat.head, seat.root, path, symbol=question.symbol)
            if found.blocks:
                self._by_place(scope, seat, replace(question, path=path), answer)
                return
        answer.notes.append(f"no symbol {(question.symbol or '')[:80]!r} was found; give its file as path")

    def _by_words(self, scope: Scope, question: Question, answer: Answer) -> None:
        assert scope.store is not None
        hits = words_hits(scope.store, question.query or "")[: question.limit]
        room = question.budget_tokens - FRAME_TOKENS
        for chain in describe_hits(hits, None):
            cost = estimate_tokens(str(chain))
            if answer.chains and cost > room:
                for version in chain["versions"]:
                    version.pop("code", None)
                cost = estimate_tokens(str(chain))
                if cost > room:
                    answer.notes.append("more commits did not fit the budget")
                    break
            answer.chains.append(chain)
            room -= cost


def _read(
    path: str | None,
    symbol: str | None,
    line: int | Lines | None,
    commit: str | None,
    memory: str | None,
    query: str | None,
    limit: int | None,
    budget_tokens: int | None,
    branch: str | None,
) -> Question:
    asked = [value for value in (path, symbol, commit, memory, query) if value and value.strip()]
    if not asked:
        raise InvalidInput("ask with at least one of path, symbol, commit or query")
    if any("\0" in value or not _is_unicode(value) for value in (*asked, branch or "")):
        raise InvalidInput("the question holds a NUL character or half a surrogate pair; leave it out")
    if query and len(query) > _MAX_QUERY_CHARACTERS:
        raise InvalidInput(f"the query has {len(query):,} characters; ask in a few words")
    lines = (line, line) if isinstance(line, int) else line
    if lines is not None and path is None:
        raise InvalidInput("a line needs its file: give path as well")
    return Question(
        path=path or None,
        symbol=symbol or None,
        lines=lines,
        commit=commit or None,
        memory=memory or None,
        query=query or None,
        limit=max(1, min(limit or DEFAULT_LIMIT, MAX_LIMIT)),
        budget_tokens=max(_MIN_BUDGET_TOKENS, min(budget_tokens or DEFAULT_BUDGET_TOKENS, MAX_BUDGET_TOKENS)),
        branch=branch or None,
    )


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _memory(scope: Scope, memory_id: str) -> Memory | None:
    return next((found for store in scope.stores() if (found := store.memories.get(memory_id.strip()))), None)


def _places(memory: Memory) -> list[tuple[str, str | None]]:
    """Each file a memory names with the symbol it names, if any."""
    if not memory.symbols:
        return [(file, None) for file in memory.files]
    return [(file, symbol) for file in memory.files for symbol in memory.symbols]
