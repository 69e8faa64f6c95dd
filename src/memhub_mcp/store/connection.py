"""One SQLite file: who may open it, one locked writer, one reader a thread."""

import threading
import weakref
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import apsw

from memhub_mcp.domain.clock import Clock
from memhub_mcp.errors import BusyStore, MemhubError, ReadOnlyStore, StoreError
from memhub_mcp.store import opening
from memhub_mcp.store.migrate import Script, memory_scripts
from memhub_mcp.store.opening import Access
from memhub_mcp.store.values import storable

Row = tuple[Any, ...]
Params = Sequence[Any]

IMPATIENT_S = 0.2

_META = "SELECT value FROM meta WHERE key = ?"
_BUMP = "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'generation' RETURNING CAST(value AS INTEGER)"


class Transaction:
    """A write under way. Everything in it happens, or nothing."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._generation: int | None = None

    def run(self, sql: str, params: Params = ()) -> list[Row]:
        """All rows of one statement."""
        return _run(self._connection, sql, params)

    def read(self, sql: str, params: Params = ()) -> list[Row]:
        """As `run`: what a reader asks may also be asked inside a transaction."""
        return _run(self._connection, sql, params)

    def run_many(self, sql: str, rows: Iterable[Params]) -> None:
        """One statement for each of `rows`."""
        ready = [tuple(row) for row in rows]
        if not ready:
            return
        try:
            self._connection.executemany(sql, ready).fetchall()
        except UnicodeEncodeError:
            for row in ready:
                _run(self._connection, sql, row)

    @property
    def generation(self) -> int:
        """The store's counter after this write; asking raises it, once a transaction."""
        if self._generation is None:
            self._generation = int(self.run(_BUMP)[0][0])
        return self._generation

    @property
    def last_id(self) -> int:
        """The row the latest INSERT made."""
        return self._connection.last_insert_rowid()

    @property
    def changes(self) -> int:
        """How many rows the latest statement touched."""
        return self._connection.changes()

    @property
    def all_changes(self) -> int:
        """How many rows this connection ever touched, those of inner tables included."""
        return self._connection.total_changes()


