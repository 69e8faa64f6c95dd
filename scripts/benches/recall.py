"""Asking, at several sizes, by words alone and with the embedded model."""

import time
from argparse import Namespace

from benches.hubs import CALLER, empty_hub, fill
from benches.measuring import Laps, questions
from benches.plain import plain_search_laps

CALLS = 100


def measure(args: Namespace) -> list[dict[str, object]]:
    """recall() beside a plain FTS5 query over the same sentences."""
    rows: list[dict[str, object]] = []
    for size in (int(size) for size in args.sizes.split(",")):
        asked = questions(CALLS, size)
        plain = plain_search_laps(size, asked)
        rows.append({"memories": size, "what": "plain FTS5 query", **plain.row(), "× plain": 1.0})
        for embedder in ("off", "minilm"):
            laps = Laps()
            with empty_hub(embedder, size) as hub:
                started = time.perf_counter()
                fill(hub, size)
                filled_s = time.perf_counter() - started
                hub.memories.recall(CALLER, "warm up")
                for question in asked:
                    laps.time(lambda question=question, hub=hub: hub.memories.recall(CALLER, question))
            ratio = round(laps.p50_ms / plain.p50_ms, 1)
            row: dict[str, object] = {"memories": size, "what": f"recall, embedder {embedder}", **laps.row()}
            rows.append({**row, "× plain": ratio, "filled in s": round(filled_s)})
    return rows
