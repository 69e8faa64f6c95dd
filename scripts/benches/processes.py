"""Memory of one and of four servers on one data directory, and four of them writing at once."""

import threading
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from benches.measuring import quantile
from benches.serving import Server

CLIENTS = 4
WRITES = 50


def measure(_args: object) -> list[dict[str, object]]:
    """PSS idle and after a search with the model in memory; kept writes and their p95."""
    with TemporaryDirectory(prefix="memhub-bench-") as folder, ExitStack() as stack:
        servers = [stack.enter_context(Server(home=Path(folder) / "home")) for _ in range(CLIENTS)]
        for server in servers:
            server.initialize()
            server.call("memory_status", {})
        rows: list[dict[str, object]] = [
            {"what": "PSS of 1 server, MB", "value": round(servers[0].pss_mb())},
            {"what": f"PSS of {CLIENTS} servers, MB", "value": round(sum(s.pss_mb() for s in servers))},
        ]
        times: list[float] = []
        threads = [
            threading.Thread(target=_write, args=(server, number, times)) for number, server in enumerate(servers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        kept = sum(
            f"client {client} note {note} " in str(servers[0].call("recall", {"query": f"zeta{client}q{note}"}))
            for client in range(CLIENTS)
            for note in range(WRITES)
        )
        rows.append({"what": f"{CLIENTS} × {WRITES} writes kept", "value": kept})
        rows.append({"what": "write p50 ms", "value": round(1e3 * quantile(times, 0.5), 2)})
        rows.append({"what": "write p95 ms", "value": round(1e3 * quantile(times, 0.95), 2)})
        for server in servers:
            server.call("recall", {"query": "which note came from the second client"})
        rows.append(
            {"what": f"PSS of {CLIENTS} servers that searched, MB", "value": round(sum(s.pss_mb() for s in servers))}
        )
    return rows


def _write(server: Server, client: int, times: list[float]) -> None:
    for note in range(WRITES):
        started = time.perf_counter()
        server.call("remember", {"memories": [{"text": f"client {client} note {note} about zeta{client}q{note}"}]})
        times.append(time.perf_counter() - started)
