"""What a connection can tell about a full-text match beyond its rank."""

from typing import Any

import apsw


def term_counts(match: apsw.FTS5ExtensionApi, *phrases: Any) -> bytes:
    """How often each of the query's first phrases stands in each column of a row, after the row's length.

    SQL: `term_counts(table, how many phrases)`. Four bytes for the length, then one a count.
    """
    counts = bytearray(match.column_size().to_bytes(4))
    for phrase in range(phrases[0]):
        counts.extend(min(len(places), 255) for places in match.phrase_locations(phrase))
    return bytes(counts)
