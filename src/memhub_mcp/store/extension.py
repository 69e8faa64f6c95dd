"""sqlite-vec, where it has a wheel."""

import apsw

try:
    import sqlite_vec
except ImportError:  # Windows on Arm, musl
    sqlite_vec = None


def load_sqlite_vec(connection: apsw.Connection) -> bool:
    """Whether `connection` now has the functions of sqlite-vec."""
    if sqlite_vec is None:
        return False
    connection.enable_load_extension(True)
    try:
        connection.load_extension(sqlite_vec.loadable_path(), "sqlite3_vec_init")
    except (apsw.ExtensionLoadingError, apsw.SQLError):
        return False
    finally:
        connection.enable_load_extension(False)
    return True
