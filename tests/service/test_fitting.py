"""Memories in full stay within what one reply may hold, and nothing is cut in secret."""

from hubs import Desk

from memhub_mcp.service.fitting import fit

LONG = "lorem ipsum dolor sit amet " * 1_000


def test_what_does_not_fit_beside_the_first_is_named(desk: Desk) -> None:
    ids = desk.remember(f"one {LONG}", f"two {LONG}", "three")
    reply = fit(desk.hub.memories.get(desk.caller, ids))
    assert [memory["text"][:5] for memory in reply["memories"]] == ["one l", "three"]
    assert reply["memories"][0]["text"] == f"one {LONG}"
    assert ids[1] in reply["notes"][0]


def test_a_text_of_any_length_comes_whole_and_its_former_wordings_by_their_beginning(desk: Desk) -> None:
    [memory_id] = desk.remember(f"one {LONG * 10}")
    desk.hub.memories.update(desk.caller, memory_id, text=f"two {LONG * 10}")
    reply = fit(desk.hub.memories.get(desk.caller, [memory_id]))
    [memory] = reply["memories"]
    assert memory["text"] == f"two {LONG * 10}"
    assert memory["versions"][0]["text"].startswith("one lorem")
    assert len(memory["versions"][0]["text"]) < 400
    assert f"memhub://memories/{memory_id}" in reply["notes"][0]
