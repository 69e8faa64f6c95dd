"""What its author gave an end is not told as current knowledge after it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from git_steps import Git
from hubs import Desk, desk_in
from store_steps import HandClock

TEXT = "the staging cluster is called osprey"


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def desk(repository: Git, clock: HandClock) -> Iterator[Desk]:
    with desk_in(repository.root, clock=clock) as desk:
        yield desk


def until(clock: HandClock, **units: float) -> str:
    return (clock.now + timedelta(**units)).isoformat()


def get(desk: Desk, memory_id: str) -> Any:
    return desk.hub.memories.get(desk.caller, [memory_id])["memories"][0]


def test_it_is_recalled_until_then_and_not_after(desk: Desk, clock: HandClock) -> None:
    [memory_id] = desk.remember(TEXT, valid_until=until(clock, days=1))
    assert desk.recall("osprey") == [memory_id]
    assert TEXT in desk.hub.memories.digest(desk.caller)
    assert "state" not in get(desk, memory_id)
    clock.advance(days=2)
    reply = desk.hub.memories.recall(desk.caller, "osprey")
    assert (reply["hits"], reply["nothing_relevant"]) == ([], True)
    assert TEXT not in desk.hub.memories.digest(desk.caller)


def test_it_can_still_be_opened_and_listed_and_says_that_it_expired(desk: Desk, clock: HandClock) -> None:
    [memory_id] = desk.remember(TEXT, valid_until=until(clock, days=1))
    [other] = desk.remember("valid for ever")
    clock.advance(days=2)
    assert get(desk, memory_id)["state"] == "expired"
    states = {hit["id"]: hit.get("state") for hit in desk.hub.memories.list(desk.caller)["hits"]}
    assert states == {memory_id: "expired", other: None}


def test_what_expired_can_be_said_again(desk: Desk, clock: HandClock) -> None:
    [first] = desk.remember(TEXT, valid_until=until(clock, days=1))
    clock.advance(days=2)
    reply = desk.hub.memories.remember(desk.caller, [{"text": TEXT}])
    [result] = reply["results"]
    assert result["status"] == "added"
    assert desk.recall("osprey") == [result["id"]] != [first]
