"""Bytes in whatever pieces they come, and pipes as hosts really make them."""

import json
import os
from itertools import pairwise
from threading import Thread

import pytest
from conversation import Host, request
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhub_mcp.server.wire import MAX_LINE_BYTES, Wire

TEXT = st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\n\n", b"\0", b"\xff", "é世🚀".encode()]), max_size=30)


def lines_of(pieces: list[bytes]) -> list[bytes]:
    """The lines that arrive when a host writes these pieces and leaves."""
    incoming, say = os.pipe()

    def speak() -> None:
        with os.fdopen(say, "wb", buffering=0) as host:
            for piece in pieces:
                host.write(piece)

    speaking = Thread(target=speak)
    speaking.start()
    try:
        return list(Wire(incoming, -1).lines())
    finally:
        speaking.join()
        os.close(incoming)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXT.map(b"".join), st.lists(st.integers(0, 40), max_size=8))
def test_a_line_is_the_same_in_whatever_pieces_it_arrives(text: bytes, cuts: list[int]):
    ends = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    whole = text.split(b"\n")
    assert lines_of([text[start:end] for start, end in pairwise(ends)]) == (whole if whole[-1] else whole[:-1])


def test_a_text_of_many_mebibytes_is_one_message_and_the_next_one_follows():
    large = json.dumps(request(1, "ping", {"_meta": {"x": "x" * (64 << 20)}})).encode()
    first, second = lines_of([large, b"\n", b"next\n"])
    assert first == large
    assert second == b"next"


def test_a_line_without_an_end_is_not_kept_whole_and_is_told_once():
    endless, after = lines_of([b"x" * (8 << 20)] * (MAX_LINE_BYTES // (8 << 20) + 4) + [b"\n", b"after\n"])
    assert MAX_LINE_BYTES < len(endless) < MAX_LINE_BYTES + (1 << 20)
    assert after == b"after"
    host = Host()
    host.say(endless, request(2, "ping"))
    refused, pong = host.heard()
    assert refused["error"] == {"code": -32700, "message": "Parse error: a line over 128 MiB"}
    assert pong["id"] == 2


@pytest.mark.skipif(os.name != "posix", reason="such pipes are made in another way there")
def test_a_pipe_that_does_not_wait_is_waited_for():
    """A host may share a pipe whose ends it made non-blocking: an empty one is no end, a full one no broken one."""
    incoming, say = os.pipe()
    hear, outgoing = os.pipe()
    os.set_blocking(incoming, False)
    os.set_blocking(outgoing, False)
    wire = Wire(incoming, outgoing)
    arrived: list[bytes] = []
    reading = Thread(target=lambda: arrived.extend(wire.lines()))
    reading.start()
    reading.join(0.05)  # it has looked into the empty pipe by now, or looks later: both must do
    os.write(say, b"hello\n")
    os.close(say)
    reading.join()
    assert arrived == [b"hello"]
    wire.start_writing(on_gone=lambda: os.close(outgoing))
    wire.send({"text": "x" * (1 << 20)})
    with os.fdopen(hear, "rb") as heard:
        assert len(heard.readline()) > 1 << 20
        wire.flush(10)
    os.close(outgoing)
    os.close(incoming)
