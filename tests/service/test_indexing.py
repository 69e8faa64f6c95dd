"""Commits can be found after indexing, however often it was interrupted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from git_repository import GitRepository

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.domain.scope import Caller
from memhub_mcp.retrieval.terms import query_terms
from memhub_mcp.service.hub import Hub
from memhub_mcp.service.scope import Scope
from memhub_mcp.settings import load_settings


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    return GitRepository.create(tmp_path / "repository")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    hub = open_hub(load_settings(home=tmp_path / "home", environ={}, cwd=tmp_path))
    yield hub
    hub.close()


def scope_of(hub: Hub, repo: GitRepository) -> Scope:
    return hub.scopes.resolve(Caller(source="test", cwd=repo.root, roots=(repo.root,)))


def found(scope: Scope, question: str) -> list[str]:
    assert scope.store is not None
    matches = scope.store.commits.search(query_terms(question), 10)
    commits = scope.store.commits.get_many(match.seq for match in matches)
    return [commits[match.seq].subject for match in matches]


def test_a_commit_is_found_by_its_message_paths_and_changed_names(hub: Hub, repo: GitRepository) -> None:
    repo.commit("Raise the retry limit", {"src/http_client.py": "MAX_RETRIES = 3\n"})
    repo.commit("Add docs", {"docs/guide.md": "hello\n"})
    scope = scope_of(hub, repo)
    report = hub.indexing.index(scope)
    assert (report.added, report.total, report.complete) == (2, 2, True)
    for question in ("retry limit", "http_client", "MAX_RETRIES"):
        assert found(scope, question) == ["Raise the retry limit"]


def test_indexing_goes_on_where_it_was_stopped_and_adds_nothing_twice(hub: Hub, repo: GitRepository) -> None:
    for number in range(130):
        repo.write("a.txt", f"{number}\n")
        repo.commit(f"change {number}")
    scope = scope_of(hub, repo)
    told: list[tuple[int, int | None]] = []
    first = hub.indexing.index(scope, progress=lambda done, total: told.append((done, total)), stop=lambda: True)
    assert not first.complete
    assert 0 < first.added < 130
    assert told == [(first.added, 130)]
    assert found(scope, "change 129")[0] == "change 129", "the newest come first"
    assert not hub.indexing.is_current(scope)
    rest = hub.indexing.index(scope, progress=lambda done, total: told.append((done, total)))
    assert (rest.added, rest.total, rest.complete) == (130 - first.added, 130, True)
    assert told[-1] == (130, 130)
    assert hub.indexing.is_current(scope)
    assert hub.indexing.index(scope).added == 0


def test_new_commits_and_branches_are_followed(hub: Hub, repo: GitRepository) -> None:
    repo.commit("one", {"a": "1\n"})
    hub.indexing.index(scope_of(hub, repo))
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("on the side", {"a": "2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("two", {"b": "2\n"})
    assert not hub.indexing.is_current(scope_of(hub, repo))
    assert hub.indexing.index(scope_of(hub, repo)).added == 2
    repo.git("checkout", "-q", "side")
    assert hub.indexing.is_current(scope_of(hub, repo))


def test_a_rewritten_branch_is_indexed_again(hub: Hub, repo: GitRepository) -> None:
    repo.commit("one", {"a": "1\n"})
    repo.commit("two", {"a": "2\n"})
    hub.indexing.index(scope_of(hub, repo))
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.commit("another two", {"a": "3\n"})
    scope = scope_of(hub, repo)
    assert hub.indexing.index(scope).added == 1
    assert "another two" in found(scope, "another two")


def test_a_shallow_clone_is_told_its_cost_and_completed_later(hub: Hub, repo: GitRepository, tmp_path: Path) -> None:
    for number in range(4):
        repo.commit(f"change {number}", {"a": f"{number}\n"})
    repo.git("clone", "-q", "--depth", "2", f"file://{repo.root}", str(tmp_path / "shallow"))
    clone = GitRepository(tmp_path / "shallow")
    report = hub.indexing.index(scope_of(hub, clone))
    assert (report.added, report.complete) == (2, True)
    assert "shallow" in report.notes[0]
    clone.git("fetch", "-q", "--unshallow")
    scope = scope_of(hub, clone)
    report = hub.indexing.index(scope)
    assert (report.total, report.notes) == (4, ())
    assert scope.store is not None
    edge = scope.store.commits.get(repo.head("HEAD~1"))
    assert edge is not None
    assert edge.changes


def test_nothing_to_index_is_no_error(hub: Hub, tmp_path: Path) -> None:
    empty = GitRepository.create(tmp_path / "empty")
    assert hub.indexing.index(scope_of(hub, empty)).total == 0
    outside = hub.scopes.resolve(Caller(source="test", cwd=tmp_path))
    assert hub.indexing.index(outside).total == 0
