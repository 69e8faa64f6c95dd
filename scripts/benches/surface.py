"""How much of a model's context the tools take."""

import json

from benches.serving import Server


def measure(_args: object) -> list[dict[str, object]]:
    """Characters and tokens (characters ÷ 4) of the tools/list result."""
    with Server() as server:
        server.initialize()
        tools = server.ask("tools/list", {})["result"]["tools"]
    characters = len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")))
    return [{"tools": len(tools), "characters": characters, "tokens": characters // 4}]
