"""A store: one memory.db with the rooms that read and write it."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.scope import Workspace
from memhub_mcp.store import commits, edits, memories
from memhub_mcp.store.anchors import Anchors
from memhub_mcp.store.branches import Branches
from memhub_mcp.store.commits import Commits
from memhub_mcp.store.confirmations import Confirmations
from memhub_mcp.store.connection import Database, Transaction
from memhub_mcp.store.edits import Edits
from memhub_mcp.store.excerpts import Excerpts
from memhub_mcp.store.landings import Landings
from memhub_mcp.store.memories import Memories
from memhub_mcp.store.opening import BUSY_MS
from memhub_mcp.store.operations import Operations
from memhub_mcp.store.renewal import Renewal
from memhub_mcp.store.sessions import Sessions
from memhub_mcp.store.token_bits import TokenBits
from memhub_mcp.store.uses import Uses
from memhub_mcp.store.vectors import Vectors
from memhub_mcp.store.words import Words

FILE_NAME = "memory.db"
READERS_MS = 1_000  # how long `compact` waits for readers of the log, during which nobody writes


class Store:
    """What one workspace, or the person, remembers."""

    def __init__(self, db: Database, workspace: Workspace, clock: Clock) -> None:
        self.db = db
        self.workspace = workspace
        self.memories = Memories(db)
        self.confirmations = Confirmations(db)
        self.words = Words(db)
        self.vectors = Vectors(db, clock)
        self.token_bits = TokenBits(db)
        self.commits = Commits(db)
        self.sessions = Sessions(db)
        self.operations = Operations()
        self.anchors = Anchors(db)
        self.branches = Branches(db)
        self.landings = Landings(db)
        self.edits = Edits(db)
        self.excerpts = Excerpts(db)
        self.renewal = Renewal(db, clock)
        self.uses = Uses()

    @classmethod
    def open(cls, directory: Path, workspace: Workspace, clock: Clock, read_only: bool = False) -> Self:
        """The store in `directory`, made when it is missing. Errors as `Database.open`."""
        home = directory.parent.parent if directory.parent.name == "workspaces" else directory.parent
        db = Database.open(
            directory / FILE_NAME,
            expected_id=workspace.id,
            clock=clock,
            read_only=read_only,
            backups=home / "backups",
        )
        return cls(db, workspace, clock)

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written here."""
        return self.db.read_only

    @contextmanager
    def write(self) -> Generator[Transaction]:
        """One transaction over everything in the store. It also takes along which memories were shown before it."""
        shown = self.uses.take()
        try:
            with self.db.write() as tx:
                for moment, seqs in shown.items():
                    self.memories.mark_used(tx, seqs, moment)
                yield tx
        except BaseException:
            self.uses.give_back(shown)
            raise

    def write_uses(self) -> None:
        """Write down which memories were shown, when no other write did."""
        if self.uses.waiting and not self.read_only:
            with self.write():
                pass

    def compact(self) -> bool:
        """After a forget: no byte of what was erased stays in a file of this store.

        False when another process kept reading: its log is emptied at the next compact or by the last to close.
        """
        with self.db.write() as tx:
            self.words.optimize(tx)
            self.commits.words.optimize(tx)
        self.db.maintain(f"PRAGMA busy_timeout = {READERS_MS}")
        try:
            return not self.db.maintain("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
        finally:
            self.db.maintain(f"PRAGMA busy_timeout = {BUSY_MS}")

    def damaged_rows(self) -> list[str]:
        """One line for each row that readers skip because it cannot be understood."""
        return memories.faults(self.db) + commits.faults(self.db) + edits.faults(self.db)

    def close(self) -> None:
        """Close the file."""
        self.db.close()
