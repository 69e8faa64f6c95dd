"""Transcripts written by hand, line by line, in the forms of the hosts."""

import json
from pathlib import Path
from typing import Any

T = "2026-03-04T05:06:{:02}.000Z"


def write_lines(path: Path, *lines: dict[str, Any] | str) -> Path:
    """A file of JSON lines; a text is written as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


class Claude:
    """Lines of a Claude Code session, one second apart."""

    def __init__(self, session: str = "s1", **common: Any) -> None:
        self._common = {"sessionId": session, "cwd": "/w", "gitBranch": "main", "version": "2", **common}
        self._second = 0

    def line(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Any line."""
        self._second += 1
        time = T.format(self._second)
        return {"type": kind, "uuid": f"u{self._second}", "timestamp": time, **self._common, **fields}

    def person(self, content: Any, **fields: Any) -> dict[str, Any]:
        """A user turn."""
        return self.line("user", message={"role": "user", "content": content}, **fields)

    def says(self, text: str, message: str, **fields: Any) -> dict[str, Any]:
        """A text block of the assistant's."""
        block = {"type": "text", "text": text}
        return self.line("assistant", message={"id": message, "role": "assistant", "content": [block]}, **fields)

    def calls(self, tool: str, call: str, message: str = "m", **given: Any) -> dict[str, Any]:
        """A tool call."""
        block = {"type": "tool_use", "id": call, "name": tool, "input": given}
        return self.line("assistant", message={"id": message, "role": "assistant", "content": [block]})

    def result(self, call: str, outcome: Any = None, *, failed: bool = False, **fields: Any) -> dict[str, Any]:
        """A tool's result."""
        block = {"type": "tool_result", "tool_use_id": call, "content": "ok", "is_error": failed}
        return self.line("user", message={"role": "user", "content": [block]}, toolUseResult=outcome, **fields)

    def edit(self, call: str, path: str, before: str, old: str, new: str) -> list[dict[str, Any]]:
        """An edit and its result."""
        outcome = {"filePath": path, "oldString": old, "newString": new, "originalFile": before}
        called = self.calls("Edit", call, message=f"m-{call}", file_path=path, old_string=old, new_string=new)
        return [called, self.result(call, outcome)]
