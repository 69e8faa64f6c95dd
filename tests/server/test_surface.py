"""What hosts are shown."""

import json
from collections.abc import Iterator
from typing import Any

from memhub_mcp.domain.memory import WRITABLE_KINDS, Feedback, Kind
from memhub_mcp.domain.scope import Tier
from memhub_mcp.server.lenient import LIMITS
from memhub_mcp.server.surface import INSTRUCTIONS, SURFACE, TOOLS
from memhub_mcp.service.drafts import MAX_MEMORIES, MAX_SEARCH_KEYS
from memhub_mcp.service.memories import MAX_IDS


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for child in schema.get("properties", {}).values():
        yield from nodes(child)
    if "items" in schema:
        yield from nodes(schema["items"])


def test_tools_fit_their_budget():
    assert len(json.dumps({"tools": SURFACE["tools"]}, separators=(",", ":"), ensure_ascii=False)) / 4 <= 2_500


def test_the_seven_tools_are_there():
    assert list(TOOLS) == [
        "recall",
        "remember",
        "code_history",
        "get_memories",
        "update_memory",
        "forget",
        "memory_status",
    ]


def test_every_schema_node_has_one_type_and_no_keyword_that_hosts_strip():
    for tool in TOOLS.values():
        assert set(tool) <= {"name", "description", "inputSchema", "annotations", "_meta"}
        for node in nodes(tool["inputSchema"]):
            assert isinstance(node["type"], str)
            assert set(node) <= {"type", "description", "properties", "required", "items", "enum"}
            assert set(node.get("required", ())) <= set(node.get("properties", ()))


def test_every_parameter_is_described():
    for tool in TOOLS.values():
        for node in nodes(tool["inputSchema"]):
            assert all(child.get("description") for child in node.get("properties", {}).values())


def test_limits_stand_in_the_words():
    for name, (lowest, highest) in LIMITS.items():
        for tool in ("recall", "code_history"):
            assert f"{lowest}-{highest}" in TOOLS[tool]["inputSchema"]["properties"][name]["description"]
    remember = TOOLS["remember"]["inputSchema"]["properties"]["memories"]
    assert f"1-{MAX_MEMORIES}" in remember["description"]
    assert f"Up to {MAX_SEARCH_KEYS}" in remember["items"]["properties"]["search_keys"]["description"]
    for tool in ("get_memories", "forget"):
        assert f"1-{MAX_IDS}" in TOOLS[tool]["inputSchema"]["properties"]["ids"]["description"]


def test_the_words_offered_are_the_words_understood():
    memory = TOOLS["remember"]["inputSchema"]["properties"]["memories"]["items"]["properties"]
    assert set(memory["kind"]["enum"]) == WRITABLE_KINDS
    assert set(memory["tier"]["enum"]) == set(Tier)
    assert set(TOOLS["recall"]["inputSchema"]["properties"]["kinds"]["items"]["enum"]) == set(Kind)
    assert set(TOOLS["update_memory"]["inputSchema"]["properties"]["feedback"]["enum"]) == set(Feedback)


def test_every_tool_says_what_it_may_change():
    for tool in TOOLS.values():
        assert set(tool["annotations"]) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert [name for name, tool in TOOLS.items() if tool["annotations"]["destructiveHint"]] == ["forget"]
    assert [name for name, tool in TOOLS.items() if not tool["annotations"]["readOnlyHint"]] == [
        "remember",
        "update_memory",
        "forget",
    ]


def test_only_recall_is_always_loaded():
    assert {name: tool["_meta"] for name, tool in TOOLS.items() if "_meta" in tool} == {
        "recall": {"anthropic/alwaysLoad": True}
    }


def test_instructions_are_short_and_say_when_to_recall_and_when_to_remember():
    assert len(INSTRUCTIONS.split()) <= 120
    assert "Call recall before" in INSTRUCTIONS
    assert "Call remember when" in INSTRUCTIONS
