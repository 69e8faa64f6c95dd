"""Lines that are no messages, batches, and answers that must not go out."""

import json
from typing import Any

from conversation import Host, initialize, request
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhub_mcp.server.exchange import Message, kind_of


def answer_everything(host: Host) -> None:
    """A server that answers each request with its own method."""

    def take(message: Message) -> None:
        if kind_of(message) == "request":
            host.exchange.send({"jsonrpc": "2.0", "id": message["id"], "result": {"method": message["method"]}})

    host.hand_over(take)


def codes(heard: list[Any]) -> list[int]:
    return [answer["error"]["code"] for answer in heard]


def test_blank_lines_are_ignored():
    host = Host()
    host.say(b"", b"   ", b"\r", b"\t")
    assert host.heard() == []


def test_what_is_not_json_is_a_parse_error_and_the_conversation_goes_on():
    host = Host()
    host.say(
        b"nonsense", b'{"jsonrpc": "2.0", "id": 1', b"\xff\xfe", b"[" * 100_000, b'{"id": NaN}', request(1, "ping")
    )
    *errors, pong = host.heard()
    assert codes(errors) == [-32700] * 5
    assert pong == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_json_that_is_no_message_is_an_invalid_request():
    host = Host()
    host.say(b"5", b"null", b'"text"', b"{}", b"[]", request(1, "ping") | {"jsonrpc": "1.0"})
    host.say({"jsonrpc": "2.0", "id": 2, "method": 3}, {"jsonrpc": "2.0", "id": 3, "method": "x", "params": [1]})
    host.say({"jsonrpc": "2.0", "id": None, "method": "ping"}, {"jsonrpc": "2.0", "id": True, "method": "ping"})
    host.say(*({"jsonrpc": "2.0", "id": 4, "method": "ping", "params": nothing} for nothing in ([], 0, "", False)))
    heard = host.heard()
    assert codes(heard) == [-32600] * 14
    assert [answer["id"] for answer in heard][5:] == [1, 2, 3, None, None, 4, 4, 4, 4]


def test_a_batch_is_answered_in_one_piece():
    host = Host()
    batch = [request(1, "ping"), 5, {"jsonrpc": "2.0", "method": "notifications/x"}, request("b", "tools/call", {})]
    host.say(initialize(0), batch, request(2, "ping"))
    answer_everything(host)
    opened, pong, together = host.heard()
    assert (opened["id"], pong["id"]) == (0, 2)
    assert sorted(str(answer["id"]) for answer in together) == ["1", "None", "b"]


def test_a_batch_of_notifications_has_no_answer():
    host = Host()
    host.say([{"jsonrpc": "2.0", "method": "notifications/x"}] * 2)
    answer_everything(host)
    assert host.heard() == []


def test_a_cancelled_request_holds_nothing_up():
    host = Host()
    host.say(initialize(0), [request(7, "tools/call", {}), request(8, "tools/call", {})])
    host.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "7"}})
    host.hand_over(lambda message: None)
    host.exchange.send({"jsonrpc": "2.0", "id": 8, "result": {}})
    assert host.exchange.wait_until_answered(0)
    assert host.heard()[1:] == [[{"jsonrpc": "2.0", "id": 8, "result": {}}]]


def test_a_batch_whose_last_open_request_is_cancelled_is_answered():
    host = Host()
    host.say(initialize(0), [request(7, "tools/call", {}), request(8, "tools/call", {})])
    host.hand_over(lambda message: None)
    host.exchange.send({"jsonrpc": "2.0", "id": 8, "result": {}})
    host.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
    assert host.heard()[1:] == [[{"jsonrpc": "2.0", "id": 8, "result": {}}]]


def test_what_is_no_message_is_told_in_its_batch_wherever_it_stands():
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    host = Host()
    host.say(initialize(0), [request(1, "ping"), 5], [request(2, "tools/call", {}), cancel, 5])
    _, first, second = host.heard()
    assert [answer["id"] for answer in first] == [1, None]
    assert [answer["error"]["code"] for answer in second] == [-32600]


