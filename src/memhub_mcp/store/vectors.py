"""Vectors of memories: by whom they are to be made, and which are nearest."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.embedding import EmbeddingSpace
from memhub_mcp.domain.memory import Filter
from memhub_mcp.store.bits import BitMatrix, sign_bits
from memhub_mcp.store.connection import Database, Row, Transaction
from memhub_mcp.store.extension import load_sqlite_vec
from memhub_mcp.store.filtering import conditions
from memhub_mcp.store.values import to_json, to_micros

EXACT_BELOW = 2_000
_SHARE = 0.015
_FEWEST = 400
_ENOUGH_VISIBLE = 200  # visible candidates; a filter that leaves fewer makes the circle wider
_MOST_ATTEMPTS = 5
_LACKING_SHARE = 0.1  # of the memories: a space that lacks no more than these serves at once
_LONGEST_LEASE_S = 3_600.0  # a lease beyond this was written by a clock that has since jumped back

_SPACE = "SELECT id, name, dimension, state FROM embedding_space WHERE name = ?"
_ACTIVE = "SELECT id, name, dimension, state FROM embedding_space WHERE state = 'active'"
_CHOSEN = "SELECT id, name, dimension, state FROM embedding_space WHERE chosen > 0 ORDER BY chosen DESC LIMIT 1"
_CHOOSE = "UPDATE embedding_space SET chosen = (SELECT max(chosen) FROM embedding_space) + 1 WHERE id = ?"
_ADD_SPACE = "INSERT INTO embedding_space (name, dimension, state, changed_at) VALUES (?, ?, 'retired', ?)"
_SET_STATE = "UPDATE embedding_space SET state = ?, changed_at = ? WHERE id = ?"
_RETIRE = "UPDATE embedding_space SET state = 'retired', changed_at = ? WHERE id <> ? AND state <> 'retired'"
_ABANDON = "UPDATE embedding_space SET state = 'retired', changed_at = ? WHERE id <> ? AND state = 'filling'"
_UNQUEUE = "DELETE FROM embedding_queue WHERE space IN (SELECT id FROM embedding_space WHERE state = 'retired')"
_QUEUE_MISSING = """INSERT OR IGNORE INTO embedding_queue (memory, space)
    SELECT seq, ?1 FROM memory WHERE seq NOT IN (SELECT memory FROM vector WHERE space = ?1)"""
_COUNT_MEMORIES = "SELECT count(*) FROM memory"
_RETIRED = "SELECT id, name, dimension, state FROM embedding_space WHERE state = 'retired' AND changed_at < ?"
_DISCARD = """DELETE FROM vector WHERE id IN (SELECT v.id FROM vector AS v
    JOIN embedding_space AS s ON s.id = v.space WHERE s.state = 'retired' AND s.changed_at < ? LIMIT ?)"""
_DISCARD_TOKENS = """DELETE FROM token_bits WHERE rowid IN (SELECT t.rowid FROM token_bits AS t
    JOIN embedding_space AS s ON s.id = t.space WHERE s.state = 'retired' AND s.changed_at < ? LIMIT ?)"""
_DISCARD_SPACES = """DELETE FROM embedding_space WHERE state = 'retired' AND changed_at < ?
    AND NOT EXISTS (SELECT 1 FROM vector WHERE space = embedding_space.id)"""

_FORGET_OLD = "DELETE FROM vector WHERE memory = ?"
_FORGET_OLD_TOKENS = "DELETE FROM token_bits WHERE memory = ?"
_ENQUEUE = """INSERT INTO embedding_queue (memory, space)
    SELECT ?, id FROM embedding_space WHERE state <> 'retired'
    ON CONFLICT DO UPDATE SET lease_until = 0, attempts = 0"""
_CLAIM = f"""UPDATE embedding_queue SET lease_until = ?1, attempts = attempts + 1
    WHERE space = ?2 AND memory IN (
        SELECT memory FROM embedding_queue
        WHERE space = ?2 AND attempts < {_MOST_ATTEMPTS} AND lease_until NOT BETWEEN ?3 AND ?4
        ORDER BY attempts, memory DESC LIMIT ?5)
    RETURNING memory"""
_DONE = """DELETE FROM embedding_queue
    WHERE space = ? AND lease_until > 0 AND memory IN (SELECT value FROM json_each(?))"""
_RELEASE = """UPDATE embedding_queue SET lease_until = 0, attempts = attempts - 1
    WHERE space = ? AND lease_until > 0 AND memory IN (SELECT value FROM json_each(?))"""
_HOLD = """UPDATE embedding_queue SET lease_until = ?
    WHERE space = ? AND memory IN (SELECT value FROM json_each(?))"""
_PENDING = f"SELECT count(*) FROM embedding_queue WHERE space = ? AND attempts < {_MOST_ATTEMPTS}"
_IS_FILLED = f"""SELECT 1 FROM embedding_space WHERE id = ? AND state = 'filling' AND NOT EXISTS (
    SELECT 1 FROM embedding_queue WHERE space = ? AND attempts < {_MOST_ATTEMPTS})"""
_DIMENSION = "SELECT dimension FROM embedding_space WHERE id = ?"
_PUT = """INSERT OR REPLACE INTO vector (memory, key, space, bits, vector)
    SELECT seq, ?, ?, ?, ? FROM memory WHERE seq = ?"""
_FORGET = "DELETE FROM vector WHERE space = ? AND memory IN (SELECT value FROM json_each(?))"
_FORGET_TOKENS = "DELETE FROM token_bits WHERE space = ? AND memory IN (SELECT value FROM json_each(?))"
_OF = """SELECT memory, key, vector FROM vector
    WHERE space = ? AND length(vector) = ? AND memory IN (SELECT value FROM json_each(?)) ORDER BY memory, key"""

_COUNT = "SELECT count(*) FROM vector WHERE space = ?"
_COUNT_VISIBLE = "SELECT count(*) FROM (SELECT 1 FROM memory AS m WHERE {condition} LIMIT ?)"
_ALL_VISIBLE = """SELECT v.memory, v.key, v.vector FROM memory AS m CROSS JOIN vector AS v ON v.memory = m.seq
    WHERE {condition} AND v.space = ? AND length(v.vector) = ?"""
_THESE_VISIBLE = """SELECT v.memory, v.key, v.vector FROM json_each(?) AS wanted
    CROSS JOIN vector AS v ON v.id = wanted.value CROSS JOIN memory AS m ON m.seq = v.memory
    WHERE length(v.vector) = ? AND {condition}"""
_NEAREST = """SELECT id FROM vector WHERE space = ? AND length(bits) = ?
    ORDER BY vec_distance_hamming(vec_bit(bits), vec_bit(?)), id LIMIT ?"""


@dataclass(frozen=True, slots=True)
class EmbeddingSpaceRow:
    """A space as this store knows it: `active` serves, `filling` will, `retired` can come back until it is removed."""

    id: int
    name: str
    dimension: int
    state: Literal["active", "filling", "retired"]


@dataclass(frozen=True, slots=True)
class VectorMatch:
    """A memory found by meaning, with the key of its nearest vector."""

    seq: int
    key: int
    cosine: float


class Vectors:
    """The vectors of one store. Vectors of two spaces never meet."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._matrices: dict[int, BitMatrix] = {}

    def space_id(self, tx: Transaction, space: EmbeddingSpace) -> int:
        """The row of `space`, with every memory queued for it that it lacks.

        One that holds nearly all of them serves at once, as does the first of a store; else it fills.
        """
        known = tx.read(_SPACE, (space.name,))
        if not known:
            tx.run(_ADD_SPACE, (space.name, space.dimension, to_micros(self._clock())))
            known = tx.read(_SPACE, (space.name,))
        id_, _, _, state = known[0]
        if state == "retired":
            tx.run(_QUEUE_MISSING, (id_,))
            missing = tx.changes
            if not tx.read(_ACTIVE) or missing <= tx.read(_COUNT_MEMORIES)[0][0] * _LACKING_SHARE:
                self.activate(tx, id_)
            else:
                tx.run(_SET_STATE, ("filling", to_micros(self._clock()), id_))
        return id_

    def choose(self, tx: Transaction, space: EmbeddingSpace) -> int:
        """As `space_id`, and `space` is what is asked for from now on: another that was filling stops."""
        id_ = self.space_id(tx, space)
        tx.run(_CHOOSE, (id_,))
        tx.run(_ABANDON, (to_micros(self._clock()), id_))
        tx.run(_UNQUEUE)
        return id_

    def chosen(self) -> EmbeddingSpaceRow | None:
        """The space that was asked for last."""
        rows = self._db.read(_CHOSEN)
        return EmbeddingSpaceRow(*rows[0]) if rows else None

    def find_space(self, space: EmbeddingSpace) -> EmbeddingSpaceRow | None:
        """What this store knows of `space`."""
        rows = self._db.read(_SPACE, (space.name,))
        return EmbeddingSpaceRow(*rows[0]) if rows else None

    def active_space(self) -> EmbeddingSpaceRow | None:
        """The space that serves; None until a model was first used."""
        rows = self._db.read(_ACTIVE)
        return EmbeddingSpaceRow(*rows[0]) if rows else None

    def activate(self, tx: Transaction, space: int) -> None:
        """Let `space` serve; the others retire, and keep their vectors until they are discarded."""
        now = to_micros(self._clock())
        tx.run(_RETIRE, (now, space))
        tx.run(_SET_STATE, ("active", now, space))
        tx.run(_UNQUEUE)
        _ = tx.generation

    def take_over(self, tx: Transaction, space: int) -> bool:
        """Let a space that was filling serve, unless it was given up or memories wait again meanwhile."""
        if not tx.read(_IS_FILLED, (space, space)):
            return False
        self.activate(tx, space)
        return True

    def retired(self, before: datetime) -> list[EmbeddingSpaceRow]:
        """The spaces that retired before that moment."""
        return [EmbeddingSpaceRow(*row) for row in self._db.read(_RETIRED, (to_micros(before),))]

    def discard(self, tx: Transaction, limit: int, before: datetime) -> int:
        """Remove up to `limit` vectors of spaces that retired before that moment; 0 when all are gone."""
        moment = to_micros(before)
        for sql in (_DISCARD, _DISCARD_TOKENS):
            tx.run(sql, (moment, limit))
            if tx.changes:
                return tx.changes
        tx.run(_DISCARD_SPACES, (moment,))
        return 0

    def put(self, tx: Transaction, seq: int, key: int, space: int, vector: NDArray[np.float32]) -> None:
        """Keep a unit vector. A memory that was erased meanwhile gets none."""
        dimension = tx.read(_DIMENSION, (space,))[0][0]
        if vector.shape != (dimension,):
            raise ValueError(f"a vector of shape {vector.shape} is not of space {space} with {dimension} dimensions")
        tx.run(_PUT, (key, space, sign_bits(vector), vector.astype("<f2").tobytes(), seq))

    def of(self, space: int, seqs: Iterable[int], dimension: int) -> list[tuple[int, int, NDArray[np.float32]]]:
        """The vectors of these memories: (seq, key, vector)."""
        rows = self._db.read(_OF, (space, 2 * dimension, to_json(seqs)))
        return [(seq, key, vector) for (seq, key, _), vector in zip(rows, _as_matrix(rows, dimension), strict=True)]

    def forget(self, tx: Transaction, space: int, seqs: Iterable[int]) -> None:
        """Remove the vectors of these memories in one space, before others take their place."""
        gone = to_json(seqs)
        tx.run(_FORGET, (space, gone))
        tx.run(_FORGET_TOKENS, (space, gone))

    def enqueue(self, tx: Transaction, seq: int) -> None:
        """Ask for the vectors of a new or changed memory; those of an earlier wording go."""
        tx.run(_FORGET_OLD, (seq,))
        tx.run(_FORGET_OLD_TOKENS, (seq,))
        tx.run(_ENQUEUE, (seq,))

    def claim(self, tx: Transaction, space: int, limit: int, lease_s: float) -> list[int]:
        """Memories that this process now embeds, newest first; another may take them after `lease_s`."""
        now = to_micros(self._clock())
        until, longest = now + int(lease_s * 1e6), now + int(_LONGEST_LEASE_S * 1e6)
        return sorted((seq for (seq,) in tx.run(_CLAIM, (until, space, now, longest, limit))), reverse=True)

    def done(self, tx: Transaction, space: int, seqs: Iterable[int]) -> None:
        """Take claimed memories off the queue; one that changed since stays on it."""
        tx.run(_DONE, (space, to_json(seqs)))

    def hold(self, tx: Transaction, space: int, seqs: Iterable[int], lease_s: float) -> None:
        """Let nobody else claim these for `lease_s` from now, as far as they wait."""
        tx.run(_HOLD, (to_micros(self._clock()) + int(lease_s * 1e6), space, to_json(seqs)))

    def release(self, tx: Transaction, space: int, seqs: Iterable[int]) -> None:
        """Give claimed memories back: nothing was tried with them."""
        tx.run(_RELEASE, (space, to_json(seqs)))

    def pending(self, space: int) -> int:
        """How many memories still wait for their vectors."""
        return self._db.read(_PENDING, (space,))[0][0]

    def search(self, space: int, query: NDArray[np.float32], filter: Filter, limit: int) -> list[VectorMatch]:
        """The visible memories nearest to `query`, a unit vector, each by its nearest key.

        Exact while fewer than 2,000 memories are visible. Beyond, the nearest 1.5 % by sign bits are
        compared exactly; more when few of them are visible.
        """
        condition, params = conditions(filter)
        count_visible = _COUNT_VISIBLE.format(condition=condition)
        if self._db.read(count_visible, (*params, EXACT_BELOW))[0][0] < EXACT_BELOW:
            rows = self._db.read(_ALL_VISIBLE.format(condition=condition), (*params, space, 2 * query.size))
            return _best(rows, query, limit)
        these_visible = _THESE_VISIBLE.format(condition=condition)
        rows: list[Row] = []
        for circle in self._circles(space, query):
            rows += self._db.read(these_visible, (to_json(circle), 2 * query.size, *params))
            if len(rows) >= max(limit, _ENOUGH_VISIBLE):
                break
        return _best(rows, query, limit)

    def _circles(self, space: int, query: NDArray[np.float32]) -> Iterator[list[int]]:
        """Vectors of `space` in growing circles around `query`, by Hamming distance, then by id.

        The first search of a process lets sqlite-vec scan the table; one that searches again keeps the bits in memory.
        """
        bits = sign_bits(query)
        if space not in self._matrices:
            self._matrices[space] = BitMatrix(self._db, space, len(bits))
            if load_sqlite_vec(self._db.reader()):
                for start, end in _rings(self._db.read(_COUNT, (space,))[0][0]):
                    yield [id_ for (id_,) in self._db.read(_NEAREST, (space, len(bits), bits, end))[start:]]
                return
        nearest = self._matrices[space].nearest(bits)
        for start, end in _rings(len(nearest)):
            yield nearest[start:end].tolist()


def _rings(total: int) -> Iterator[tuple[int, int]]:
    start, end = 0, max(_FEWEST, int(_SHARE * total))
    while start < total:
        yield start, end
        start, end = end, 4 * end


def _as_matrix(rows: list[Row], dimension: int) -> NDArray[np.float32]:
    """The vectors of rows that end with one."""
    return np.frombuffer(b"".join(row[-1] for row in rows), "<f2").astype(np.float32).reshape(len(rows), dimension)


def _best(rows: list[Row], query: NDArray[np.float32], limit: int) -> list[VectorMatch]:
    # vecdot, not @: BLAS wakes its threads for this and may wait milliseconds for them.
    # float16 can leave a length just over 1.
    cosines = np.minimum(np.vecdot(_as_matrix(rows, query.size), query), 1.0)
    best: dict[int, VectorMatch] = {}
    for at in np.argsort(-cosines, kind="stable"):
        seq, key, _ = rows[at]
        if seq not in best:
            if len(best) == limit:
                break
            best[seq] = VectorMatch(seq, key, float(cosines[at]))
    return list(best.values())
