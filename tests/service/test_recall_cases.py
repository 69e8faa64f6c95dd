"""Recall where others were seen to fail: large stores, long texts, questions about nothing, closed networks."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import pytest
from git_steps import Git, git_init
from hubs import Desk, desk_in
from packaging.requirements import Requirement
from serving import Site, reply_of, web_server
from store_steps import HandClock

from memhub_mcp.service.hinting import hints
from memhub_mcp.service.question_sets import OWN

ROOT = Path(__file__).parents[2]

UNRELATED = [
    "qqqq zzyzx nothing like this",
    "translate this menu into Portuguese",
    "how long do I boil an egg",
    "write a haiku about autumn leaves",
    "what is the capital of Mongolia",
    "explain how photosynthesis works",
    "suggest a name for my new kitten",
    "plan a three day trip to Lisbon",
    "who painted the Sistine chapel ceiling",
    "make the heading purple and centre it",
    "convert 12 miles to kilometres",
    "thanks, that looks great",
    "yes, go on please",
    "which violin concerto is easiest for beginners",
    "draw an ASCII picture of a whale",
    "my back hurts after gardening",
    "how tall is mount Kilimanjaro",
    "compose a birthday greeting for grandmother",
    "implement the game of life on a torus",
    "rename the variable foo to bar",
]


def in_calls(desk: Desk, memories: list[dict[str, Any]]) -> list[str]:
    """The ids of these memories, stored as many in a call as one may hold."""
    ids: list[str] = []
    for start in range(0, len(memories), 20):
        reply = desk.hub.memories.remember(desk.caller, memories[start : start + 20])
        ids += [result["id"] for result in reply["results"]]
    return ids


def started(folder: Path) -> Git:
    git = git_init(folder / "shop")
    git.commit("start the shop", app__py="retries = 5\n")
    return git


def tokens(reply: object) -> float:
    """How much of a budget a reply takes."""
    return len(json.dumps(reply, ensure_ascii=False)) / 4


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """An assistant with the real model that knows 200 things of many kinds."""
    lines = (OWN / "turns.jsonl").read_text(encoding="utf-8").splitlines()
    known = [{"text": row["text"], "kind": row["kind"]} for row in map(json.loads, lines)]
    services = ("billing", "search", "mailer", "gateway", "catalogue")
    known += [
        {"text": f"The {services[number % 5]} worker {number} listens on port {7_000 + number}", "kind": "fact"}
        for number in range(200 - len(known))
    ]
    with desk_in(started(tmp_path_factory.mktemp("mixed")).root, real_model=True) as desk:
        in_calls(desk, known)
        while desk.hub.maintenance.run_once(desk.caller):
            pass
        yield desk


def test_requests_about_nothing_that_is_known_bring_up_nothing(mixed: Desk) -> None:
    assert mixed.hub.memories.status(mixed.caller)["counts"]["to_embed"] == 0
    told = {prompt: hints(mixed.hub.memories, mixed.caller, prompt) for prompt in UNRELATED}
    assert not any(told.values()), told


def test_questions_about_nothing_that_is_known_are_answered_with_nothing(mixed: Desk) -> None:
    found = {query: mixed.recall(query) for query in UNRELATED}
    assert found[UNRELATED[0]] == []
    assert len([query for query, ids in found.items() if ids]) <= 1, found


def test_the_end_of_a_long_text_is_found_by_a_paraphrase(tmp_path: Path) -> None:
    filler = "The quarterly report lists the revenue of each region and compares it with the plan of last year. "
    text = filler * (100_000 // len(filler)) + "The nightly backup is copied to a tape library in Oslo."
    with desk_in(started(tmp_path).root, real_model=True) as desk:
        [memory_id] = desk.remember(text)
        while desk.hub.maintenance.run_once(desk.caller):
            pass
        for query in ("backups are stored in Norway", "on which tape are backups stored at night"):
            [hit] = desk.hub.memories.recall(desk.caller, query)["hits"]
            assert hit["id"] == memory_id
            assert "tape library in Oslo" in hit["preview"]


@pytest.mark.parametrize("length", [2_100, 50_000, 1_000_000])
def test_a_long_text_comes_back_byte_for_byte(desk: Desk, length: int) -> None:
    text = "".join(f"line {number}: 7 times 6 is 42\n" for number in range(length // 20))[: length - 2].ljust(
        length, "é"
    )
    assert len(text) == length
    [memory_id] = desk.remember(text)
    assert hashlib.sha256(desk.text(memory_id).encode()).digest() == hashlib.sha256(text.encode()).digest()


def jobs(count: int, *, every: int) -> list[dict[str, Any]]:
    """Memories that differ in a number, one in `every` about a rare path."""
    return [
        {
            "text": f"worker {number} retries job {number * 7_919 % 9_973} of the queue",
            "files": ["legacy/rare.py" if number % every == 77 else f"src/part{number % 50}/worker.py"],
        }
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """An assistant that stored 10,000 memories, five of them about a rare path."""
    with desk_in(started(tmp_path_factory.mktemp("crowd")).root, embedder="off") as desk:
        in_calls(desk, jobs(10_000, every=2_000))
        yield desk


@pytest.mark.parametrize("query", ["worker retries job of the queue", ""])
def test_the_few_memories_of_a_rare_path_are_found_among_many(crowded: Desk, query: str) -> None:
    hits = crowded.hub.memories.recall(crowded.caller, query, files=["legacy/rare.py"], limit=20)["hits"]
    assert [hit["preview"].count("of the queue") for hit in hits] == [1] * 5
    assert len({hit["id"] for hit in hits}) == 5


def test_by_meaning_too_the_few_memories_of_a_rare_path_are_found(tmp_path: Path) -> None:
    with desk_in(started(tmp_path).root) as desk:
        ids = in_calls(desk, jobs(2_100, every=420))
        while desk.hub.maintenance.run_once(desk.caller):
            pass
        reply = desk.hub.memories.recall(desk.caller, "worker retries job", files=["legacy"], limit=20)
        assert reply["mode"]["dense"] == "on"
        assert {hit["id"] for hit in reply["hits"]} == set(ids[77::420])
        assert all("meaning" in hit["why"] for hit in reply["hits"])


def test_a_list_of_very_many_is_pages_within_their_budget(crowded: Desk) -> None:
    first = crowded.hub.memories.list(crowded.caller)
    assert first["hits"]
    assert tokens(first) <= 2_000
    seen: set[str] = set()
    cursor = None
    for _ in range(50):
        reply = crowded.hub.memories.list(crowded.caller, limit=50_000, cursor=cursor, budget_tokens=1_000_000)
        assert tokens(reply) <= 8_000
        page = {hit["id"] for hit in reply["hits"]}
        assert page
        assert not page & seen
        seen |= page
        cursor = reply["cursor"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_ten_large_hits_are_previews_on_the_wire(tmp_path: Path, transport: str) -> None:
    site = Site.create(tmp_path)
    site.without_model()
    bodies = [f"chapter {number}: " + f"the harbor crane {number} and its controller " * 500 for number in range(10)]

    async def ask(client: Any) -> None:
        stored = reply_of(await client.call_tool("remember", {"memories": [{"text": body} for body in bodies]}))
        reply = reply_of(await client.call_tool("recall", {"query": "harbor crane controller", "limit": 10}))
        assert reply["hits"]
        assert tokens(reply) <= 2_000
        assert all(len(hit["preview"]) < 2_000 for hit in reply["hits"])
        wanted = stored["results"][3]["id"]
        full = reply_of(await client.call_tool("get_memories", {"ids": [wanted]}))
        assert full["memories"][0]["text"] == bodies[3]
        assert reply_of(await client.call_tool("memory_status", {}))["scope"]["workspace"] == "orbit"

    if transport == "stdio":
        async with site.assistant() as client:
            await ask(client)
        return
    with web_server(site, "http") as server:
        async with server.assistant(path=site.repository.root.as_posix()) as client:
            await ask(client)


def test_what_was_stored_with_files_alone_is_found_by_when(repository: Git) -> None:
    clock = HandClock()
    with desk_in(repository.root, clock=clock) as desk:
        clock.now = datetime(2026, 11, 29, 15, tzinfo=UTC)
        [before] = desk.remember("the gate was painted", files=["src/gate.py"])
        clock.now = datetime(2026, 11, 30, 8, tzinfo=UTC)
        [morning] = desk.remember("the gate was oiled", files=["src/gate.py"])
        clock.now = datetime(2026, 11, 30, 11, 30, tzinfo=UTC)
        [lately] = desk.remember("the gate was locked", files=["src/gate.py"])
        clock.now = datetime(2026, 11, 30, 12, tzinfo=UTC)
        for query in ("gate", ""):
            assert desk.recall(query, since="1 hour ago") == [lately]
            assert set(desk.recall(query, since="today")) == {morning, lately}
            assert desk.recall(query, since="yesterday", until="today") == [before]
            assert set(desk.recall(query, since="yesterday", files=["src/gate.py"])) == {before, morning, lately}
        hits = desk.hub.memories.list(desk.caller)["hits"]
        assert [hit["at"] for hit in hits] == ["2026-11-30T11:30:00Z", "2026-11-30T08:00:00Z", "2026-11-29T15:00:00Z"]


WATCHED = """
import sys
sys.path[:0] = {path!r}
outward = []

