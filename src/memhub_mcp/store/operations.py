"""Receipts, so that a call sent twice happens once."""

from collections.abc import Iterable
from datetime import datetime

from memhub_mcp.store.connection import Reader, Transaction
from memhub_mcp.store.values import to_json, to_micros

_FIND = "SELECT input, receipt FROM operation WHERE key = ?"
_KEEP = "INSERT INTO operation (key, input, receipt, created_at) VALUES (?, ?, ?, ?)"
_BLANK = """UPDATE operation SET receipt = NULL
    WHERE EXISTS (SELECT 1 FROM json_each(?) AS gone WHERE instr(receipt, gone.value) > 0)"""


class Operations:
    """The operations of one store, by the key the caller chose."""

    def find(self, reader: Reader, key: str) -> tuple[bytes, str | None] | None:
        """The hash of the input and the receipt; the receipt is None once its memories were forgotten."""
        rows = reader.read(_FIND, (key,))
        return (rows[0][0], rows[0][1]) if rows else None

    def keep(self, tx: Transaction, key: str, input_hash: bytes, receipt: str, now: datetime) -> None:
        """Remember what an operation answered."""
        tx.run(_KEEP, (key, input_hash, receipt, to_micros(now)))

    def blank(self, tx: Transaction, memory_ids: Iterable[str]) -> None:
        """Remove the receipts that speak of these memories."""
        tx.run(_BLANK, (to_json(memory_ids),))
