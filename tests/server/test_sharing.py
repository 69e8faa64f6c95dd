"""Several assistants on one machine: nothing lost, nothing leaked."""

from pathlib import Path

import anyio
from git_repository import GitRepository
from serving import Site, reply_of

PROCESSES, WRITES = 6, 100


async def test_another_repository_on_the_same_data_directory_sees_nothing(tmp_path: Path):
    site = Site.create(tmp_path)
    other = GitRepository.create(tmp_path / "other")
    other.commit("something else")
    async with (
        site.assistant(name="claude-code") as claude,
        site.assistant(name="cursor-vscode", cwd=other.root) as cursor,
    ):
        await claude.call_tool("remember", {"text": "token rotation happens on Mondays"})
        for query in ("token rotation", ""):
            reply = reply_of(await cursor.call_tool("recall", {"query": query}))
            assert (reply["hits"], reply["scope"]["workspace"]) == ([], "other")
        await cursor.call_tool("remember", {"text": "I prefer short answers", "kind": "preference"})
        [hit] = reply_of(await claude.call_tool("recall", {"query": "short answers"}))["hits"]
        assert hit["preview"].count("I prefer short answers") == 1


async def test_six_processes_lose_no_write(tmp_path: Path):
    site = Site.create(tmp_path)

    async def write(number: int) -> None:
        async with site.assistant(name=f"host-{number}") as host:
            for note in range(WRITES):
                reply_of(await host.call_tool("remember", {"text": f"host {number} wrote note {note}"}))

    async with anyio.create_task_group() as hosts:
        for number in range(PROCESSES):
            hosts.start_soon(write, number)
    async with site.assistant(name="reader") as reader:
        status = reply_of(await reader.call_tool("memory_status", {}))
        assert status["counts"]["workspace"]["fact"] == PROCESSES * WRITES


async def test_calls_fired_at_once_in_one_session_are_all_done(tmp_path: Path):
    site = Site.create(tmp_path)
    async with site.assistant() as claude:

        async def send(number: int) -> None:
            reply_of(await claude.call_tool("remember", {"text": f"fact number {number}"}))

        async with anyio.create_task_group() as calls:
            for number in range(40):
                calls.start_soon(send, number)
        status = reply_of(await claude.call_tool("memory_status", {}))
        assert status["counts"]["workspace"]["fact"] == 40
