"""The fast start says what the SDK would say, and nothing is lost when the SDK takes over."""

import json
from typing import Any

import anyio
import mcp_types as types
import pytest
from conversation import INITIALIZED, STATELESS_META, Host, initialize, request
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage

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
    return in_order(host.heard())


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


META = "io.modelcontextprotocol/"
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


def nearly(plain: dict[str, Any], odd: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """`plain`, or with one field that is odd: most of what goes wrong has one cause."""
    changed = [value.map(lambda value, name=name: {**plain, name: value}) for name, value in odd.items()]
    return st.just(plain) | st.one_of(*changed)


details = nearly({}, {name: st.just({}) | json_values for name in ("listChanged", "form", "tools", "requests", "x/y")})
capabilities = nearly(
    {},
    dict.fromkeys(
        ("roots", "elicitation", "sampling", "experimental", "extensions", "tasks", "odd"), details | json_values
    ),
)
clients = nearly(
    {"name": "test-host", "version": "1"},
    {name: st.just("text") | json_values for name in ("name", "version", "title", "websiteUrl", "icons", "odd")},
)
envelopes = nearly(
    STATELESS_META,
    {
        "progressToken": json_values,
        META + "protocolVersion": st.sampled_from(["2025-11-25", "2099-01-01", 5, None]),
        META + "clientCapabilities": capabilities | json_values,
        META + "clientInfo": clients | json_values,
        META + "logLevel": st.sampled_from(["debug", "odd", 5]),
    },
)
metas = envelopes | nearly({}, {"progressToken": json_values, "x": json_values})
questions = st.fixed_dictionaries(
    {"method": st.sampled_from([*QUESTIONS, *QUESTIONS, "tools/call", "odd"])},
    optional={"params": st.none() | metas.map(lambda meta: {"_meta": meta}) | st.just({"cursor": "x"})},
)
handshakes = nearly(
    initialize()["params"],
    {
        "protocolVersion": st.sampled_from([*HANDSHAKE_VERSIONS, "2026-07-28", "1999-01-01", 5]),
        "capabilities": capabilities | json_values,
        "clientInfo": clients | json_values,
        "_meta": metas,
        "odd": json_values,
    },
).map(lambda params: {"method": "initialize", "params": params})
ids = st.integers() | st.text(max_size=3) | st.sampled_from([0, 1, "1", "memhub-replayed-0", 10**30, "\ud800"])
requests = st.builds(lambda request_id, message: {"id": request_id, **message}, ids, questions | questions | handshakes)
unasked = st.sampled_from(
    [
        {"method": "notifications/initialized"},
        {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
        {"method": "notifications/cancelled", "params": {"requestId": "never asked"}},
        {"method": "notifications/odd", "params": {"x": 1}},
        {"id": 1, "result": {}},
        {"id": "1", "error": {"code": 1, "message": "no"}},
    ]
)
polite = st.sampled_from(
    [[initialize(), INITIALIZED], [request("first", "server/discover", {"_meta": STATELESS_META})]]
)
conversations = st.builds(
    lambda opening, rest: [*opening, *({"jsonrpc": "2.0", **message} for message in rest)],
    st.just([]) | polite,
    st.lists(requests | requests | unasked, max_size=6),
)


async def sdk_alone(said: list[Message]) -> list[Any]:
    """What the SDK answers when it hears the same messages on streams of its own."""
    server = build_server(Door(no_hub), load_settings(environ={}))
    say, hears = anyio.create_memory_object_stream[SessionMessage | Exception](len(said))
    answer, heard = anyio.create_memory_object_stream[SessionMessage](len(said))
    for message in said:
        say.send_nowait(SessionMessage(types.jsonrpc_message_adapter.validate_python(message, by_name=False)))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.run, hears, answer, server.create_initialization_options())
        with anyio.fail_after(60):
            asked = sum(kind_of(message) == "request" for message in said)
            answers = [
                (await heard.receive()).message.model_dump(by_alias=True, exclude_unset=True) for _ in range(asked)
            ]
        tasks.cancel_scope.cancel()
    return in_order(answers)


def in_order(answers: list[Any]) -> list[Any]:
    for answer in answers:
        capabilities = answer.get("result", {}).get("capabilities", {})
        if capabilities.get("experimental") == {}:  # SDK 2.2 says that there are none
            del capabilities["experimental"]
    return sorted(answers, key=lambda answer: json.dumps(answer, sort_keys=True))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example([initialize(), INITIALIZED, request(1, "tools/list", {"_meta": STATELESS_META})], 99)
@example([request(1, "odd", {"_meta": STATELESS_META}), initialize(2), request(3, "tools/list")], 99)
@example([initialize(tasks={"requests": {"sampling": 5}}), INITIALIZED, request(1, "tools/list")], 99)
@example([initialize(), INITIALIZED, request(1, "tools/list", {"_meta": {"progressToken": [3]}})], 99)
@example([initialize(), initialize(1, "2024-11-05"), request(2, "ping")], 99)
@given(conversations, st.integers(0, 8) | st.just(99))
def test_any_conversation_is_answered_as_the_sdk_alone_would(said: list[Message], handed_over_after: int):
    assert anyio.run(answers, said, handed_over_after) == anyio.run(sdk_alone, said)
