"""The fast start says what the SDK would say, and nothing is lost when the SDK takes over."""

from typing import Any

import anyio
import pytest
from conversation import INITIALIZED, STATELESS_META, Host, initialize, request
from hypothesis import given, settings
from hypothesis import strategies as st

from memhub_mcp.server.app import build_server
from memhub_mcp.server.door import Door
from memhub_mcp.server.exchange import Message, kind_of
from memhub_mcp.server.surface import HANDSHAKE_VERSIONS, LISTS
from memhub_mcp.server.transports import converse
from memhub_mcp.service.hub import Hub
from memhub_mcp.settings import load_settings

QUESTIONS = ["server/discover", *LISTS, "ping"]


def no_hub() -> Hub:
    raise AssertionError("the lists need no hub")


async def answers(said: list[Any], handed_over_after: int) -> list[Any]:
    """What a host hears, in the order of ids, when the SDK takes over after that many lines."""
    host = Host()
    host.say(*said[:handed_over_after])
    server = build_server(Door(no_hub), load_settings(environ={}))
    async with anyio.create_task_group() as tasks:
        await tasks.start(converse, server, host.exchange, host.prelude)
        await anyio.to_thread.run_sync(host.say, *said[handed_over_after:])
        with anyio.fail_after(20):
            answered = await anyio.to_thread.run_sync(host.exchange.wait_until_answered, 10)
        tasks.cancel_scope.cancel()
    assert answered
    heard = host.heard()
    for answer in heard:
        capabilities = answer.get("result", {}).get("capabilities", {})
        if capabilities.get("experimental") == {}:  # SDK 2.2 says that there are none
            del capabilities["experimental"]
    return sorted(heard, key=lambda answer: (str(answer["id"]), str(answer)))


def conversation(opening: list[Message], *, stateless: bool) -> list[Message]:
    params = {"_meta": STATELESS_META} if stateless else None
    return [*opening, *(request(number, method, params) for number, method in enumerate(QUESTIONS, 1))]


@pytest.mark.parametrize("version", [*HANDSHAKE_VERSIONS, "2026-07-28", "1999-01-01"])
async def test_the_first_answers_are_the_sdks_own_after_a_handshake(version: str):
    said = conversation([initialize(version=version), INITIALIZED], stateless=False)
    assert await answers(said, len(said)) == await answers(said, 0)


async def test_the_first_answers_are_the_sdks_own_without_a_handshake():
    said = conversation([], stateless=True)
    assert await answers(said, len(said)) == await answers(said, 0)


def test_the_plain_questions_are_answered_before_anything_takes_over():
    for said, unknown in (
        (conversation([initialize(), INITIALIZED], stateless=False), "server/discover"),
        (conversation([], stateless=True), "ping"),
    ):
        host = Host()
        host.say(*said)
        asked = [message["id"] for message in said if "id" in message and message["method"] != unknown]
        assert [answer["id"] for answer in host.heard()] == asked


def test_what_is_kept_is_handed_over_in_order_behind_what_opened_the_conversation():
    host = Host()
    host.say(initialize(1), INITIALIZED, request(2, "tools/call", {"name": "recall"}), request(3, "tools/list"))
    taken: list[Message] = []
    host.hand_over(taken.append)
    host.say(request(4, "tools/call", {}))
    assert [message["method"] for message in taken] == [
        "initialize",
        "notifications/initialized",
        "tools/call",
        "tools/call",
    ]
    assert taken[0]["id"] not in (1, "1")
    assert [message["id"] for message in taken[2:]] == [2, 4]
    host.heard()


def test_without_an_sdk_each_request_is_answered_with_the_cause():
    host = Host()
    host.say(initialize(1), INITIALIZED, request(2, "tools/call", {"name": "recall"}))
    host.prelude.refuse("memhub cannot start: ImportError: no module named 'mcp'")
    host.say(request(3, "tools/list"), [request(4, "ping"), request(5, "x")])
    opened, *refused = host.heard()
    assert "result" in opened
    flat = [*refused[:2], *refused[2]]
    assert [answer["id"] for answer in flat] == [2, 3, 4, 5]
    assert {answer["error"]["code"] for answer in flat} == {-32603}
    assert all("no module named 'mcp'" in answer["error"]["message"] for answer in flat)


odd_meta = st.sampled_from(
    [
        STATELESS_META,
        {**STATELESS_META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"},
        {**STATELESS_META, "io.modelcontextprotocol/clientInfo": None},
        {**STATELESS_META, "io.modelcontextprotocol/clientInfo": "odd"},
        {**STATELESS_META, "io.modelcontextprotocol/clientCapabilities": []},
        {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
        {"progressToken": 3},
        {},
        None,
    ]
)
odd_params = st.one_of(
    st.none(), st.just({}), odd_meta.map(lambda meta: {"_meta": meta}), st.just({"cursor": "x"}), st.just({"odd": 1})
)
openings = st.sampled_from(
    [
        initialize(),
        initialize(version="2024-11-05", roots={"listChanged": True}),
        request(0, "initialize", {}),
        request(0, "initialize"),
        request(0, "initialize", {**initialize()["params"], "_meta": STATELESS_META}),
        request(0, "initialize", {**initialize()["params"], "clientInfo": {"name": "no version"}}),
        request(0, "initialize", {**initialize()["params"], "capabilities": None}),
        request(0, "initialize", {**initialize()["params"], "protocolVersion": 5}),
        INITIALIZED,
    ]
)
steps = openings | st.tuples(st.sampled_from([*QUESTIONS, "tools/call", "odd"]), odd_params)


@settings(max_examples=40, deadline=None)
@given(st.lists(steps, max_size=6), st.integers(0, 6))
def test_any_opening_is_answered_as_the_sdk_alone_would(said: list[Any], handed_over_after: int):
    messages: list[Message] = []
    for number, step in enumerate(said):
        message = request(number, *step) if isinstance(step, tuple) else step
        messages.append({**message, "id": number} if kind_of(message) == "request" else message)
    fast = anyio.run(answers, messages, min(handed_over_after, len(messages)))
    assert fast == anyio.run(answers, messages, 0)