class Database:
    """One SQLite file. Every thread may use it."""

    def __init__(self, path: Path, access: Access, scripts: Sequence[Script], backups: Path) -> None:
        self.path = path
        self.warnings = access.warnings
        self._access = access
        self._scripts = scripts
        self._backups = backups
        self._local = threading.local()
        self._opened: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._write_lock = threading.Lock()
        self._patience = threading.local()
        self._writer: apsw.Connection | None = None

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        expected_id: str | None,
        clock: Clock,
        scripts: Sequence[Script] | None = None,
        read_only: bool = False,
        backups: Path | None = None,
    ) -> Self:
        """The database at `path`, made when it is missing, brought up to date when it is older.

        A file that is up to date is opened without a write. `backups` receives copies of damaged files
        and of files before a breaking change.

        Raises:
            NewerStore: a newer memhub wrote it. DamagedStore: it is no database.
            ReadOnlyStore: it is missing or old and nothing can be written. StoreError: it belongs to
            another workspace.
        """
        chosen = memory_scripts() if scripts is None else scripts
        kept = path.parent / "backups" if backups is None else backups
        access = opening.prepare(path, expected_id, chosen, clock, read_only=read_only, backups=kept)
        return cls(path, access, chosen, kept)

    @property
    def read_only(self) -> bool:
        """Whether writing is impossible here."""
        return self._access.read_only

    @property
    def generation(self) -> int:
        """How many writes were committed that changed what is remembered."""
        return int(self.read(_META, ("generation",))[0][0])

    def read(self, sql: str, params: Params = ()) -> list[Row]:
        """All rows of a query."""
        try:
            return _run(self._reader(), sql, params)
        except apsw.Error as error:
            raise self._explain(error) from error

    def reader(self) -> apsw.Connection:
        """This thread's reading connection, for the rooms that need more of SQLite than rows."""
        return self._reader()

    @contextmanager
    def write(self) -> Generator[Transaction]:
        """A transaction: committed at the end of the block, rolled back when the block raises.

        Raises:
            ReadOnlyStore: nothing can be written here. NewerStore: a newer memhub changed the file.
            BusyStore: another process kept the file locked for too long. StoreError: the disk is full.
        """
        if self.read_only:
            raise ReadOnlyStore(f"{self.path} can be read but not written: {self._access.why_read_only}")
        wait_s: float | None = getattr(self._patience, "wait_s", None)
        if not self._write_lock.acquire(timeout=-1 if wait_s is None else wait_s):
            raise self._busy()
        try:
            connection = self._begin(wait_s)
            try:
                yield Transaction(connection)
                connection.execute("COMMIT").fetchall()
            except BaseException as error:
                if not connection.get_autocommit():
                    connection.execute("ROLLBACK").fetchall()
                if isinstance(error, apsw.Error):
                    raise self._explain(error) from error
                raise
        finally:
            self._write_lock.release()

    @contextmanager
    def impatient(self) -> Generator[None]:
        """Writes of this thread give up soon while others write: they come along with a question, which must not wait.

        Raises:
            BusyStore: in `write`, within the block.
        """
        self._patience.wait_s = IMPATIENT_S
        try:
            yield
        finally:
            self._patience.wait_s = None

    def maintain(self, sql: str) -> list[Row]:
        """Run a statement that may not stand in a transaction (a checkpoint) on the writing connection."""
        if self.read_only:
            raise ReadOnlyStore(f"{self.path} can be read but not written: {self._access.why_read_only}")
        with self._write_lock:
            try:
                return _run(self._writing(), sql, ())
            except apsw.Error as error:
                raise self._explain(error) from error

    def back_up(self, copy: Path) -> None:
        """Write a consistent copy of everything committed, also while others write."""
        opening.back_up(self._access, copy)

    def close(self) -> None:
        """Close every connection; threads must have finished their reads."""
        for connection in list(self._opened):
            connection.close()
        self._writer = None
        self._local = threading.local()

    def _begin(self, wait_s: float | None) -> apsw.Connection:
        try:
            connection = self._writing()
            if wait_s is not None:
                connection.set_busy_timeout(int(wait_s * 1000))
            try:
                connection.execute("BEGIN IMMEDIATE").fetchall()
            finally:
                if wait_s is not None:
                    connection.set_busy_timeout(opening.BUSY_MS)
        except apsw.Error as error:
            raise self._explain(error) from error
        needed = int(_run(connection, _META, ("min_writer",))[0][0])
        if needed > len(self._scripts):
            connection.execute("ROLLBACK").fetchall()
            raise opening.newer(self.path)
        return connection

    def _writing(self) -> apsw.Connection:
        if self._writer is None:
            self._writer = self._access.connect(writing=True)
            self._opened.add(self._writer)
        return self._writer

    def _reader(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._access.connect(writing=False)
            self._local.connection = connection
            self._opened.add(connection)
        return connection

    def _explain(self, error: apsw.Error) -> MemhubError:
        """The error of ours that says what happened to this file."""
        if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
            return opening.damaged(self.path, self._backups, error)
        if isinstance(error, (apsw.BusyError, apsw.LockedError)):
            return self._busy()
        if isinstance(error, apsw.ReadOnlyError):
            return ReadOnlyStore(f"{self.path} can be read but not written; free it and try again")
        if isinstance(error, apsw.FullError):
            return opening.full(self.path)
        if isinstance(error, apsw.SQLError) and self._shut_out():
            return opening.newer(self.path)
        return StoreError(f"{self.path}: {error}; `memhub-mcp doctor` looks into it")

    def _busy(self) -> BusyStore:
        return BusyStore(f"{self.path} is locked by another process; try again in a moment")

    def _shut_out(self) -> bool:
        """Whether a newer memhub changed the file after we opened it so that we cannot read it."""
        return int(_run(self._reader(), _META, ("min_reader",))[0][0]) > len(self._scripts)


def _run(connection: apsw.Connection, sql: str, params: Params) -> list[Row]:
    try:
        return connection.execute(sql, tuple(params)).fetchall()
    except UnicodeEncodeError:  # a path that is no UTF-8, as the operating system hands it out
        return connection.execute(sql, tuple(storable(p) if isinstance(p, str) else p for p in params)).fetchall()
    except UnicodeDecodeError:  # a text whose bytes have changed on the disk
        return list(_decodable(connection.execute(sql, tuple(params))))


def _decodable(cursor: apsw.Cursor) -> Iterator[Row]:
    """The rows that can be read; `doctor` lists the others, see Store.damaged_rows."""
    while True:
        try:
            yield next(cursor)
        except UnicodeDecodeError:
            continue
        except StopIteration:
            return


Reader = Database | Transaction
"""What answers `read`: a database, or the transaction under way."""
