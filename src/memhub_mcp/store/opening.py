"""How a database file is made, checked, brought up to date and connected to."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import apsw

from memhub_mcp.domain.clock import Clock
from memhub_mcp.errors import BusyStore, DamagedStore, NewerStore, OlderStore, ReadOnlyStore, StoreError
from memhub_mcp.store.counting import term_counts
from memhub_mcp.store.folders import make_private, publish, why_unsafe_for_wal
from memhub_mcp.store.migrate import Script, run_scripts, set_fact

BUSY_MS = 15_000
_SWITCH_MS = 250  # changing the journal needs every other process to be still; next time is soon enough
_NO_INDEX = (apsw.SQLITE_IOERR_SHMOPEN, apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_SHMMAP)
_FIRST = {"generation": "0", "min_reader": "1", "min_writer": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How this process reaches the file."""

    path: Path
    journal: str
    why_read_only: str | None = None
    immutable: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return self.why_read_only is not None

    def connect(self, *, writing: bool) -> apsw.Connection:
        """A connection that keeps the rules of the house."""
        if self.read_only:
            connection = _connect_read_only(self.path, immutable=self.immutable)
        else:
            connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
        _keep_rules(connection)
        if writing and self.journal != "wal":
            connection.execute(f"PRAGMA journal_mode = {self.journal}").fetchall()
        if self.journal == "wal":
            connection.execute("PRAGMA synchronous = NORMAL").fetchall()
        if not writing:
            connection.execute("PRAGMA query_only = ON").fetchall()
            connection.register_fts5_function("term_counts", term_counts)
        return connection


def prepare(
    path: Path,
    expected_id: str | None,
    scripts: Sequence[Script],
    clock: Clock,
    *,
    read_only: bool,
    backups: Path,
) -> Access:
    """The way to the file at `path`, after making or upgrading it where needed."""
    unsafe = why_unsafe_for_wal(path.parent)
    journal = "truncate" if unsafe else "wal"
    warnings = (unsafe,) if unsafe else ()
    if _is_missing(path):
        if read_only:
            raise ReadOnlyStore(f"{path} does not exist and may not be made; run memhub once where it can write")
        _create(path, expected_id, scripts, journal)
    try:
        access, facts = _inspect(path, journal, warnings, read_only=read_only)
        _check(path, facts, expected_id, scripts)
        access = _with_journal(access)
        if int(facts["schema"]) < len(scripts):
            _upgrade(access, scripts, clock, backups)
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise damaged(path, backups, error) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise BusyStore(f"{path} is locked by another process; try again in a moment") from error
    except apsw.Error as error:
        raise StoreError(f"{path} cannot be opened: {error}; check who owns it and whether the disk is well") from error
    return access


def newer(path: Path) -> NewerStore:
    """The sentence for a file that a newer memhub changed."""
    return NewerStore(f"{path} was written by a newer memhub: upgrade this one (nothing was changed)")


def full(path: Path) -> StoreError:
    """The sentence for a file whose disk has no room."""
    return StoreError(f"the disk that holds {path} is full; make room and try again")


def damaged(path: Path, backups: Path, error: Exception) -> DamagedStore:
    """The sentence for a file that is no database, after a copy was kept."""
    state = path.stat()
    copy = backups / f"{path.parent.name}-{path.stem}-damaged-{state.st_mtime_ns}-{state.st_size}{path.suffix}"
    kept = f"a copy is kept as {copy}"
    if not copy.exists():
        try:
            _copy_files(path, copy)
        except OSError as failure:
            kept = f"no copy could be kept ({failure.strerror})"
    return DamagedStore(f"{path} is damaged ({error}); {kept}; restore a backup, or move the file away to start anew")


def _connect_read_only(path: Path, *, immutable: bool) -> apsw.Connection:
    options = "mode=ro&immutable=1" if immutable else "mode=ro"
    return apsw.Connection(
        f"{path.absolute().as_uri()}?{options}", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )


