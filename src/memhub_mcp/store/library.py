"""Which SQLite this is and what it can do, for a check of the installation."""

import apsw

from memhub_mcp.store.extension import load_sqlite_vec


def sqlite_version() -> str:
    """The version of the SQLite inside apsw."""
    return apsw.sqlite_lib_version()


def has_full_text() -> bool:
    """Whether it was built with FTS5."""
    return "ENABLE_FTS5" in apsw.compile_options


def has_sqlite_vec() -> bool:
    """Whether sqlite-vec loads into it."""
    return load_sqlite_vec(apsw.Connection(":memory:"))
