"""Who asks, and where they work."""

from pathlib import Path

import mcp_types as types
import pytest
from git_repository import GitRepository
from hypothesis import given
from hypothesis import strategies as st
from serving import Site, complaint_of, reply_of

from memhub_mcp.server.callers import source_name


@pytest.mark.parametrize(
    ("client", "source"),
    [
        ("claude-code", "claude-code"),
        ("codex-mcp-client", "codex"),
        ("cursor-vscode", "cursor"),
        ("Cursor-VSCode", "cursor"),
        ("cursor-vscode (via mcp-remote 0.1.37)", "cursor"),
        ("gemini-cli-mcp-client", "gemini-cli"),
        ("qwen-cli-mcp-client-memhub", "qwen-code"),
        ("opencode", "opencode"),
        ("Visual Studio Code", "visual-studio-code"),
        ("  Zed!  ", "zed"),
        ("世界", "unknown"),
        ("", "unknown"),
    ],
)
def test_hosts_are_known_by_one_name(client: str, source: str):
    assert source_name(client) == source


@given(st.text())
def test_any_client_name_makes_a_source(name: str):
    source = source_name(name)
    assert 0 < len(source) <= 40
    assert source_name(source) == source
    assert set(source) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site.create(tmp_path)


async def test_what_is_said_twice_about_one_conversation_is_one_memory(site: Site):
    async with site.assistant(name="codex-mcp-client") as codex:

        async def wrap_up(conversation: str, outcome: str) -> str:
            session = {"task": "Fix the parser", "outcome": outcome}
            arguments = {"text": f"The parser {outcome}", "session": session}
            reply = reply_of(await codex.call_tool("remember", arguments, meta={"sessionId": conversation}))
            [kept] = [note for note in reply["notes"] if note.startswith("the session is kept as")]
            return kept

        first = await wrap_up("one", "observed: it fails on empty input")
        assert await wrap_up("one", "verified: it reads empty input") == first
        assert await wrap_up("two", "verified: it reads long input") != first


async def workspace_seen(site: Site, folders: list[Path], *, cwd: Path) -> str | None:
    """The workspace of a session whose client declares these roots and starts the server in `cwd`."""

    async def roots(_context: object) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=folder.as_uri()) for folder in folders])

    async with site.assistant("legacy", cwd=cwd, list_roots_callback=roots) as client:
        return reply_of(await client.call_tool("memory_status", {}))["scope"]["workspace"]


async def test_the_roots_of_a_client_say_where_it_works(site: Site):
    assert await workspace_seen(site, [site.repository.root], cwd=site.root / "person") == "orbit"


async def test_roots_that_are_no_folders_are_passed_over(site: Site):
    nowhere = site.root / "nowhere"
    assert await workspace_seen(site, [nowhere], cwd=site.repository.root) == "orbit"
    assert await workspace_seen(site, [], cwd=site.root / "person") is None


async def test_a_call_may_name_any_of_the_roots_and_no_other_folder(site: Site):
    second, elsewhere = (GitRepository.create(site.root / name) for name in ("second", "elsewhere"))
    second.commit("Start second", {"a.txt": "a"})
    elsewhere.commit("Start elsewhere", {"b.txt": "b"})

    async def roots(_context: object) -> types.ListRootsResult:
        folders = [site.repository.root, second.root]
        return types.ListRootsResult(roots=[types.Root(uri=folder.as_uri()) for folder in folders])

    async with site.assistant("legacy", cwd=site.root / "person", list_roots_callback=roots) as client:
        for name in (str(second.root), "second"):
            reply = reply_of(await client.call_tool("remember", {"text": f"Said by {name}", "workspace": name}))
            assert reply["scope"]["workspace"] == "second"
        refused = await client.call_tool("recall", {"query": "anything", "workspace": str(elsewhere.root)})
        assert "is not one of this session's (orbit, second)" in complaint_of(refused)