def _keep_rules(connection: apsw.Connection) -> None:
    for pragma in (
        f"busy_timeout = {BUSY_MS}",
        "foreign_keys = ON",
        "secure_delete = ON",
        "trusted_schema = OFF",
        "temp_store = MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()


def _is_missing(path: Path) -> bool:
    try:
        return not path.exists()
    except OSError as error:
        raise StoreError(f"{path} cannot be reached: {error.strerror}; check who owns the data directory") from error


def _create(path: Path, expected_id: str | None, scripts: Sequence[Script], journal: str) -> None:
    """Make the file complete under another name, then give it its own: half a schema is never seen."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        make_private(path.parent)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise ReadOnlyStore(f"{path} cannot be made: {error.strerror}; check the data directory") from error
    try:
        with contextlib.closing(apsw.Connection(str(draft), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
            _keep_rules(connection)
            connection.execute("BEGIN IMMEDIATE").fetchall()
            run_scripts(connection, scripts)
            for key, value in _FIRST.items():
                connection.execute("INSERT OR IGNORE INTO meta (key, value) VALUES (?, ?)", (key, value)).fetchall()
            if expected_id is not None:
                set_fact(connection, "workspace", expected_id)
            connection.execute("COMMIT").fetchall()
            connection.execute(f"PRAGMA journal_mode = {journal}").fetchall()
        publish(draft, path)
    except apsw.FullError as error:
        raise full(path) from error
    finally:
        for leftover in (draft, *_companions(draft)):
            leftover.unlink(missing_ok=True)


def _inspect(path: Path, journal: str, warnings: tuple[str, ...], *, read_only: bool) -> tuple[Access, dict[str, str]]:
    """How the file can be reached, and its `meta`."""
    if path.stat().st_size == 0:
        raise apsw.NotADBError("the file is empty")
    if _is_cut(path):
        raise apsw.CorruptError("the file ends within a page")
    access = Access(path=path, journal=journal, warnings=warnings)
    if not read_only:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            if not connection.readonly("main"):
                return access, _meta(connection)
        except apsw.Error as error:
            if not _lacks_log(error):
                raise
        finally:
            connection.close()
    why = "it was opened for reading" if read_only else "the file or its folder is read-only here, or the disk is full"
    for immutable in (False, True):
        access = Access(path=path, journal=journal, why_read_only=why, immutable=immutable, warnings=warnings)
        connection = _connect_read_only(path, immutable=immutable)
        try:
            facts = _meta(connection)
        except apsw.Error as error:
            if not _lacks_log(error):
                raise
        else:
            return _with_log_warning(access), facts
        finally:
            connection.close()
    raise apsw.CantOpenError("unable to open database file")


def _is_cut(path: Path) -> bool:
    """Whether the end is missing: SQLite reads zeros for the rest of a page, and no log is there to mend it."""
    try:
        with path.open("rb") as file:
            head, length = file.read(18), os.fstat(file.fileno()).st_size
    except OSError:
        return False  # SQLite meets the same, and is understood
    page_bytes = int.from_bytes(head[16:18], "big")
    if not head.startswith(b"SQLite format 3\0") or page_bytes < 512 or length % page_bytes == 0:
        return False
    return not any(log.exists() and log.stat().st_size for log in _companions(path))


def _lacks_log(error: apsw.Error) -> bool:
    """Whether the write-ahead log or its index cannot be made: the folder is read-only, or the disk is full."""
    return (
        isinstance(error, (apsw.CantOpenError, apsw.ReadOnlyError)) or getattr(error, "extendedresult", 0) in _NO_INDEX
    )


def _with_journal(access: Access) -> Access:
    """Bring the file's journal to what its folder needs; when others are busy, keep what there is."""
    if access.read_only:
        return access
    connection = apsw.Connection(str(access.path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.execute(f"PRAGMA busy_timeout = {_SWITCH_MS}").fetchall()
        found: Any = connection.execute("PRAGMA journal_mode").fetchall()[0][0]
        if (found == "wal") == (access.journal == "wal"):
            return access
        with contextlib.suppress(apsw.BusyError, apsw.LockedError):
            connection.execute(f"PRAGMA journal_mode = {access.journal}").fetchall()
            return access
        return replace(access, journal=found)
    finally:
        connection.close()


def _with_log_warning(access: Access) -> Access:
    log = access.path.with_name(access.path.name + "-wal")
    if not access.immutable or not log.exists() or log.stat().st_size == 0:
        return access
    note = f"{log} cannot be read here: the latest writes are not shown"
    return replace(access, warnings=(*access.warnings, note))


def _meta(connection: apsw.Connection) -> dict[str, str]:
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}").fetchall()
    try:
        rows: list[Any] = connection.execute("SELECT key, value FROM meta").fetchall()
        return dict(rows)
    except apsw.SQLError as error:
        raise apsw.NotADBError(f"it is not a memhub database: {error}") from error


def _check(path: Path, facts: dict[str, str], expected_id: str | None, scripts: Sequence[Script]) -> None:
    try:
        numbers = {key: int(facts[key]) for key in ("schema", "min_reader", "min_writer", "generation")}
    except (KeyError, ValueError) as error:
        raise StoreError(f"{path} does not say which schema it has ({error}); restore a backup") from error
    if numbers["min_reader"] > len(scripts) or numbers["min_writer"] > len(scripts):
        raise newer(path)
    found = facts.get("workspace")
    if expected_id is not None and found != expected_id:
        raise StoreError(f"{path} belongs to workspace {found}, not {expected_id}; put the right file back")


def _upgrade(access: Access, scripts: Sequence[Script], clock: Clock, backups: Path) -> None:
    if access.read_only:
        raise OlderStore(f"{access.path} is older than this memhub and cannot be changed: {access.why_read_only}")
    connection = access.connect(writing=True)
    try:
        connection.execute("BEGIN IMMEDIATE").fetchall()
        schema = int(_meta(connection)["schema"])  # another process may have been first
        missing = [script for script in scripts if script.number > schema]
        if any(script.minima for script in missing):
            name = f"{access.path.parent.name}-{access.path.stem}-schema{schema}-{clock():%Y%m%dT%H%M%S}.db"
            back_up(access, backups / name)
        run_scripts(connection, missing)
        connection.execute("COMMIT").fetchall()
    finally:
        connection.close()


def back_up(access: Access, copy: Path) -> None:
    """A consistent copy of the committed state, also while others write."""
    make_private(copy.parent)
    os.close(os.open(copy, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600))
    source, target = access.connect(writing=False), apsw.Connection(str(copy))
    try:
        with target.backup("main", source, "main") as backup:
            backup.step(-1)
    finally:
        target.close()
        source.close()


def _copy_files(path: Path, copy: Path) -> None:
    """Copy a database with its log, private from the first byte."""
    make_private(copy.parent)
    for source, target in zip((path, *_companions(path)), (copy, *_companions(copy)), strict=True):
        if source.exists() and (source == path or source.stat().st_size):
            descriptor = os.open(target, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "wb") as out, source.open("rb") as read:
                shutil.copyfileobj(read, out, 1 << 20)


def _companions(path: Path) -> tuple[Path, Path]:
    return path.with_name(path.name + "-wal"), path.with_name(path.name + "-journal")
