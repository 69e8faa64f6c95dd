"""Several assistants on one machine: nothing lost, nothing leaked."""

import json
import subprocess
from pathlib import Path

import anyio
from git_repository import GitRepository
from serving import Site, command, reply_of
from transcript_lines import Claude, write_lines

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


async def test_changes_fired_at_once_do_not_undo_each_other(tmp_path: Path):
    site = Site.create(tmp_path)
    site.without_model()
    async with site.assistant() as claude:
        for round in range(5):
            stored = await claude.call_tool(
                "remember", {"memories": [{"text": f"goes {round}"}, {"text": f"old {round}"}]}
            )
            gone, changed = (result["id"] for result in reply_of(stored)["results"])
            async with anyio.create_task_group() as calls:
                calls.start_soon(claude.call_tool, "remember", {"text": f"first {round}"})
                calls.start_soon(claude.call_tool, "remember", {"text": f"second {round}"})
                calls.start_soon(claude.call_tool, "forget", {"ids": [gone], "confirm": True})
                calls.start_soon(claude.call_tool, "update_memory", {"id": changed, "text": f"new {round}"})
        listed = reply_of(await claude.call_tool("recall", {"query": "", "limit": 50}))["hits"]
    words = sorted(hit["preview"].split("\n")[1] for hit in listed)
    assert words == sorted(f"{word} {round}" for word in ("first", "second", "new") for round in range(5))


async def test_an_assistant_remembers_while_a_large_import_runs(tmp_path: Path):
    site = Site.create(tmp_path)
    site.without_model()
    root = site.repository.root
    for number in range(40):
        session = Claude(f"s{number}", cwd=str(root))
        edits = [
            session.edit(f"t{number}-{k}", str(root / "a.py"), f"A = {k}\n", f"{k}", f"{k + 1}") for k in range(15)
        ]
        write_lines(
            tmp_path / "past" / f"s{number}.jsonl", session.person("count up"), *(line for two in edits for line in two)
        )
    words = [command()[0], "import", str(tmp_path / "past"), "--json"]
    stored = 0
    async with site.assistant() as claude:
        importing = subprocess.Popen(words, env=site.env(), cwd=root, stdout=subprocess.PIPE)
        while importing.poll() is None or stored < 20:
            reply_of(await claude.call_tool("remember", {"text": f"meanwhile {stored}"}))
            stored += 1
        imported, _ = importing.communicate()
        status = reply_of(await claude.call_tool("memory_status", {}))
    assert json.loads(imported)["edits"] == 600
    assert status["counts"]["workspace"]["fact"] == stored
