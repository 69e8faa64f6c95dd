"""Storing one memory after another, as an assistant does."""

from benches.hubs import CALLER, empty_hub
from benches.measuring import Laps, sentences
from benches.plain import PlainFts

CALLS = 500


def measure(_args: object) -> list[dict[str, object]]:
    """remember() beside one committed row of a plain FTS5 table."""
    texts = sentences(CALLS)
    table, plain = PlainFts(), Laps()
    for text in texts:
        plain.time(lambda text=text: table.store(text))
    table.close()
    rows = [{"what": "plain FTS5 insert", **plain.row(), "× plain": 1.0}]
    for embedder in ("off", "minilm"):
        laps = Laps()
        with empty_hub(embedder) as hub:
            for text in texts:
                laps.time(lambda text=text, hub=hub: hub.memories.remember(CALLER, [{"text": text}]))
        rows.append({"what": f"remember, embedder {embedder}", **laps.row(), "× plain": _ratio(laps, plain)})
    return rows


def _ratio(laps: Laps, plain: Laps) -> float:
    return round(laps.p50_ms / plain.p50_ms, 1)
