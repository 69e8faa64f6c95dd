"""What an edit of a configuration file leaves alone."""

import json
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hosts.written import jsonc, markdown, names, toml

from memhub_mcp.errors import ConfigError
from memhub_mcp.hosts import json_text, marked_text, toml_text

NOT_TOML = re.compile(r"line \d+, column \d+: not valid TOML")
ENTRY = {"type": "stdio", "command": "/usr/bin/memhub-mcp", "args": ["serve", "--home", "/tmp/ä b"]}
paths = st.lists(names, min_size=1, max_size=3).map(tuple)


def value_of(text: str) -> object:
    return json_text.parse(text).value


def merged(value, path, entry):
    """What `value` means once `entry` is at `path`."""
    if not path:
        return entry
    return {**value, path[0]: merged(value.get(path[0], {}), path[1:], entry)}


@given(jsonc(), paths)
def test_a_json_entry_arrives_and_leaves_without_a_trace(text, path):
    path = (*path, "memhub")
    before = value_of(text)
    try:
        changed, created = json_text.put(text, path, ENTRY)
    except ConfigError as refused:
        assert "is not an object" in str(refused)
        return
    assert value_of(changed) == merged(before, path, ENTRY)
    removed = json_text.remove(changed, path)
    for level in range(1, created + 1):
        removed = json_text.prune(removed, path[:-level])
    assert removed == text


@given(jsonc(), paths)
def test_an_array_element_arrives_and_leaves_without_a_trace(text, path):
    try:
        changed, created = json_text.append(text, path, {"command": "x"})
    except ConfigError:
        return
    array = json_text.find(json_text.parse(changed), path)
    assert array is not None
    assert array.value[-1] == {"command": "x"}
    removed = json_text.remove(changed, (*path, len(array.value) - 1))
    for level in range(created):
        removed = json_text.prune(removed, path[: len(path) - level])
    assert removed == text


@given(jsonc(), names)
def test_what_the_person_adds_afterwards_stays(text, name):
    changed, _ = json_text.put(text, ("memhub",), ENTRY)
    theirs, _ = json_text.put(changed, (name,), "theirs")
    assert value_of(json_text.remove(theirs, ("memhub",))) == {**value_of(text), name: "theirs"}


@given(jsonc(), jsonc())
def test_a_replaced_value_can_be_put_back(text, other):
    changed, _ = json_text.put(text, ("memhub",), ENTRY)
    place = json_text.find(json_text.parse(changed), ("memhub",))
    assert place is not None
    former = changed[place.start : place.end]
    again, created = json_text.put(changed, ("memhub",), {"other": other})
    assert created == 0
    assert json_text.put_raw(again, ("memhub",), former) == changed


def test_a_comment_stays_with_its_line():
    text = '{\n\t"a": 1, // first\n\t"b": 2 // second\n\t// the end\n}\n'
    changed, _ = json_text.put(text, ("c",), [1, "x"])
    assert changed == '{\n\t"a": 1, // first\n\t"b": 2, // second\n\t"c": [1, "x"]\n\t// the end\n}\n'


def test_an_entry_takes_the_indentation_of_the_file():
    text = '{\n    "mcpServers": {}\n}'
    changed, _ = json_text.put(text, ("mcpServers", "memhub"), {"command": "x", "args": ["y"]})
    assert changed == (
        '{\n    "mcpServers": {\n        "memhub": {\n            "command": "x",\n            "args": ["y"]\n'
        "        }\n    }\n}"
    )


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": 1,\n "b" 2}', "line 2, column 6"),
        ("{\n  'a': 1\n}", "line 2, column 3"),
        ('{"a": [1 2]}', "line 1, column 10"),
        ('{"a": 1} x', "line 1, column 10"),
        ('{"a": "open', "line 1, column 7"),
        ('{"a": 1', "line 1, column 8"),
        ("", "line 1, column 1"),
        ("[" * 1000, "line 1, column 102"),
    ],
)
def test_broken_json_is_refused_with_its_place(text, where):
    with pytest.raises(ConfigError, match=where):
        json_text.put(text, ("memhub",), ENTRY)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_every_json_value_is_read_as_python_reads_it(value):
    assert value_of(json.dumps(value)) == value
    assert value_of(json.dumps(value, ensure_ascii=False, indent=1)) == value


@given(toml())
def test_a_toml_table_arrives_and_leaves_without_a_trace(text):
    path = ("mcp_servers", "memhub")
    try:
        changed = toml_text.put(text, path, {"command": "/x", "args": ["serve", "ä\x7f"]})
    except ConfigError as refused:
        assert NOT_TOML.search(str(refused)) or "add this by hand" in str(refused)
        return
    assert toml_text.find(changed, path) == {"command": "/x", "args": ["serve", "ä\x7f"]}
    assert toml_text.remove(changed, path) == text


@given(toml())
def test_a_replaced_toml_table_can_be_put_back(text):
    path = ("mcp_servers", "memhub")
    try:
        put = toml_text.put(text, path, {"command": "/x"})
    except ConfigError:
        return
    changed = put + "\n[mcp_servers.memhub.tools]\nx = 1\n"
    former = toml_text.raw(changed, path)
    again = toml_text.put(changed, path, {"command": "/y"})
    assert toml_text.find(again, path) == {"command": "/y", "tools": {"x": 1}}
    assert toml_text.put_raw(again, path, former) == changed
    assert toml_text.find(toml_text.remove(again, path), path) is None


def test_broken_toml_is_refused_with_its_place():
    with pytest.raises(ConfigError, match="line 2, column 5"):
        toml_text.put("a = 1\nb = \n", ("x", "y"), {})


@pytest.mark.parametrize(
    "text", ["mcp_servers = {}\n", "mcp_servers.memhub = { command = 'x' }\n", "[mcp_servers]\nmemhub = {}\n"]
)
def test_a_toml_table_that_cannot_be_edited_is_named(text):
    with pytest.raises(ConfigError, match="by hand"):
        toml_text.put(text, ("mcp_servers", "memhub"), {"command": "/x"})


@given(markdown())
def test_a_marked_block_arrives_and_leaves_without_a_trace(text):
    changed = marked_text.put(text, "recall first\n\nremember last")
    assert marked_text.find(changed) == "recall first\n\nremember last"
    assert marked_text.put(changed, "recall first\n\nremember last") == changed
    assert marked_text.remove(changed) == text


@given(markdown(), markdown())
def test_what_follows_a_marked_block_stays(text, more):
    changed = marked_text.put(text, "recall")
    assert marked_text.remove(f"{changed}\n{more}").split() == f"{text}\n{more}".split()


def test_a_block_that_a_merge_repeated_leaves_as_one():
    once = marked_text.put("# Title\n", "recall")
    assert marked_text.remove(marked_text.put("", "recall") + once) == "# Title\n"


def test_a_lone_mark_is_refused_with_its_place():
    with pytest.raises(ConfigError, match="line 2, column 1"):
        marked_text.put("a\n<!-- memhub:end -->\n", "x")


def test_the_dialect_of_tomllib_is_the_law():
    assert tomllib.loads(toml_text.put("", ("a b", "c"), {"k": "v"})) == {"a b": {"c": {"k": "v"}}}