def test_the_end_waits_for_each_of_several_requests_whose_ids_look_alike():
    host = Host()
    host.say(initialize(0), *(request(same, "tools/call", {}) for same in (7, "7", 7)))
    host.hand_over(lambda message: None)
    for answered in (7, "7", 7):
        assert not host.exchange.wait_until_answered(0)
        host.exchange.send({"jsonrpc": "2.0", "id": answered, "result": {}})
    assert host.exchange.wait_until_answered(0)
    assert [answer["id"] for answer in host.heard()[1:]] == [7, "7", 7]


def test_requests_nobody_will_answer_are_refused_once():
    host = Host()
    host.say(initialize(0), [request(1, "ping"), request(2, "tools/call", {})], request(3, "tools/call", {}))
    host.hand_over(lambda message: None)
    host.prelude.refuse("memhub cannot go on")
    assert host.exchange.wait_until_answered(0)
    _, batch, single = host.heard()
    assert [answer["id"] for answer in batch] == [1, 2]
    assert (single["id"], single["error"]) == (3, {"code": -32603, "message": "memhub cannot go on"})


def test_a_request_of_the_server_goes_out_even_if_its_id_is_one_that_was_hidden():
    host = Host()
    host.exchange.hide("1")
    host.exchange.send(request("1", "roots/list"))
    host.exchange.send({"jsonrpc": "2.0", "id": "1", "result": {"hidden": True}})
    host.exchange.send({"jsonrpc": "2.0", "id": "1", "result": {"hidden": False}})
    assert host.heard() == [request("1", "roots/list"), {"jsonrpc": "2.0", "id": "1", "result": {"hidden": False}}]


def test_an_answer_to_a_question_of_the_host_is_never_taken_for_one_of_ours():
    """The handshake is repeated to the SDK under an id of ours: no host may use the same by chance."""
    ours: list[Message] = []
    for _ in range(2):
        host = Host()
        host.say(initialize("memhub-replayed-0"))
        host.hand_over(ours.append)
        assert [answer["id"] for answer in host.heard()] == ["memhub-replayed-0"]
    assert ours[0]["id"] != ours[1]["id"]


def test_a_byte_order_mark_before_the_first_message_is_overlooked():
    host = Host()
    host.say(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}\r')
    assert host.heard() == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_of_two_fields_of_one_name_the_last_counts():
    host = Host()
    host.say(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"x","method":"ping"}')
    assert host.heard() == [{"jsonrpc": "2.0", "id": 2, "result": {}}]


def test_half_a_surrogate_pair_is_echoed_as_an_escape():
    host = Host()
    host.say(b'{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}')
    assert host.heard()[0]["id"] == "\ud83d"


ids = (
    st.integers(-5, 5)
    | st.text(max_size=2)
    | st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
)
methods = st.sampled_from(["ping", "tools/list", "initialize", "tools/call", "server/discover", "x", "notifications/x"])
messages = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": methods},
    optional={"id": ids, "params": st.none() | st.just({}) | st.just({"_meta": {}}) | st.just([])},
)
lines = st.one_of(
    st.binary(max_size=20),
    messages.map(lambda message: json.dumps(message).encode()),
    st.lists(messages | st.integers(), max_size=4).map(lambda batch: json.dumps(batch).encode()),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(lines, max_size=8), st.integers(0, 8))
def test_every_request_is_answered_once_whatever_stands_between(said: list[bytes], handed_over_after: int):
    host = Host()
    asked: list[str] = []
    for number, line in enumerate(said):
        if number == handed_over_after:
            answer_everything(host)
        host.say(line)
        try:
            value = json.loads(line)
        except (ValueError, UnicodeDecodeError):
            continue
        entries = value if isinstance(value, list) else [value]
        asked += [json.dumps(entry["id"]) for entry in entries if kind_of(entry) == "request"]
    answer_everything(host)
    answered: list[str] = []
    for answer in host.heard():
        for entry in answer if isinstance(answer, list) else [answer]:
            if "result" in entry:
                answered.append(json.dumps(entry["id"]))
    assert sorted(answered) == sorted(asked)
