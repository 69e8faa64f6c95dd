"""The commit index at a glance."""

from datetime import datetime

from memhub_mcp.store.connection import Database
from memhub_mcp.store.values import from_micros

_SPAN = "SELECT min(committed_at), max(committed_at) FROM git_commit"
_BUSIEST = """SELECT p.name, count(DISTINCT c.git_commit) FROM file_change AS c JOIN path AS p ON p.id = c.path
    GROUP BY c.path ORDER BY 2 DESC, 1 LIMIT ?"""
_NEWEST = "SELECT message FROM git_commit ORDER BY committed_at DESC, seq LIMIT ?"


def span(db: Database) -> tuple[datetime, datetime] | None:
    """When the oldest and the newest commit were made; None without commits."""
    oldest, newest = db.read(_SPAN)[0]
    return None if oldest is None else (from_micros(oldest), from_micros(newest))


def busiest_paths(db: Database, limit: int) -> list[tuple[str, int]]:
    """The paths that most commits touched, with how many."""
    return [(path, number) for path, number in db.read(_BUSIEST, (limit,))]


def newest_messages(db: Database, limit: int) -> list[str]:
    """Messages of commits, newest first."""
    return [message for (message,) in db.read(_NEWEST, (limit,))]
