"""Memories say what became of the code they name."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from git_repository import GitRepository

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.domain.scope import Caller
from memhub_mcp.retrieval.packing import estimate_tokens
from memhub_mcp.service.hub import Hub
from memhub_mcp.settings import load_settings


class Desk:
    """An assistant that remembers things about a repository."""

    def __init__(self, hub: Hub, repo: GitRepository) -> None:
        self.hub = hub
        self.caller = Caller(source="test", cwd=repo.root, roots=(repo.root,))

    def remember(self, text: str, **fields: Any) -> str:
        return self.hub.memories.remember(self.caller, [{"text": text, **fields}])["results"][0]["id"]

    def state(self, memory_id: str) -> str | None:
        self.hub.indexing.index(self.hub.scopes.resolve(self.caller))
        return self.hub.memories.get(self.caller, [memory_id])["memories"][0].get("state")


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    return GitRepository.create(tmp_path / "repository")


@pytest.fixture
def desk(tmp_path: Path, repo: GitRepository) -> Iterator[Desk]:
    hub = open_hub(load_settings(home=tmp_path / "home", environ={}, cwd=tmp_path))
    yield Desk(hub, repo)
    hub.close()


def module(**bodies: str) -> str:
    return "".join(f"def {name}():\n    {body}\n\n\n" for name, body in bodies.items())


def test_only_the_symbol_that_is_named_counts(repo: GitRepository, desk: Desk) -> None:
    told = repo.commit("start", {"app.py": module(send="return 1", stop="pass")})
    memory = desk.remember("send answers one", files=["app.py"], symbols=["send"])
    whole = desk.remember("app.py holds the client", files=["app.py"])
    assert (desk.state(memory), desk.state(whole)) == ("unchanged", "unchanged")
    repo.commit("elsewhere", {"app.py": "# note\n" * 30 + module(send="return 1", stop="halt()")})
    assert desk.state(memory) == "unchanged"
    assert desk.state(whole) == f"changed since {told[:12]}"
    repo.commit("here", {"app.py": "# note\n" * 30 + module(send="return 2", stop="halt()")})
    assert desk.state(memory) == f"changed since {told[:12]}"
    repo.commit("gone", {"app.py": "# note\n" * 30 + module(stop="halt()")})
    assert desk.state(memory) == "gone"


def test_what_describes_a_symbol_counts(repo: GitRepository, desk: Desk) -> None:
    code = 'class A {\n    @Get("/old")\n    void send() {\n    }\n}\n'
    told = repo.commit("start", {"A.java": code})
    memory = desk.remember("send answers at /old", files=["A.java"], symbols=["A.send"])
    repo.commit("elsewhere", {"A.java": f"// a note\n{code}"})
    assert desk.state(memory) == "unchanged"
    repo.commit("another route", {"A.java": code.replace("/old", "/new")})
    assert desk.state(memory) == f"changed since {told[:12]}"


def test_a_file_that_moved_or_went_is_told(repo: GitRepository, desk: Desk) -> None:
    repo.commit("start", {"old.py": module(send="return 1", stop="pass"), "b.py": "b\n" * 9})
    memory = desk.remember("the client", files=["old.py"])
    repo.git("mv", "old.py", "newer.py")
    repo.commit("move")
    assert desk.state(memory) == "moved to newer.py"
    repo.git("mv", "newer.py", "newest.py")
    repo.commit("move again")
    assert desk.state(memory) == "moved to newest.py"
    repo.commit("remove", {"newest.py": None})
    assert desk.state(memory) == "gone"


def test_the_working_tree_counts(repo: GitRepository, desk: Desk) -> None:
    repo.commit("start", {"app.py": module(send="return 1")})
    memory = desk.remember("send answers one", files=["app.py"], symbols=["send"])
    repo.write("app.py", module(send="return 'edited'"))
    state = desk.state(memory)
    assert state is not None
    assert state.startswith("changed since")
    repo.write("app.py", module(send="return 1").replace("\n", "\r\n"))
    assert desk.state(memory) == "unchanged", "line ends of the platform are no change"


def test_a_memory_without_code_has_no_state(repo: GitRepository, desk: Desk) -> None:
    repo.commit("start", {"app.py": module(send="return 1")})
    assert desk.state(desk.remember("deploys go through the blue-green script")) is None
    assert desk.state(desk.remember("not here", files=["nowhere.py"])) is None


def test_recall_shows_the_chain_of_the_code_a_hit_names(repo: GitRepository, desk: Desk) -> None:
    for number in range(6):
        repo.commit(f"change {number}", {"app.py": module(send=f"return {number}", stop=f"wait({number})")})
    desk.hub.indexing.index(desk.hub.scopes.resolve(desk.caller))
    desk.remember("the retry limit lives in send", files=["app.py"], symbols=["send"])
    desk.remember("the retry limit is waited for in stop", files=["app.py"], symbols=["stop"])
    desk.remember("the retry limit is described in the guide", files=["guide.md"])
    reply = desk.hub.memories.recall(desk.caller, "where is the retry limit?", limit=8)
    chains = {hit["chain"].get("symbol"): hit["chain"] for hit in reply["hits"] if "chain" in hit}
    assert chains.keys() == {"send", "stop"}
    last = chains["send"]["versions"][-1]
    assert (last["commit"], last["current"]) == (repo.head()[:12], True)
    assert {hit.get("state") for hit in reply["hits"] if "chain" in hit} == {"unchanged"}
    for budget in (250, 500):
        small = desk.hub.memories.recall(desk.caller, "where is the retry limit?", limit=8, budget_tokens=budget)
        assert estimate_tokens(json.dumps(small, ensure_ascii=False)) <= budget * 1.1


def test_recall_attaches_two_chains_at_most(repo: GitRepository, desk: Desk) -> None:
    names = ("send", "stop", "pause", "go")
    for number in range(3):
        repo.commit(f"change {number}", {"app.py": module(**dict.fromkeys(names, f"return {number}"))})
    for name in names:
        desk.remember(f"the retry limit counts in {name}", files=["app.py"], symbols=[name])
    hits = desk.hub.memories.recall(desk.caller, "where does the retry limit count?", limit=8)["hits"]
    assert sum(hit["type"] == "memory" for hit in hits) > 2
    assert sum("chain" in hit for hit in hits) == 2
