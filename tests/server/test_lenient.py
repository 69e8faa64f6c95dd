"""Arguments as hosts really send them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhub_mcp.errors import InvalidInput
from memhub_mcp.server.lenient import read_arguments
from memhub_mcp.server.surface import TOOLS


def read(tool: str, **arguments: Any) -> dict[str, Any]:
    values, notes = read_arguments(TOOLS[tool]["inputSchema"], arguments)
    assert notes == []
    return values


def notes(tool: str, **arguments: Any) -> list[str]:
    return read_arguments(TOOLS[tool]["inputSchema"], arguments)[1]


def test_a_string_stands_for_a_list():
    assert read("get_memories", ids="m1") == {"ids": ["m1"]}
    assert read("get_memories", ids="m1, m2") == {"ids": ["m1", "m2"]}
    assert read("recall", query="x", files="a, b.py")["files"] == ["a, b.py"]
    assert read("recall", query="x", kinds="fact,decision")["kinds"] == ["fact", "decision"]
    assert read("remember", memories="words")["memories"] == [{"text": "words"}]
    assert read("remember", memories=["one", "two"])["memories"] == [{"text": "one"}, {"text": "two"}]


def test_json_text_stands_for_the_value():
    assert read("remember", memories='[{"text": "a"}, {"text": "b"}]')["memories"] == [{"text": "a"}, {"text": "b"}]
    assert read("remember", memories='{"text": "a", "kind": "decision"}')["memories"] == [
        {"text": "a", "kind": "decision"}
    ]
    assert read("get_memories", ids='["m1", "m2"]') == {"ids": ["m1", "m2"]}
    assert read("remember", memories="x", session='{"task": "t"}')["session"] == {"task": "t"}


def test_words_that_look_a_little_like_json_stay_words():
    assert read("remember", memories="{name} is a placeholder")["memories"] == [{"text": "{name} is a placeholder"}]
    assert read("remember", memories="[draft] not done")["memories"] == [{"text": "[draft] not done"}]
    assert read("remember", memories=['{"retries": 3}'])["memories"] == [{"text": '{"retries": 3}'}]


def test_broken_json_is_not_stored_as_words():
    with pytest.raises(InvalidInput, match="memories begins like JSON"):
        read("remember", memories='[{"text": "cut o')


def test_the_fields_of_one_memory_stand_for_a_list_of_one():
    assert read("remember", text="a", kind="Decision", subject="s")["memories"] == [
        {"text": "a", "kind": "decision", "subject": "s"}
    ]
    assert read("remember", content="a")["memories"] == [{"text": "a"}]


def test_names_are_understood_in_other_case_and_number():
    assert read("recall", query="x", includeSources=["codex"])["include_sources"] == ["codex"]
    assert read("recall", query="x", **{"budget-tokens": 900})["budget_tokens"] == 900
    assert read("get_memories", id="m1") == {"ids": ["m1"]}
    assert read("update_memory", ids=["m1"]) == {"id": "m1"}


def test_numbers_and_booleans_may_be_text():
    assert read("recall", query="x", limit="8")["limit"] == 8
    assert read("recall", query="x", limit=8.0)["limit"] == 8
    assert read("forget", ids=["m"], confirm="true")["confirm"] is True
    assert read("forget", ids=["m"], confirm="False")["confirm"] is False
    assert read("recall", query=42)["query"] == "42"


def test_null_and_empty_mean_nothing():
    assert read("recall", query="x", branch=None, kinds=[], since="", limit="", files=None) == {"query": "x"}


def test_an_empty_query_lists_what_is_newest():
    for arguments in ({}, {"query": ""}, {"query": None}):
        assert read_arguments(TOOLS["recall"]["inputSchema"], arguments, {"query": ""})[0] == {"query": ""}


def test_an_unknown_field_is_named_in_a_note():
    assert notes("recall", query="x", mood="good") == ["ignored unknown fields: mood"]
    assert notes("remember", memories=[{"text": "a", "tags": ["x"]}, {"text": "b", "tags": []}]) == [
        "ignored unknown fields: memories.tags"
    ]


def test_a_number_outside_its_range_is_moved_and_said():
    values, said = read_arguments(TOOLS["recall"]["inputSchema"], {"query": "x", "limit": 500, "budget_tokens": 1})
    assert (values["limit"], values["budget_tokens"]) == (50, 200)
    assert said == ["limit 500 is outside 1-50: 50 was used", "budget_tokens 1 is outside 200-8000: 200 was used"]


@pytest.mark.parametrize(
    ("tool", "arguments", "complaint"),
    [
        ("recall", {"query": {"a": 1}}, 'query is {"a": 1}; send a string'),
        ("recall", {"query": "x", "limit": "many"}, 'limit is "many"; send a whole number'),
        ("recall", {"query": "x", "limit": True}, "limit is true; send a whole number"),
        ("update_memory", {"id": "m", "if_version": 10**40}, "send a whole number"),
        ("forget", {"ids": ["m"], "confirm": "perhaps"}, 'confirm is "perhaps"; send true or false'),
        ("forget", {}, "ids is missing; 1-20 ids from recall."),
        ("remember", {"memories": 5}, "memories holds 5; send an object with text, kind"),
        ("remember", {"memories": [["a"]]}, "memories holds"),
        ("remember", {}, "memories is missing"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(tool: str, arguments: dict[str, Any], complaint: str):
    with pytest.raises(InvalidInput) as refused:
        read_arguments(TOOLS[tool]["inputSchema"], arguments)
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


def test_values_nested_too_deep_for_the_interpreter_are_read_or_refused_in_a_sentence():
    words: object = "x"
    fields: object = "x"
    for _ in range(100_000):  # since Python 3.12 the JSON encoder goes far deeper than sys.getrecursionlimit()
        words, fields = [words], {"a": fields}
    assert read("recall", query=words) == {"query": "x"}
    for arguments in ({"query": fields}, {"query": "x", "limit": fields}):
        with pytest.raises(InvalidInput, match="a value nested too deep; send a"):
            read("recall", **arguments)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(tool=st.sampled_from(sorted(TOOLS)), data=st.data())
def test_any_arguments_are_read_or_refused(tool: str, data: st.DataObject):
    schema = TOOLS[tool]["inputSchema"]
    names = st.sampled_from([*schema["properties"], "text", "kind", "odd"])
    arguments = data.draw(st.dictionaries(names, json_values, max_size=5))
    try:
        values, _ = read_arguments(schema, arguments)
    except InvalidInput as refused:
        assert str(refused)
    else:
        assert set(values) <= set(schema["properties"])
        assert read_arguments(schema, values) == (values, [])
