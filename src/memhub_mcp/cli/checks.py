"""What `doctor` looks at in this installation and its data. Nothing is changed by looking."""

import importlib.metadata
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memhub_mcp import __version__
from memhub_mcp.capture import spool
from memhub_mcp.cli.command import is_passing, own_command
from memhub_mcp.cli.terminal import count_of, size_of
from memhub_mcp.domain.clock import system_clock
from memhub_mcp.errors import MemhubError
from memhub_mcp.models.load import Models
from memhub_mcp.repo.identity import discover
from memhub_mcp.service.catalogue import Entry, catalogue, strays, user_entry
from memhub_mcp.settings import Settings
from memhub_mcp.store import library

State = Literal["ok", "warn", "fail"]

_LITTLE_SPACE, _NO_SPACE = 1_000_000_000, 100_000_000
_SHOWN_ROWS = 5
_LOAD_S = 20.0


@dataclass(frozen=True, slots=True)
class Finding:
    """What one look found, and what to do about it when something is to be done."""

    name: str
    state: State
    text: str
    todo: str | None = None


def check_program() -> Iterator[Finding]:
    """Python, this package, the libraries it stands on."""
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding("python", "ok", f"Python {python} in {sys.prefix}")
    command = own_command()
    if is_passing(command):
        yield Finding(
            "memhub", "warn", f"memhub {__version__} runs from uv's cache", "install it: uv tool install memhub-mcp"
        )
    else:
        yield Finding("memhub", "ok", f"memhub {__version__}, {command[0]}")
    text = f"SQLite {library.sqlite_version()}, apsw {importlib.metadata.version('apsw')}"
    if library.has_full_text():
        yield Finding("sqlite", "ok", text)
    else:
        yield Finding("sqlite", "fail", f"{text} without FTS5", "reinstall apsw from its wheel")
    if library.has_sqlite_vec():
        yield Finding("sqlite-vec", "ok", "sqlite-vec loads")
    else:
        yield Finding("sqlite-vec", "warn", "sqlite-vec does not load: vectors are compared in numpy, which is slower")
    try:
        yield Finding("onnxruntime", "ok", f"onnxruntime {importlib.metadata.version('onnxruntime')}")
    except importlib.metadata.PackageNotFoundError:
        yield Finding("onnxruntime", "warn", "onnxruntime has no wheel here: search is by words alone")


def check_home(home: Path) -> Iterator[Finding]:
    """Whose the data directory is, who may enter it, how much room there is."""
    if not home.exists():
        yield Finding("home", "ok", f"{home} will be made when something is stored")
    elif not home.is_dir():
        yield Finding("home", "fail", f"{home} is not a folder", "choose another with --home or MEMHUB_HOME")
    else:
        yield _owner(home)
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    text = f"{size_of(free)} free"
    if free < _NO_SPACE:
        yield Finding("disk", "fail", text, f"free some space on the disk of {place}")
    elif free < _LITTLE_SPACE:
        yield Finding("disk", "warn", text, f"free some space on the disk of {place}")
    else:
        yield Finding("disk", "ok", text)


def check_stores(home: Path) -> Iterator[Finding]:
    """Each store: whether it opens, whether every row can be read."""
    try:
        entries = catalogue(home, system_clock)
    except MemhubError as error:
        yield Finding("workspaces", "fail", str(error))
        return
    user = user_entry(home, system_clock)
    for entry in [*([user] if user else []), *entries]:
        yield from _store(entry)
    if not entries and not user:
        yield Finding("stores", "ok", "nothing is stored yet; `memhub-mcp init` inside a repository begins")
    for folder in strays(home, entries):
        yield Finding(
            "stores", "warn", f"{folder} belongs to no workspace", "look into it, then remove it or restore a backup"
        )


def check_spool(home: Path) -> Iterator[Finding]:
    """Captured events that wait, and those that could not be read."""
    waiting, broken = len(spool.pending(home)), len(spool.broken(home))
    if broken:
        text = f"{count_of(broken, 'captured event')} could not be read"
        yield Finding(
            "spool", "warn", text, f"they were set aside in {home / 'spool'}; remove *.broken when not needed"
        )
    else:
        yield Finding("spool", "ok", f"{count_of(waiting, 'captured event')} waiting")


def check_models(settings: Settings) -> Iterator[Finding]:
    """Whether the embedding model is what it should be and loads."""
    models = Models(settings)
    try:
        embedder = models.embedder.get(_LOAD_S)
        if embedder is not None:
            yield Finding("model", "ok", f"{embedder.space.name}, digest right, {embedder.space.dimension} dimensions")
        else:
            why = models.embedder.why() or "it did not load in time"
            state = "ok" if settings.embedder == "off" else "warn"
            yield Finding("model", state, f"search is by words alone: {why}")
    finally:
        models.close()


def check_repository(settings: Settings) -> Iterator[Finding]:
    """What can be read of the repository here."""
    start = settings.project_dir or settings.cwd
    found = discover(start, never=(settings.person_home,), person_home=settings.person_home)
    if found is None:
        yield Finding("git", "ok", f"{start} is in no repository")
    elif found.limited:
        yield Finding("git", "warn", f"{found.root}: {found.limited}", "memories work; history and branches do not")
    elif found.shallow:
        yield Finding(
            "git", "warn", f"{found.root} is a shallow clone: its history ends early", "git fetch --unshallow"
        )
    else:
        yield Finding("git", "ok", f"{found.root} can be read")


def _owner(home: Path) -> Finding:
    found = home.stat()
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        return Finding("home", "fail", f"{home} belongs to another user", "choose another with --home or MEMHUB_HOME")
    if os.name == "posix" and found.st_mode & 0o077:
        mode = stat.filemode(found.st_mode)
        return Finding(
            "home", "warn", f"{home} is open to others ({mode})", f"chmod 700 {home}; the next command does it"
        )
    if not os.access(home, os.W_OK):
        return Finding("home", "warn", f"{home} is read-only: recall works, nothing can be stored")
    return Finding("home", "ok", f"{home} is yours alone")


def _store(entry: Entry) -> Iterator[Finding]:
    name = entry.workspace.name
    if entry.fault:
        yield Finding("store", "fail", f"{name}: {entry.fault}")
        return
    counts = f"{count_of(entry.memories, 'memory')}, {count_of(entry.commits, 'commit')}, {size_of(entry.size_bytes)}"
    if entry.damaged:
        rows = "; ".join(entry.damaged[:_SHOWN_ROWS])
        todo = f"restore a backup of {entry.workspace.directory}"
        yield Finding("store", "warn", f"{name}: {count_of(len(entry.damaged), 'row')} cannot be read: {rows}", todo)
    else:
        yield Finding("store", "ok", f"{name}: {counts}")
    for warning in entry.warnings:
        yield Finding("store", "warn", f"{name}: {warning}")
