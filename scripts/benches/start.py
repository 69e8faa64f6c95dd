"""From starting the installed script to the answer to tools/list."""

import os
import subprocess
import sys
import time

from benches.measuring import quantile
from benches.serving import Server

ROUNDS = 7
PEER = "MEMHUB_BENCH_PEER"  # a command that starts another stdio server, to stand beside ours in the same run


def measure(_args: object) -> list[dict[str, object]]:
    """Wall and CPU until the lists are answered, beside importing the SDK alone (and a peer, when named)."""
    rows = [_row("memhub-mcp serve", *_served(None)), _row("python -c 'import mcp'", *_imported())]
    if os.environ.get(PEER):
        rows.append(_row("peer", *_served(os.environ[PEER].split())))
    return rows


def _served(command: list[str] | None) -> tuple[list[float], list[float]]:
    wall, cpu = [], []
    for _ in range(ROUNDS + 1):
        started = time.perf_counter()
        with Server(command) as server:
            server.initialize()
            server.ask("tools/list", {})
            wall.append(time.perf_counter() - started)
            cpu.append(server.cpu_s())
    return wall[1:], cpu[1:]  # the first round writes bytecode


def _imported() -> tuple[list[float], list[float]]:
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    wall, cpu = [], []
    for _ in range(3):
        before, started = os.times(), time.perf_counter()
        subprocess.run([sys.executable, "-c", "import mcp"], check=True, env=environ)
        after = os.times()
        wall.append(time.perf_counter() - started)
        cpu.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return wall, cpu


def _row(name: str, wall: list[float], cpu: list[float]) -> dict[str, object]:
    return {
        "what": name,
        "p50 s": round(quantile(wall, 0.5), 3),
        "best s": round(min(wall), 3),
        "CPU s": round(quantile(cpu, 0.5), 3),
    }
