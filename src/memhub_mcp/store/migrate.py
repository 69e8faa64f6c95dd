"""The scripts that make and change a schema, and which programs may read or write the result.

A script may begin with `-- min_reader: N` and `-- min_writer: N` lines: programs that know fewer than
N scripts must then not read, or not write, the file. Without them a change is additive.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import apsw

_NAME = re.compile(r"(\d{4})_\w+\.sql")
_HEADER = re.compile(r"^-- min_(reader|writer): (\d+)$", re.MULTILINE)
_SET = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


@dataclass(frozen=True, slots=True)
class Script:
    """One step from schema `number - 1` to `number`."""

    number: int
    sql: str

    @property
    def minima(self) -> dict[str, int]:
        """`min_reader` and `min_writer` as the script raises them."""
        return {f"min_{who}": int(number) for who, number in _HEADER.findall(self.sql)}


@cache
def scripts_in(folder: Path) -> tuple[Script, ...]:
    """The scripts of `folder`, in order, numbered from 1 without a gap."""
    found = sorted(
        (int(match[1]), file) for file in folder.iterdir() if (match := _NAME.fullmatch(file.name)) is not None
    )
    if [number for number, _ in found] != list(range(1, len(found) + 1)):
        raise ValueError(f"the scripts in {folder} are not numbered 1, 2, 3 …")
    return tuple(Script(number, file.read_text(encoding="utf-8")) for number, file in found)


def memory_scripts() -> tuple[Script, ...]:
    """The scripts of a memory file."""
    return scripts_in(Path(__file__).parent / "migrations")


def statements(sql: str) -> Iterator[str]:
    """The statements of a script, one by one: apsw stops at the first row of a text that holds several."""
    pending = ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if line.rstrip().endswith(";") and apsw.complete(pending):
            yield pending
            pending = ""


def run_scripts(connection: apsw.Connection, scripts: Sequence[Script]) -> None:
    """Run `scripts` and write down what the file now is. The caller holds the transaction."""
    for script in scripts:
        for statement in statements(script.sql):
            connection.execute(statement).fetchall()
        facts = {"schema": script.number, **script.minima}
        for key, value in facts.items():
            connection.execute(_SET, (key, str(value))).fetchall()


def set_fact(connection: apsw.Connection, key: str, value: str) -> None:
    """Write one line of `meta`. The caller holds the transaction."""
    connection.execute(_SET, (key, value)).fetchall()
