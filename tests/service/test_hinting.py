"""Unasked, an assistant is told what bears on the request, and on most days nothing."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from git_steps import git_init
from hubs import Desk, desk_in
from store_steps import HandClock

from memhub_mcp.domain.session import Utterance
from memhub_mcp.retrieval.packing import estimate_tokens
from memhub_mcp.service.dialogue import add_turns
from memhub_mcp.service.evaluation import Evaluation, hints_report
from memhub_mcp.service.hinting import hints
from memhub_mcp.service.question_sets import hint_set

REQUEST = "raise the retry limit of the uploads"
LIMIT = "The retry limit of uploads is 5 because the proxy cuts off the sixth"


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def desk(tmp_path: Path, clock: HandClock) -> Iterator[Desk]:
    git = git_init(tmp_path / "shop")
    git.commit("start the shop", app__py="retries = 5\n")
    with desk_in(git.root, clock=clock, embedder="off") as desk:
        yield desk


def told(desk: Desk, request: str = REQUEST) -> list[str]:
    return [hint.memory for hint in hints(desk.hub.memories, desk.caller, request)]


@pytest.mark.parametrize(("real_model", "useful"), [(True, 0.70), (False, 0.55)], ids=["meaning", "words"])
def test_requests_bring_up_what_they_bear_on_and_everyday_ones_nothing(
    tmp_path: Path, real_model: bool, useful: float
) -> None:
    git = git_init(tmp_path / "shop")
    chosen = {"real_model": True} if real_model else {"embedder": "off"}
    with desk_in(git.root, **chosen) as desk:
        evaluation = Evaluation(desk.hub, hint_set(), tmp_path / "projects", lambda *_: None)
        report = hints_report(evaluation, hint_set())
    assert report["noise"] <= 0.02, report
    assert report["useful"] >= useful, report
    assert len(report["misleading"]) <= 1, report


def test_what_does_not_hold_is_not_told(desk: Desk, clock: HandClock) -> None:
    [memory_id] = desk.remember(LIMIT, valid_until=(clock.now + timedelta(days=2)).isoformat())
    assert told(desk) == [memory_id]
    desk.hub.memories.update(desk.caller, memory_id, feedback="outdated")
    assert told(desk) == []
    desk.hub.memories.update(desk.caller, memory_id, feedback="useful")
    assert told(desk) == [memory_id]
    desk.hub.memories.update(desk.caller, memory_id, status="archived")
    assert told(desk) == []
    desk.hub.memories.update(desk.caller, memory_id, status="active")
    clock.advance(days=3)
    assert told(desk) == []


def test_a_superseded_memory_is_not_told(desk: Desk) -> None:
    desk.remember(LIMIT, subject="retry limit")
    [newer] = desk.remember("The retry limit of uploads is 7 since the proxy was replaced", subject="retry limit")
    assert told(desk) == [newer]


def test_hints_stay_within_their_budget(desk: Desk) -> None:
    for number in range(9):
        desk.remember(f"上传的重试次数限制为{number}次,因为代理会断开后面的连接。" * 30)
    found = hints(desk.hub.memories, desk.caller, "把上传的重试次数限制改成十次,代理会断开连接")
    assert found
    assert sum(estimate_tokens(hint.line) for hint in found) <= 350


def test_a_pasted_log_hides_the_request_from_nobody(desk: Desk) -> None:
    [memory_id] = desk.remember("Error HB-2041 means that the carrier refused the postcode; fix the address")
    log = "\n".join(f"2026-03-02 11:04:{n % 60:02} INFO worker {n} did its part of the queue" for n in range(2_000))
    assert told(desk, f"why this?\n```\nERROR carrier answered HB-2041\n{log}\n```") == [memory_id]
    assert told(desk, f"why this?\n```\n{log}\n```") == []


def test_what_was_said_word_for_word_is_not_told(desk: Desk, clock: HandClock) -> None:
    store = desk.hub.scopes.resolve(desk.caller).store
    assert store is not None
    said = Utterance(position=0, speaker="Ada", text=LIMIT, time=clock.now)
    add_turns(store, source="cursor", host_session="s", said=[said])
    assert told(desk) == []
