"""Full-text search over terms that others made: BM25 over weighted columns."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.domain.memory import Filter
from memhub_mcp.store.connection import Database, Reader, Row, Transaction
from memhub_mcp.store.filtering import conditions
from memhub_mcp.store.values import storable, to_json

K1 = 0.9
B = 0.6
MAX_TERMS = 16
_LEADING_ROWS = 6_000  # rows that the rarest terms may bring in; commoner terms then only add to the score
_MARGIN = 25  # FTS5 ranks with its own constants: so many more rows than wanted are scored again with ours

_COMMON = 2_000  # rows; rarer terms are counted each time
_COUNT_AGAIN_SHARE = 50  # a common term is counted again once the table grew or shrank by a fiftieth

MEMORY_WEIGHTS: Mapping[str, float] = {"body": 1.0, "name": 1.0, "caption": 0.5, "time": 0.5}
COMMIT_WEIGHTS: Mapping[str, float] = {"message": 1.0, "name": 1.0, "changed": 0.5}


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A row found by words. `score` is at most sum(idf) x (k1 + 1); `matched` are the query's terms in it."""

    seq: int
    score: float
    matched: frozenset[str]


@dataclass(frozen=True, slots=True)
class WordRows:
    """Rows that hold terms of a query: how often each row holds each term (weighted by column), and its length."""

    seqs: list[int]
    terms: tuple[str, ...]
    tf: NDArray[np.float64]
    lengths: NDArray[np.float64]
    average_length: float
    idf: NDArray[np.float64]

    def scores(self) -> NDArray[np.float64]:
        """BM25 of each row, at most the sum of the idf times k1 + 1."""
        norm = K1 * (1 - B + B * self.lengths / self.average_length)
        return (self.tf / (self.tf + norm[:, None]) * self.idf).sum(axis=1) * (K1 + 1)

    def matched(self, at: int) -> frozenset[str]:
        """The query's terms in one row."""
        return frozenset(self.terms[k] for k in np.flatnonzero(self.tf[at]))


class Words:
    """One full-text table. Terms are stored joined by a space and never read as FTS5 syntax."""

    def __init__(self, db: Database, table: str = "words", weights: Mapping[str, float] = MEMORY_WEIGHTS) -> None:
        self._db = db
        self._common: dict[str, tuple[int, int]] = {}  # term: its rows, and how long the table was then
        self._columns = tuple(weights)
        self._weights = np.array(tuple(weights.values()))
        names = ", ".join(self._columns)
        self._index = f"INSERT OR REPLACE INTO {table} (rowid, {names}) VALUES (?{', ?' * len(weights)})"
        self._remove = f"DELETE FROM {table} WHERE rowid IN (SELECT value FROM json_each(?))"
        self._clear = f"INSERT INTO {table} ({table}) VALUES ('delete-all')"
        self._merge = f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)"
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

    def merge(self, tx: Transaction, pages: int, *, begin: bool = False) -> bool:
        """A part of what `optimize` does, about so many pages of it; whether there is more to do."""
        before = tx.all_changes
        tx.run(self._merge, (-pages if begin else pages,))
        return tx.all_changes - before >= 2

    def frequencies(self, terms: Iterable[str], *, reader: Reader | None = None) -> dict[str, int]:
        """In how many rows each term stands, 0 included; of common terms, as of when the table was about this long.

        FTS5 counts by reading every row of a term: half a millisecond for one that stands in 20,000.
        """
        rows = self.total()
        wanted = dict.fromkeys((storable(term) for term in terms), 0)
        for term in wanted:
            count, rows_then = self._common.get(term, (0, 0))
            if abs(rows - rows_then) * _COUNT_AGAIN_SHARE < rows_then:
                wanted[term] = min(count, rows)
        asked = [term for term, count in wanted.items() if not count]
        for term, count in (reader or self._db).read(self._frequencies, (to_json(asked),)) if asked else ():
            wanted[term] = count
            if count >= _COMMON:
                self._common[term] = (count, rows)
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

    def search(self, terms: Sequence[str], filter: Filter | None, limit: int) -> list[WordMatch]:
        """The visible rows that hold at least one of the rarer terms, best first. See `match`."""
        found = self.match(terms, filter, limit)
        scores = found.scores()
        best = np.argsort(-scores, kind="stable")[: max(limit, 0)]
        return [WordMatch(found.seqs[at], float(scores[at]), found.matched(at)) for at in best]

    def match(self, terms: Sequence[str], filter: Filter | None, limit: int) -> WordRows:
        """At least the best `limit` visible rows that hold one of the rarer terms, unordered, with their counts.

        At most 16 terms take part, rarest first. A filter is for tables whose rows are memories.
        """
        frequencies = self.frequencies(terms)
        rows, *tokens = self._sizes()
        known = sorted((term for term, df in frequencies.items() if df), key=lambda term: (frequencies[term], term))
        known = known[:MAX_TERMS]
        found: list[Row] = []
        if known and limit > 0:
            leading = _leading(known, frequencies)
            query = " OR ".join(_quoted(term) for term in known)
            if leading < len(known):
                query = f"({query}) AND ({' OR '.join(_quoted(term) for term in known[:leading])})"
            condition, params = conditions(filter) if filter is not None else ("TRUE", [])
            sql = self._search.format(join=self._visible if filter is not None else "", condition=f"AND {condition}")
            found = self._db.read(sql, (len(known), query, *params, limit + _MARGIN))
        counts = np.frombuffer(b"".join(counts[4:] for _, counts in found), np.uint8)
        return WordRows(
            seqs=[seq for seq, _ in found],
            terms=tuple(known),
            tf=counts.astype(np.float64).reshape(len(found), len(known), len(self._columns)) @ self._weights,
            lengths=np.array([int.from_bytes(counts[:4]) for _, counts in found], np.float64),
            average_length=sum(tokens) / rows if rows else 1.0,
            idf=np.array([_idf(rows, frequencies[term]) for term in known]),
        )

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
