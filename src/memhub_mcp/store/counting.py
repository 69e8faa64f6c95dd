"""What a connection can tell about a full-text match beyond its rank."""

import apsw


def term_counts(match: apsw.FTS5ExtensionApi, *_: object) -> bytes:
    """How often each phrase of the query stands in each column of a row, after the row's length (four bytes)."""
    counts = bytearray(match.column_size().to_bytes(4))
    for phrase in range(match.phrase_count):
        counts.extend(min(len(places), 255) for places in match.phrase_locations(phrase))
    return bytes(counts)
