"""What an assistant is given that gets to know a repository, or puts its memory in order."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from git_steps import Git
from hubs import Desk, desk_in
from store_steps import HandClock

from memhub_mcp.retrieval.packing import estimate_tokens


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def desk(repository: Git, clock: HandClock) -> Iterator[Desk]:
    with desk_in(repository.root, clock=clock, embedder="off") as desk:
        yield desk


def groups(desk: Desk, about: str | None = None) -> dict[str, str]:
    """The memories to look at again, by their reason."""
    text = desk.hub.memories.reflection(desk.caller, about)
    return {title: lines for title, _, lines in (part.partition(":\n") for part in text.split("\n\n"))}


def test_every_reason_for_a_second_look_names_its_memories(desk: Desk, repository: Git, clock: HandClock) -> None:
    [old] = desk.remember("The port is 8080", subject="port")
    [new] = desk.remember("The port is 9090", subject="port")
    [stale] = desk.remember("Retries are five", files=["app.py"])
    [past] = desk.remember("The freeze is on", valid_until=(clock.now + timedelta(days=1)).isoformat())
    copies = desk.remember(
        "Mail of the shop is sent at noon by the worker", "Mail of the shop is sent at noon by the worker, UTC"
    )
    [wrong] = desk.remember("Tea is sold in litres")
    [hung] = desk.remember("Tests hung on CI", kind="experience", solution="raise the limit of open files")
    desk.hub.memories.update(desk.caller, wrong, feedback="wrong")
    repository.commit("seven", app__py="retries = 7\n")
    clock.advance(days=2)
    found = groups(desk)
    assert wrong in found["Judged wrong or outdated more often than useful"]
    assert f"{stale} (" in found["Their code changed since"]
    assert "app.py: changed since" in found["Their code changed since"]
    assert past in found["Past their end"]
    assert all(copy in found["Nearly the same"] for copy in copies)
    text = desk.hub.memories.reflection(desk.caller)
    assert f"superseded by {new}" in text.partition("Superseded lately")[2]
    assert old in text
    assert hung in found["Recent experiences and sessions"]
    assert "raise the limit of open files" in text
    assert all(text.count(f"{memory} (") == 1 for memory in (wrong, stale, past, old, hung))
    assert wrong in groups(desk, "how is tea sold in the shop")["About what was asked"]


def test_what_other_branches_keep_to_themselves_is_not_looked_at(desk: Desk, repository: Git) -> None:
    repository.run("switch", "-q", "-c", "topic")
    desk.remember("Topic needs Redis", kind="fact")
    desk.hub.memories.update(desk.caller, desk.remember("Topic is wrong")[0], feedback="wrong")
    assert "Topic is wrong" in desk.hub.memories.reflection(desk.caller)
    assert "Topic needs Redis" in desk.hub.memories.onboarding(desk.caller)
    repository.run("switch", "-q", "main")
    assert "Topic" not in desk.hub.memories.reflection(desk.caller)
    assert "Topic" not in desk.hub.memories.onboarding(desk.caller)


def test_the_beginning_is_history_and_what_is_known(desk: Desk, repository: Git) -> None:
    repository.commit("Sell coffee too", coffee__py="1\n")
    desk.remember("Tea is sold in grams", subject="units")
    text = desk.hub.memories.onboarding(desk.caller)
    assert "2 commits indexed, 1 memories stored" in text
    assert "coffee.py 1" in text
    assert "- Sell coffee too" in text
    assert "[units]: Tea is sold in grams" in text


def test_a_store_with_nothing_to_look_at_says_so(desk: Desk) -> None:
    assert desk.hub.memories.reflection(desk.caller) == "Nothing is stored here that needs a second look."


def test_much_to_look_at_stays_within_the_budget(desk: Desk) -> None:
    for start in range(0, 400, 20):
        for memory in desk.remember(
            *(
                f"worker {n} drops job {n * 7919} because 网关在高峰期会断开 {'长' * 250}"
                for n in range(start, start + 20)
            ),
            kind="experience",
        )[:1]:
            desk.hub.memories.update(desk.caller, memory, feedback="wrong")
    for text, tokens in (
        (desk.hub.memories.reflection(desk.caller, "worker drops job 网关在高峰期会断开"), 3_000),
        (desk.hub.memories.onboarding(desk.caller), 1_500),
    ):
        assert tokens / 2 < estimate_tokens(text) <= tokens + 50
        assert "did not fit" in text
