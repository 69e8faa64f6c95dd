"""Repositories made to hurt: every question is answered, and other work goes on meanwhile."""

import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from git_repository import GitRepository

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.domain.scope import Caller
from memhub_mcp.service.hub import Hub
from memhub_mcp.settings import load_settings


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    hub = open_hub(load_settings(home=tmp_path / "home", environ={}, cwd=tmp_path))
    yield hub
    hub.close()


def test_hostile_files_have_a_history(tmp_path: Path, hub: Hub) -> None:
    noise = random.Random(0)
    repo = GitRepository.create(tmp_path / "repository")
    files: dict[str, str | bytes | None] = {
        "open.js": "(" * 200_000,
        "deep.py": "(((((((((((((((\n" * 12_000,
        "minified.js": "function a(){return 1};" * 90_000,
        "random.ts": noise.randbytes(300_000),
        "text.ts": bytes(32 + byte % 90 for byte in noise.randbytes(200_000)).replace(b"~", b"\n"),
        "long.txt": "x" * 1_000_000,
        'many\nlines "quoted" é.py': "def send():\n    return 1\n",
        "large.txt": "".join(f"{number}\n" for number in range(1_400_000)),
    }
    repo.commit("one", files)
    changed = {path: f"{text}\nend\n" if isinstance(text, str) else text for path, text in files.items()}
    repo.commit("two", changed)
    caller = Caller(source="test", cwd=repo.root, roots=(repo.root,))
    report = hub.indexing.index(hub.scopes.resolve(caller))
    assert report.complete
    for path in files:
        for question in ({}, {"line": 1}, {"symbol": "send"}):
            reply = hub.history.code_history(caller, path=path, **question)
            assert reply["chains"] or reply.get("notes")
    assert hub.history.code_history(caller, path='many\nlines "quoted" é.py', symbol="send")["chains"]


def test_thousands_of_renames_in_a_commit(tmp_path: Path, hub: Hub) -> None:
    repo = GitRepository.create(tmp_path / "repository")
    repo.commit("add", {f"old/{number}.py": f"def f{number}():\n    return {number}\n" for number in range(2_500)})
    repo.git("mv", "old", "new")
    repo.commit("move")
    edited = repo.commit("edit", {"new/77.py": "def f77():\n    return 'edited'\n"})
    caller = Caller(source="test", cwd=repo.root, roots=(repo.root,))
    hub.indexing.index(hub.scopes.resolve(caller))
    (chain,) = hub.history.code_history(caller, path="new/77.py", symbol="f77")["chains"]
    assert [version["commit"] for version in chain["versions"]] == [repo.head("HEAD~2")[:12], edited[:12]]
    assert chain["versions"][0]["path"] == "old/77.py"


def test_many_threads_ask_while_commits_are_indexed(tmp_path: Path, hub: Hub) -> None:
    repo = GitRepository.create(tmp_path / "repository")
    for number in range(30):
        repo.commit(f"change {number}", {"app.py": f"def send():\n    return {number}\n\n\ndef stop():\n    pass\n"})
    caller = Caller(source="test", cwd=repo.root, roots=(repo.root,))
    answers: list[int] = []

    def ask() -> None:
        for _ in range(5):
            (chain,) = hub.history.code_history(caller, path="app.py", symbol="send", limit=50)["chains"]
            answers.append(chain["versions"][-1]["version"])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    hub.indexing.index(hub.scopes.resolve(caller))
    for thread in threads:
        thread.join()
    assert answers == [30] * 20
