"""One repository to which everything happens: the chain of each block, exactly, from each branch."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from git_repository import GitRepository

from memhub_mcp.bootstrap import open_hub
from memhub_mcp.domain.scope import Caller
from memhub_mcp.service.hub import Hub
from memhub_mcp.settings import load_settings

APP, MOVED = "src/app.py", "kern größe/das app.py"
SCRIPT = "src/über uns/Menü.ts"
ABOVE = "".join(f"# note {number}\n" for number in range(40))


def app(above: str = "", start: str = "1", send: str = "1", stop: str = "1", limit: str = "1") -> str:
    return (
        f"{above}import os\n\n\ndef start():\n    os.sync()\n    return {start}\n\n\n"
        f"class Client:\n    name = 'client'\n\n    def send(self):\n        self.wait()\n        return {send}\n\n"
        f"    def stop(self):\n        self.wait()\n        return {stop}\n\n\n"
        f"def limit():\n    os.sync()\n    return {limit}\n"
    )


def script(value: str) -> str:
    return f"export const name = 'menu';\n\nconst handler = (given: number) => {{\n  return given + {value};\n}};\n"


def library(value: str) -> str:
    return f"struct Foo;\n\nimpl Foo {{\n    #[inline]\n    pub fn bar(&self) -> u8 {{\n        {value}\n    }}\n}}\n"


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    hub = open_hub(load_settings(home=tmp_path / "home", environ={}, cwd=tmp_path))
    yield hub
    hub.close()


@pytest.mark.parametrize("indexed", [False, True])
def test_each_chain_is_right_from_each_branch(tmp_path: Path, hub: Hub, *, indexed: bool) -> None:
    repo = GitRepository.create(tmp_path / "repository")
    caller = Caller(source="test", cwd=repo.root, roots=(repo.root,))

    def chain(path: str, symbol: str | None, branch: str = "main") -> list[str]:
        chains = hub.history.code_history(caller, path=path, symbol=symbol, branch=branch, limit=50)["chains"]
        return [version.get("commit", "") for each in chains for version in each["versions"]]

    def short(*shas: str) -> list[str]:
        return [sha[:12] for sha in shas]

    begin = repo.commit(
        "begin",
        {
            APP: app(),
            "other/app.py": app(),
            SCRIPT: script("1"),
            "lib.rs": library("1"),
            "logo.bin": b"\0\1",
            "old.py": "def helper():\n    return 7\n",
        },
    )
    start_2 = repo.commit("start", {APP: app(start="2")})
    send_2 = repo.commit("send", {APP: app(start="2", send="2")})
    repo.commit("forty lines above", {APP: app(ABOVE, "2", "2")})
    stop_2 = repo.commit("stop", {APP: app(ABOVE, "2", "2", "2")})
    limit_2 = repo.commit("limit", {APP: app(ABOVE, "2", "2", "2", "2")})
    send_3 = repo.commit("send again", {APP: app(ABOVE, "2", "3", "2", "2")})
    start_3 = repo.commit("start again", {APP: app(ABOVE, "3", "3", "2", "2")})
    repo.git("revert", "--no-edit", send_3)
    back = repo.head()
    same_name = repo.commit("the same name elsewhere", {"other/app.py": app(send="9")})
    others = repo.commit("script, library, picture", {SCRIPT: script("2"), "lib.rs": library("2"), "logo.bin": b"\0\2"})
    deleted = repo.commit("delete", {"old.py": None})
    (repo.root / MOVED).parent.mkdir()
    repo.git("mv", APP, MOVED)
    repo.commit("rename")
    send_4 = repo.commit("send after the rename", {MOVED: app(ABOVE, "3", "4", "2", "2")})

    repo.git("checkout", "-q", "-b", "side")
    side = repo.commit("send on the side", {MOVED: app(ABOVE, "3", "'side'", "2", "2")})
    repo.git("checkout", "-q", "-b", "work", "main")
    repo.commit("stop at work", {MOVED: app(ABOVE, "3", "4", "'work'", "2")})
    repo.git("checkout", "-q", "main")
    main = repo.commit("send on main", {MOVED: app(ABOVE, "3", "'main'", "2", "2")})
    assert not repo.merge("side")
    merge = repo.commit("resolve", {MOVED: app(ABOVE, "3", "'both'", "2", "2")})
    repo.git("checkout", "-q", "work")
    repo.git("rebase", "-q", "main")
    at_work = repo.head()
    repo.git("checkout", "-q", "main")
    if indexed:
        hub.indexing.index(hub.scopes.resolve(caller))

    sent = (begin, send_2, send_3, back, send_4)
    assert chain(MOVED, "Client.send") == short(*sent, main, side, merge)
    assert chain(MOVED, "Client.send", "side") == short(*sent, side)
    assert chain(MOVED, "Client.send", "work") == short(*sent, main, side, merge)
    for branch in ("main", "side", "work"):
        assert chain(MOVED, "start", branch) == short(begin, start_2, start_3)
        assert chain(MOVED, "limit", branch) == short(begin, limit_2)
        assert chain("other/app.py", "Client.send", branch) == short(begin, same_name)
        assert chain(SCRIPT, "handler", branch) == short(begin, others)
        assert chain("lib.rs", "Foo::bar", branch) == short(begin, others)
    assert chain(MOVED, "Client.stop") == chain(MOVED, "Client.stop", "side") == short(begin, stop_2)
    assert chain(MOVED, "Client.stop", "work") == short(begin, stop_2, at_work)
    assert chain("old.py", "helper") == short(begin, deleted)
    assert chain("logo.bin", None) == short(begin, others)

    hub.indexing.index(hub.scopes.resolve(caller))
    (sending,) = hub.history.code_history(caller, path=MOVED, symbol="Client.send", limit=50)["chains"]
    versions = sending["versions"]
    assert (versions[3]["same_as"], versions[2]["reverted_by"]) == (2, 4)
    assert [version.get("current", False) for version in versions] == [False] * 7 + [True]
    assert "+        return 3" in versions[2]["code"]
