"""Which memories came out of which file, and where they stand in it."""

from collections.abc import Iterable

from memhub_mcp.store.connection import Database, Reader, Transaction
from memhub_mcp.store.values import to_json

_OF_FILE = "SELECT memory, line FROM excerpt WHERE file = ? ORDER BY line, memory"
_PLACES = """SELECT memory, file, line FROM excerpt
    WHERE memory IN (SELECT value FROM json_each(?)) AND line IS NOT NULL ORDER BY memory, file"""
_FILES = (
    "SELECT DISTINCT file FROM excerpt WHERE line IS NOT NULL AND file >= ?1 AND file < ?1 || char(1114111) ORDER BY 1"
)
_PUT = "INSERT INTO excerpt (file, memory, line) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET line = excluded.line"


class Excerpts:
    """The excerpts of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def of(self, file: str, *, reader: Reader | None = None) -> dict[int, int | None]:
        """The line of each memory that ever came out of a file, by its row; None when it stands there no more."""
        return dict((reader or self._db).read(_OF_FILE, (file,)))

    def places(self, seqs: Iterable[int], *, reader: Reader | None = None) -> dict[int, list[tuple[str, int]]]:
        """The files and lines where these memories stand."""
        found: dict[int, list[tuple[str, int]]] = {}
        for seq, file, line in (reader or self._db).read(_PLACES, (to_json(seqs),)):
            found.setdefault(seq, []).append((file, line))
        return found

    def files(self, beginning: str = "") -> list[str]:
        """The files that memories stand in, those whose name begins so."""
        return [file for (file,) in self._db.read(_FILES, (beginning,))]

    def put(self, tx: Transaction, file: str, seq: int, line: int | None) -> None:
        """Note where a memory stands in a file."""
        tx.run(_PUT, (file, seq, line))
