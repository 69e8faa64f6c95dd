"""What one hook costs an assistant, beside starting Python alone."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benches.measuring import quantile
from benches.serving import COMMAND

ROUNDS = 10


def measure(_args: object) -> list[dict[str, object]]:
    """Wall and CPU of each event of Claude Code; the budget is 100 ms and 60 CPU-ms."""
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder, "home"), Path(folder, "project")
        (project / ".git").mkdir(parents=True)
        file = project / "app.py"
        file.write_text("".join(f"line {number}\n" for number in range(2_000)))
        edit = {
            "tool_name": "Edit",
            "tool_use_id": "t",
            "tool_input": {"file_path": str(file), "old_string": "line 7\n", "new_string": "line seven\n"},
            "tool_response": {"filePath": str(file), "originalFile": file.read_text()},
        }
        events = {"session-start": {}, "prompt": {"prompt": "fix the line"}, "edit": edit, "session-end": {}}
        common = {"session_id": "s", "cwd": str(project), "hook_event_name": "x"}
        rows = [_row("python -c pass", [sys.executable, "-c", "pass"], {})]
        for event, more in events.items():
            command = [COMMAND[0], "hook", "claude-code", event, "--home", str(home)]
            rows.append(_row(f"hook {event}", command, {**common, **more}))
        return rows


def _row(name: str, command: list[str], payload: dict[str, object]) -> dict[str, object]:
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    wall, cpu = [], []
    for _ in range(ROUNDS + 1):
        before, started = os.times(), time.perf_counter()
        subprocess.run(command, input=json.dumps(payload).encode(), env=environ, capture_output=True, check=True)
        after = os.times()
        wall.append(time.perf_counter() - started)
        cpu.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return {
        "what": name,
        "p50 ms": round(1e3 * quantile(wall[1:], 0.5)),
        "best ms": round(1e3 * min(wall[1:])),
        "CPU ms": round(1e3 * quantile(cpu[1:], 0.5)),
    }