def watch(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        outward.append((event, arguments))
    elif event == "socket.connect" and not isinstance(arguments[1], (str, bytes)):
        outward.append((event, arguments[1]))

sys.addaudithook(watch)
"""

SEARCH = """
from pathlib import Path
from hubs import desk_in
with desk_in(Path({root!r}), real_model=True) as desk:
    desk.remember("We deploy with a blue-green script")
    reply = desk.hub.memories.recall(desk.caller, "what is the deployment process")
    print(len(reply["hits"]), reply["mode"]["dense"])
print(outward)
"""

PREPARED = """
from dataclasses import replace
from pathlib import Path
from memhub_mcp.models.load import Models
from memhub_mcp.settings import load_settings
from tests.models import tiny
made = tiny.make_models(Path({root!r}) / "prepared")
settings = load_settings(home=Path({root!r}) / "home", environ={{"MEMHUB_MODELS_DIR": {root!r} + "/prepared"}})
models = Models(replace(settings, embedder="bge-m3", reranker="bge-reranker-v2-m3"), pinned=made)
embedder, reranker = models.embedder.get(60), models.reranker.get(60)
print(embedder.embed(["hello"]).shape[1], len(reranker.score("hello", ["one", "two"])))
models.close()
print(outward)
"""


def in_a_closed_network(program: str, root: Path) -> list[str]:
    """What `program` prints where nothing but this machine's own files can be reached; `outward` is what it tried."""
    code = (WATCHED + program).format(path=sys.path, root=str(root))
    command = ["unshare", "--net", "--user", "--map-root-user", sys.executable, "-c", code]
    if sys.platform != "linux":
        pytest.skip("network namespaces are Linux's")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if "unshare failed" in done.stderr:
        pytest.skip(f"no network namespace here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_in_a_closed_network_the_first_search_goes_by_meaning(repository: Git) -> None:
    assert in_a_closed_network(SEARCH, repository.root) == ["1 on", "[]"]


def test_prepared_models_are_loaded_in_a_closed_network(tmp_path: Path) -> None:
    assert in_a_closed_network(PREPARED, tmp_path) == ["1024 2", "[]"]


WITHOUT_EXTENSIONS = """
import sys
sys.modules["sqlite_vec"] = None

def watch(event, arguments):
    if event == "sqlite3.enable_load_extension":
        raise AttributeError("'sqlite3.Connection' object has no attribute 'enable_load_extension'")

sys.addaudithook(watch)
sys.path[:0] = {path!r}
from pathlib import Path
from hubs import desk_in
with desk_in(Path({root!r}), real_model=True) as desk:
    [memory_id] = desk.remember("We deploy with a blue-green script")
    reply = desk.hub.memories.recall(desk.caller, "what is the deployment process")
    print(reply["hits"][0]["id"] == memory_id, reply["mode"]["dense"])
    print(*desk.hub.memories.status(desk.caller)["health"])
"""


def test_a_python_whose_sqlite_loads_no_extensions_serves_as_well(repository: Git) -> None:
    code = WITHOUT_EXTENSIONS.format(path=sys.path, root=str(repository.root))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found, health = done.stdout.splitlines()
    assert found == "True on"
    assert "sqlite-vec" in health


def test_an_installation_brings_no_deep_learning_framework() -> None:
    needed: set[str] = set()
    waiting = ["memhub-mcp"]
    while waiting:
        name = waiting.pop()
        if name in needed:
            continue
        try:
            wanted = [Requirement(line) for line in requires(name) or []]
        except PackageNotFoundError:
            continue  # for another platform
        needed.add(name)
        waiting += [one.name.lower() for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    assert {"numpy", "apsw", "tokenizers"} <= needed
    assert not needed & {"torch", "tensorflow", "jax", "transformers", "sentence-transformers", "scipy"}
