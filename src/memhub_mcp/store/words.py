"""Full-text search over terms that others made: BM25 over weighted columns."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memhub_mcp.domain.memory import Filter
from memhub_mcp.store.connection import Database, Reader, Transaction
from memhub_mcp.store.filtering import conditions
from memhub_mcp.store.values import storable, to_json

K1 = 0.9
B = 0.6
MAX_TERMS = 16
_LEADING_ROWS = 6_000  # rows that the rarest terms may bring in; commoner terms then only add to the score
_MARGIN = 25  # FTS5 ranks with its own constants: so many more rows than wanted are scored again with ours

MEMORY_WEIGHTS: Mapping[str, float] = {"body": 1.0, "name": 1.0, "caption": 0.5, "time": 0.5}
COMMIT_WEIGHTS: Mapping[str, float] = {"message": 1.0, "name": 1.0, "changed": 0.5}


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A row found by words. `score` is at most `best_score` of the query; `matched` are the query's terms in it."""

    seq: int
    score: float
    matched: frozenset[str]


class Words:
    """One full-text table. Terms are stored joined by a space and never read as FTS5 syntax."""

    def __init__(self, db: Database, table: str = "words", weights: Mapping[str, float] = MEMORY_WEIGHTS) -> None:
        self._db = db
        self._columns = tuple(weights)
        self._weights = np.array(tuple(weights.values()))
        names = ", ".join(self._columns)
        self._index = f"INSERT OR REPLACE INTO {table} (rowid, {names}) VALUES (?{', ?' * len(weights)})"
        self._remove = f"DELETE FROM {table} WHERE rowid IN (SELECT value FROM json_each(?))"
        self._clear = f"INSERT INTO {table} ({table}) VALUES ('delete-all')"
        self._optimize = f"INSERT INTO {table} ({table}) VALUES ('optimize')"
        self._frequencies = f"""SELECT wanted.value, vocab.doc FROM json_each(?) AS wanted
            CROSS JOIN {table}_vocab AS vocab ON vocab.term = wanted.value"""
        self._averages = f"SELECT block FROM {table}_data WHERE id = 1"
        rank = f"bm25({', '.join(str(weight) for weight in weights.values())})"
        self._search = f"""SELECT {table}.rowid, term_counts({table}, ?) FROM {table} {{join}}
            WHERE {table} MATCH ? AND {table}.rank MATCH '{rank}' {{condition}} ORDER BY {table}.rank LIMIT ?"""
        self._visible = f"CROSS JOIN memory AS m ON m.seq = {table}.rowid"
        self._holding = f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY rowid DESC LIMIT ?"

    def index(self, tx: Transaction, seq: int, fields: Mapping[str, Sequence[str]]) -> None:
        """Make a row findable by the terms of each column; what it had before is replaced."""
        tx.run(self._index, (seq, *(" ".join(fields.get(column, ())) for column in self._columns)))

    def remove(self, tx: Transaction, seqs: Iterable[int]) -> None:
        """Make rows unfindable."""
        tx.run(self._remove, (to_json(seqs),))

    def clear(self, tx: Transaction) -> None:
        """Make every row unfindable, before a re-index."""
        tx.run(self._clear)

    def optimize(self, tx: Transaction) -> None:
        """Merge the index into one piece; only then do removed terms leave the file."""
        tx.run(self._optimize)

    def frequencies(self, terms: Iterable[str], *, reader: Reader | None = None) -> dict[str, int]:
        """In how many rows each term stands, 0 included."""
        wanted = dict.fromkeys((storable(term) for term in terms), 0)
        wanted.update((reader or self._db).read(self._frequencies, (to_json(wanted),)))
        return wanted

    def total(self) -> int:
        """How many rows are findable."""
        return self._sizes()[0]

    def average_length(self) -> float:
        """Terms a row, all columns together."""
        rows, *tokens = self._sizes()
        return sum(tokens) / rows if rows else 0.0

    def idf(self, terms: Iterable[str]) -> dict[str, float]:
        """The weight of each term: ln(1 + (N - df + .5) / (df + .5)), never negative.

        Source: Lucene's BM25Similarity.
        """
        total = self.total()
        return {term: _idf(total, df) for term, df in self.frequencies(terms).items()}

    def best_score(self, terms: Iterable[str]) -> float:
        """What no row can exceed for this query."""
        return sum(self.idf(terms).values()) * (K1 + 1)

    def search(self, terms: Sequence[str], filter: Filter | None, limit: int) -> list[WordMatch]:
        """The visible rows that hold at least one of the rarer terms, best first.

        At most 16 terms take part, rarest first. A filter is for tables whose rows are memories.
        """
        frequencies = self.frequencies(terms)
        rows, *tokens = self._sizes()
        known = sorted((term for term, df in frequencies.items() if df), key=lambda term: (frequencies[term], term))
        known = known[:MAX_TERMS]
        if not known or limit <= 0:
            return []
        leading = _leading(known, frequencies)
        query = " OR ".join(_quoted(term) for term in known)
        if leading < len(known):
            query = f"({query}) AND ({' OR '.join(_quoted(term) for term in known[:leading])})"
        condition, params = conditions(filter) if filter is not None else ("TRUE", [])
        sql = self._search.format(join=self._visible if filter is not None else "", condition=f"AND {condition}")
        found = self._db.read(sql, (len(known), query, *params, limit + _MARGIN))
        if not found:
            return []
        lengths = np.array([int.from_bytes(counts[:4]) for _, counts in found])
        shape = (len(found), -1, len(self._columns))
        counts = np.frombuffer(b"".join(counts[4:] for _, counts in found), np.uint8).reshape(shape)
        tf = counts @ self._weights
        norm = K1 * (1 - B + B * lengths / (sum(tokens) / rows))
        idf = np.array([_idf(rows, frequencies[term]) for term in known])
        scores = (tf / (tf + norm[:, None]) * idf).sum(axis=1) * (K1 + 1)
        best = np.argsort(-scores, kind="stable")[:limit]
        return [
            WordMatch(found[at][0], float(scores[at]), frozenset(known[k] for k in np.flatnonzero(tf[at])))
            for at in best
        ]

    def holding(self, terms: Sequence[str], limit: int) -> list[int]:
        """The latest rows that hold every one of `terms`, unranked: cheap where a search is not."""
        query = " AND ".join(_quoted(term) for term in terms)
        return [seq for (seq,) in self._db.read(self._holding, (query, limit))] if terms else []

    def _sizes(self) -> list[int]:
        """Rows, then tokens of each column: FTS5's own averages record, all of it varints."""
        numbers: list[int] = []
        value = 0
        for byte in self._db.read(self._averages)[0][0]:
            value = value << 7 | byte & 0x7F
            if byte < 0x80:
                numbers.append(value)
                value = 0
        return numbers or [0]


def _leading(known: Sequence[str], frequencies: Mapping[str, int]) -> int:
    """How many of the terms, rarest first, bring rows in by themselves."""
    reached = 0
    for place, term in enumerate(known):
        reached += frequencies[term]
        if place and reached > _LEADING_ROWS:
            return place
    return len(known)


def _idf(total: int, df: int) -> float:
    return math.log(1 + (max(total - df, 0) + 0.5) / (df + 0.5))


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
