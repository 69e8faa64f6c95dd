"""What a person or an assistant is told about the life of a block of code."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from git_repository import GitRepository

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.domain.replies import ChainReply, HistoryReply
from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import InvalidInput, NotFound
from memhub_mcp.retrieval.packing import estimate_tokens
from memhub_mcp.service.hub import Hub
from memhub_mcp.settings import load_settings


class Asker:
    """An assistant that stands in a repository."""

    def __init__(self, hub: Hub, root: Path) -> None:
        self.hub = hub
        self.caller = Caller(source="test", cwd=root, roots=(root,))

    def ask(self, **question: Any) -> HistoryReply:
        return self.hub.history.code_history(self.caller, **question)

    def chain(self, **question: Any) -> ChainReply:
        chains = self.ask(**question)["chains"]
        assert len(chains) == 1, chains
        return chains[0]

    def index(self) -> None:
        self.hub.indexing.index(self.hub.scopes.resolve(self.caller))


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    return GitRepository.create(tmp_path / "repository")


@pytest.fixture(params=["indexed", "not indexed yet"])
def asker(request: pytest.FixtureRequest, tmp_path: Path, repo: GitRepository) -> Iterator[Asker]:
    hub = open_hub(load_settings(home=tmp_path / "home", environ={}, cwd=tmp_path))
    asker = Asker(hub, repo.root)
    if request.param == "indexed":
        answer = asker.ask

        def indexed(**question: Any) -> HistoryReply:
            asker.index()
            return answer(**question)

        asker.ask = indexed
    yield asker
    hub.close()


def module(**bodies: str) -> str:
    return "".join(f"def {name}():\n    {body}\n\n\n" for name, body in bodies.items())


def brief(chain: ChainReply) -> list[tuple[Any, ...]]:
    return [(version["version"], version["kind"], version.get("commit")) for version in chain["versions"]]


def short(*shas: str) -> list[str]:
    return [sha[:12] for sha in shas]


def test_a_function_that_came_back_names_what_was_thrown_away(repo: GitRepository, asker: Asker) -> None:
    kept = "return wait(30)"
    first = repo.commit("Wait half a minute", {"src/app.py": module(start="pass", send=kept)})
    tried = repo.commit("Retry with backoff", {"src/app.py": module(start="pass", send="return backoff(5, 2.0)")})
    repo.commit("Unrelated", {"src/app.py": module(start="go()", send="return backoff(5, 2.0)")})
    back = repo.commit("Back to plain waiting", {"src/app.py": module(start="go()", send=kept)})
    chain = asker.chain(path="src/app.py", symbol="send")
    assert chain.get("symbol") == "send"
    assert brief(chain) == [
        (1, "add", first[:12]),
        (2, "modify", tried[:12]),
        (3, "modify", back[:12]),
    ]
    oldest, thrown_away, current = chain["versions"]
    assert current["same_as"] == 1
    assert current["current"]
    assert thrown_away["reverted_by"] == 3
    assert "+    return backoff(5, 2.0)" in thrown_away["code"]
    assert thrown_away["subject"] == "Retry with backoff"
    assert (oldest["author"], oldest["lines"]) == ("Ada", "5-6")


def test_a_line_stands_for_the_function_around_it(repo: GitRepository, asker: Asker) -> None:
    repo.commit("one", {"app.py": module(first="pass", second="return 1")})
    second = repo.commit("two", {"app.py": module(first="pass", second="return 2")})
    chain = asker.chain(path="app.py", line=6)
    assert chain.get("symbol") == "second"
    assert chain["versions"][-1]["commit"] == second[:12]
    assert asker.chain(path="app.py:6").get("symbol") == "second"
    assert asker.chain(path="app.py:second").get("symbol") == "second"


def test_a_range_of_lines_needs_no_parser(repo: GitRepository, asker: Asker) -> None:
    repo.commit("one", {"notes.txt": "a\nb\nc\nd\n"})
    changed = repo.commit("two", {"notes.txt": "a\nb\nC\nd\n"})
    assert [version["commit"] for version in asker.chain(path="notes.txt", line=(3, 4))["versions"]][-1] == changed[:12]
    assert len(asker.chain(path="notes.txt", line=(1, 2))["versions"]) == 1


def test_a_file_tells_all_its_versions_across_a_rename(repo: GitRepository, asker: Asker) -> None:
    body = module(first="pass", second="return 1", third="return 3")
    first = repo.commit("one", {"old name.py": body})
    repo.git("mv", "old name.py", "ünï.py")
    repo.commit("rename")
    third = repo.commit("three", {"ünï.py": body.replace("return 1", "return 2")})
    chain = asker.chain(path="ünï.py")
    assert [version["commit"] for version in chain["versions"]] == short(first, third)
    assert chain["versions"][0]["path"] == "old name.py"


def test_what_is_not_committed_is_the_current_version(repo: GitRepository, asker: Asker) -> None:
    repo.commit("one", {"app.py": module(first="pass", second="return 1")})
    repo.write("app.py", module(first="pass", new="pass", second="return 'not yet'"))
    chain = asker.chain(path="app.py", symbol="second")
    assert [version.get("uncommitted", False) for version in chain["versions"]] == [False, True]
    assert chain["versions"][1]["current"]
    assert "current" not in chain["versions"][0]
    assert "+    return 'not yet'" in chain["versions"][1]["code"]
    untouched = asker.chain(path="app.py", symbol="first")
    assert [version.get("uncommitted", False) for version in untouched["versions"]] == [False]
    assert untouched["versions"][0]["current"]
    new = asker.chain(path="app.py", symbol="new")
    assert [(version["kind"], version["uncommitted"]) for version in new["versions"]] == [("add", True)]


def test_a_branch_tells_its_own_story(repo: GitRepository, asker: Asker) -> None:
    repo.commit("base", {"app.py": module(first="return 0")})
    repo.git("checkout", "-q", "-b", "side")
    side = repo.commit("on the side", {"app.py": module(first="return 'side'")})
    repo.git("checkout", "-q", "main")
    main = repo.commit("on main", {"app.py": module(first="return 'main'")})
    assert asker.chain(path="app.py", symbol="first")["versions"][-1]["commit"] == main[:12]
    assert asker.chain(path="app.py", symbol="first", branch="side")["versions"][-1]["commit"] == side[:12]
    everywhere = asker.chain(path="app.py", symbol="first", branch="*")["versions"]
    assert {version["commit"]: version.get("branch") for version in everywhere if version["version"] > 1} == {
        side[:12]: "side",
        main[:12]: None,
    }
    with pytest.raises(InvalidInput, match="did you mean side"):
        asker.ask(path="app.py", branch="sid")


def test_a_commit_tells_what_it_changed(repo: GitRepository, asker: Asker) -> None:
    repo.commit("base", {"a.py": module(first="return 0"), "b.py": "b\n"})
    sha = repo.commit("Change both\n\nBecause of the incident.", {"a.py": module(first="return 1"), "b.py": "B\n"})
    reply = asker.ask(commit=sha[:9])
    assert [chain["path"] for chain in reply["chains"]] == ["a.py", "b.py"]
    assert "+    return 1" in reply["chains"][0]["versions"][0]["code"]
    assert reply["chains"][0].get("notes") == ["Because of the incident."]
    assert [chain["path"] for chain in asker.ask(commit=sha, path="b.py")["chains"]] == ["b.py"]
    unknown = asker.ask(commit="0123456789ab")
    assert unknown["nothing_relevant"]
    assert "no commit" in unknown.get("notes", [""])[0]


def test_an_unknown_path_is_met_with_the_nearest_one(repo: GitRepository, asker: Asker) -> None:
    repo.commit("base", {"src/client.py": module(send="pass")})
    asker.index()
    reply = asker.ask(path="src/cleint.py")
    assert reply["nothing_relevant"]
    assert "did you mean src/client.py" in reply.get("notes", [""])[0]
    reply = asker.ask(path="src/client.py", symbol="sned")
    assert reply["nothing_relevant"]
    assert "did you mean send" in reply.get("notes", [""])[0]


def test_overloads_are_told_apart(repo: GitRepository, asker: Asker) -> None:
    java = "class Gson {\n  int parse(int a) {\n    return 1;\n  }\n\n  int parse(String a) {\n    return 2;\n  }\n}\n"
    repo.commit("one", {"Gson.java": java})
    repo.commit("two", {"Gson.java": java.replace("return 2", "return 3")})
    chains = asker.ask(path="Gson.java", symbol="Gson.parse")["chains"]
    assert [(chain.get("symbol"), len(chain["versions"])) for chain in chains] == [
        ("Gson.parse(int a)", 1),
        ("Gson.parse(String a)", 2),
    ]


def test_a_reply_stays_within_its_budget(repo: GitRepository, asker: Asker) -> None:
    for number in range(40):
        lines = "\n    ".join(f"value_{number}_{line} = compute({line})" for line in range(30))
        repo.commit(f"version {number} " + "with a long subject " * 5, {"app.py": module(busy=lines)})
    for budget in (300, 1_000, 4_000):
        reply = asker.ask(path="app.py", symbol="busy", limit=50, budget_tokens=budget)
        assert estimate_tokens(json.dumps(reply, ensure_ascii=False)) <= budget * 1.1
        assert reply["chains"][0]["versions"][-1]["current"]


def test_secrets_stay_out_of_replies(repo: GitRepository, asker: Asker) -> None:
    key = (
        "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEAtest0123456789\n" * 6 + "-----END RSA PRIVATE KEY-----\n"
    )
    repo.commit("one", {"deploy.txt": "first\n" + key + "last\n", ".env": "TOKEN=abcdefghijklmnop\n"})
    for question in ({"path": "deploy.txt"}, {"path": "deploy.txt", "line": (4, 6)}, {"path": ".env"}):
        assert "MIIEow" not in json.dumps(asker.ask(**question))
        assert "abcdefgh" not in json.dumps(asker.ask(**question))


def test_paths_outside_the_repository_are_refused(repo: GitRepository, asker: Asker) -> None:
    repo.commit("one", {"a.py": "a\n"})
    for path in ("../secret", "/etc/passwd", ".git/config", "a/../../b", "C:/x", "a\0b", "."):
        with pytest.raises(InvalidInput):
            asker.ask(path=path)
    assert asker.ask(path=str(repo.root / "a.py"))["chains"]
    (repo.root / "link").symlink_to("/etc/passwd")
    assert asker.ask(path="link")["nothing_relevant"]


def test_a_question_must_be_one(repo: GitRepository, asker: Asker, tmp_path: Path) -> None:
    repo.commit("one", {"a.py": "a\n"})
    for question in (
        {},
        {"line": 3},
        {"path": ""},
        {"query": "x" * 5_000},
        {"commit": "zz"},
        {"query": "a\0"},
        {"path": "\udc80"},
    ):
        with pytest.raises(InvalidInput):
            asker.ask(**question)
    with pytest.raises(NotFound):
        asker.hub.history.code_history(Caller(source="test", cwd=tmp_path), path="a.py")


@pytest.fixture
def indexed(tmp_path: Path, repo: GitRepository) -> Iterator[Asker]:
    hub = open_hub(load_settings(home=tmp_path / "home", environ={}, cwd=tmp_path))
    yield Asker(hub, repo.root)
    hub.close()


def test_head_is_a_commit_by_its_name(repo: GitRepository, asker: Asker) -> None:
    repo.commit("the latest", {"late.py": "late = True\n"})
    assert asker.ask(commit="HEAD")["chains"] == asker.ask(commit=repo.head())["chains"]
    assert asker.ask(commit="HEAD")["chains"]


def test_words_find_commits_and_where_they_struck(repo: GitRepository, indexed: Asker) -> None:
    repo.commit("Add a client", {"src/client.py": module(send="return 1"), "docs/a.md": "text\n"})
    sha = repo.commit(
        "Raise the retry limit", {"src/client.py": module(send="return RETRY_LIMIT"), "docs/a.md": "more\n"}
    )
    indexed.index()
    chain = indexed.chain(query="retry limit")
    assert chain["path"] == "src/client.py"
    assert chain["versions"][0]["commit"] == sha[:12]
    assert "+    return RETRY_LIMIT" in chain["versions"][0]["code"]
    assert indexed.ask(query="zebra telescope")["nothing_relevant"]


def test_code_that_was_removed_tells_until_its_end(repo: GitRepository, indexed: Asker) -> None:
    first = repo.commit("one", {"a.py": module(kept="pass", dropped="return 1"), "b.py": "b\n"})
    grown = repo.commit("two", {"a.py": module(kept="pass", dropped="return 2")})
    gone = repo.commit("three", {"a.py": module(kept="pass")})
    indexed.index()
    chain = indexed.chain(path="a.py", symbol="dropped")
    assert brief(chain) == [(1, "add", first[:12]), (2, "modify", grown[:12]), (3, "delete", gone[:12])]
    assert not any(version.get("current") for version in chain["versions"])
    removed = repo.commit("four", {"b.py": None})
    indexed.index()
    assert brief(indexed.chain(path="b.py"))[-1] == (2, "delete", removed[:12])
    repo.git("mv", "a.py", "c.py")
    repo.commit("five")
    indexed.index()
    reply = indexed.ask(path="a.py", symbol="kept")
    assert reply["chains"][0]["path"] == "c.py"
    assert "the file is now c.py" in reply.get("notes", [])


def test_a_rebased_commit_is_known_by_its_copy(repo: GitRepository, indexed: Asker) -> None:
    repo.commit("base", {"a.py": module(first="pass", second="pass")})
    repo.git("checkout", "-q", "-b", "work")
    original = repo.commit("work", {"a.py": module(first="return 1", second="pass")})
    indexed.index()
    repo.git("checkout", "-q", "main")
    repo.commit("meanwhile", {"b.py": "b\n"})
    repo.git("checkout", "-q", "work")
    repo.git("rebase", "-q", "main")
    indexed.index()
    copy = repo.head()
    assert copy != original
    assert f"the same change is {copy[:12]} here" in " ".join(indexed.ask(commit=original).get("notes", []))


def test_a_memory_leads_to_the_code_it_names(repo: GitRepository, indexed: Asker) -> None:
    repo.commit("one", {"a.py": module(first="pass", second="pass")})
    changed = repo.commit("two", {"a.py": module(first="return 1", second="pass")})
    indexed.index()
    kept = indexed.hub.memories.remember(
        indexed.caller, [{"text": "first answers one since the incident", "files": ["a.py"], "symbols": ["first"]}]
    )
    chain = indexed.chain(memory=kept["results"][0]["id"])
    assert chain.get("symbol") == "first"
    assert chain["versions"][-1]["commit"] == changed[:12]
    assert indexed.ask(memory="m_unknown")["nothing_relevant"]


def test_a_symbol_is_found_without_its_file(repo: GitRepository, indexed: Asker) -> None:
    repo.commit("one", {"src/deep/client.py": module(send_everything="pass")})
    indexed.index()
    assert indexed.chain(symbol="send_everything")["path"] == "src/deep/client.py"
    assert indexed.ask(symbol="send_nothing_at_all")["nothing_relevant"]


def test_a_binary_file_lists_its_commits(repo: GitRepository, indexed: Asker) -> None:
    first = repo.commit("Add the logo", {"logo.png": b"\x89PNG\0\1"})
    second = repo.commit("Redraw the logo", {"logo.png": b"\x89PNG\0\2"})
    back = repo.commit("The old one was better", {"logo.png": b"\x89PNG\0\1"})
    indexed.index()
    chain = indexed.chain(path="logo.png")
    assert brief(chain) == [(1, "add", first[:12]), (2, "modify", second[:12]), (3, "modify", back[:12])]
    assert chain["versions"][2]["same_as"] == 1
    assert "binary" in chain.get("notes", [""])[0]


def test_what_was_erased_is_not_shown_again(repo: GitRepository, indexed: Asker) -> None:
    repo.commit("start", {"a.py": module(send="return 1")})
    marked = repo.commit("Use the marker-7788", {"a.py": module(send="return 'marker-7788'")})
    without = repo.commit("without it", {"a.py": module(send="return 2")})
    indexed.index()
    reply = indexed.hub.memories.forget(indexed.caller, [marked[:12]])
    [line] = reply["memories"]
    assert (line["id"], line["kind"], line["preview"]) == (marked, "commit", "Use the marker-7788")
    assert any(without in note for note in reply.get("notes", []))  # it holds what it removed
    indexed.hub.memories.forget(indexed.caller, [marked[:12], without], confirm=True)
    assert not indexed.hub.memories.recall(indexed.caller, "marker-7788")["hits"]
    assert "marker-7788" not in json.dumps(indexed.ask(path="a.py", symbol="send"))
