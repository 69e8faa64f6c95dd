"""What SQLite alone needs for the same job: the denominator of the ratios."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from benches.measuring import Laps, sentences


class PlainFts:
    """One FTS5 table of sentences in a file, WAL, one transaction a row."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="memhub-bench-")
        self._db = apsw.Connection(str(Path(self._folder.name) / "plain.db"))
        self._db.execute("PRAGMA journal_mode = WAL").fetchall()
        self._db.execute("PRAGMA synchronous = NORMAL").fetchall()
        self._db.execute("CREATE VIRTUAL TABLE note USING fts5 (body, tokenize = 'porter unicode61')").fetchall()

    def store(self, text: str) -> None:
        """One committed row."""
        self._db.execute("INSERT INTO note VALUES (?)", (text,)).fetchall()

    def fill(self, count: int) -> None:
        """`count` sentences in one transaction."""
        with self._db:
            self._db.executemany("INSERT INTO note VALUES (?)", ((text,) for text in sentences(count))).fetchall()

    def search(self, question: str) -> None:
        """The eight best rows for any word of `question`."""
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        self._db.execute("SELECT body FROM note WHERE note MATCH ? ORDER BY rank LIMIT 8", (words,)).fetchall()

    def close(self) -> None:
        """Close and delete the file."""
        self._db.close()
        self._folder.cleanup()


def plain_search_laps(size: int, asked: list[str]) -> Laps:
    """The times of `asked` on a plain table of `size` sentences."""
    table, laps = PlainFts(), Laps()
    table.fill(size)
    for question in asked:
        laps.time(lambda question=question: table.search(question))
    table.close()
    return laps
