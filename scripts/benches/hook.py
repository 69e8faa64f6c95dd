"""What one hook costs an assistant, beside starting Python alone."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pygit2

from benches.measuring import children_cpu_s, quantile
from benches.serving import COMMAND, Server

ROUNDS = 10
WALL_MS, CPU_MS = 100, 60


def measure(_args: object) -> list[dict[str, object]]:
    """Wall and CPU of each event of Claude Code, also as shares of the budget: 100 ms and 60 CPU-ms."""
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder, "home"), Path(folder, "project")
        pygit2.init_repository(project)
        file = project / "app.py"
        file.write_text("".join(f"line {number}\n" for number in range(2_000)))
        edit = {
            "tool_name": "Edit",
            "tool_use_id": "t",
            "tool_input": {"file_path": str(file), "old_string": "line 7\n", "new_string": "line seven\n"},
            "tool_response": {"filePath": str(file), "originalFile": file.read_text()},
        }
        events = {
            "session-start": {},
            "prompt": {"prompt": "fix the seventh line"},
            "edit": edit,
            "compact": {},
            "session-end": {},
        }
        common = {"cwd": str(project), "hook_event_name": "x"}
        rows = [_row("python -c pass", [sys.executable, "-c", "pass"], {})]
        for event, more in events.items():
            rows.append(_row(f"hook {event}", _hook(event, home), {**common, **more}))
        workspace = {"workspace": str(project)}
        with Server([*COMMAND, "--workspace", str(project)], home=home) as server:
            server.initialize()
            server.call("remember", {"memories": [{"text": "The seventh line is fixed by hand"}], **workspace})
            server.call("recall", {"query": "fix the seventh line", **workspace})
            rows.append(_row("hook prompt, a server answers", _hook("prompt", home), {**common, **events["prompt"]}))
        return rows


def _hook(event: str, home: Path) -> list[str]:
    return [COMMAND[0], "hook", "claude-code", event, "--home", str(home)]


def _row(name: str, command: list[str], payload: dict[str, object]) -> dict[str, object]:
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    wall, cpu, told = [], [], 0
    for number in range(ROUNDS + 1):
        said = json.dumps({**payload, "session_id": f"s{number}"}).encode()  # a session is told the same only once
        before, started = children_cpu_s(), time.perf_counter()
        done = subprocess.run(command, input=said, env=environ, capture_output=True, check=True)
        wall.append(time.perf_counter() - started)
        cpu.append(children_cpu_s() - before)
        told += bool(done.stdout)
    wall_ms, cpu_ms = 1e3 * quantile(wall[1:], 0.5), 1e3 * quantile(cpu[1:], 0.5)
    return {
        "what": name,
        "p50 ms": round(wall_ms),
        "best ms": round(1e3 * min(wall[1:])),
        "CPU ms": round(cpu_ms),
        f"of {WALL_MS} ms": f"×{wall_ms / WALL_MS:.2f}",
        f"of {CPU_MS} CPU-ms": f"×{cpu_ms / CPU_MS:.2f}",
        "told": f"{told} of {ROUNDS + 1}",
    }
