"""Installing into the files of a host and out of them again: worked out first, then shown, then done.

Several installations may share a file, even a piece of it: what one still needs, another leaves.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from memhub_mcp.errors import ConfigError
from memhub_mcp.hosts.config_files import ConfigFile, FileChange, missing_folders
from memhub_mcp.hosts.edits import (
    Edit,
    Trace,
    apply,
    containers,
    is_blank,
    is_memhub,
    is_there,
    start_of,
    undo,
    unrecorded,
)
from memhub_mcp.hosts.installed import InstalledFile
from memhub_mcp.hosts.records import SERVER_NAME


@dataclass(frozen=True, slots=True)
class Plan:
    """What would change, and what is to be recorded once it has."""

    changes: tuple[FileChange, ...]
    files: tuple[InstalledFile, ...] = ()


def plan_install(
    pieces: Sequence[Edit], before: Sequence[InstalledFile] = (), others: Sequence[InstalledFile] = ()
) -> Plan:
    """The pieces in their files. `before` is what an earlier installation recorded; what it alone put in goes away.

    `others` are the files of other installations.

    Raises:
        ConfigError: a file does not parse; names file, line and column.
    """
    earlier = {file.path: file for file in before}
    paths = list(dict.fromkeys(piece.file for piece in pieces))
    changes = list(plan_uninstall((file for file in before if file.path not in paths), others).changes)
    files: list[InstalledFile] = []
    for path in paths:
        here = [piece for piece in pieces if piece.file == path]
        change, file = _put_in(path, here, earlier.get(path), others)
        changes += [change] if change else []
        files.append(file)
    return Plan(tuple(changes), tuple(files))


def plan_uninstall(files: Iterable[InstalledFile], others: Sequence[InstalledFile] = ()) -> Plan:
    """The files without our pieces, all else as it stands, and what `others` need too.

    Raises:
        ConfigError: a file does not parse; names file, line and column.
    """
    return Plan(tuple(change for file in files if (change := _take_out(file, _at(file.path, others)))))


def without_record(pieces: Sequence[Edit]) -> list[InstalledFile]:
    """What there is to undo when no installation was recorded: all that is plainly memhub's.

    Raises:
        ConfigError: a file does not parse; names file, line and column.
    """
    found: list[InstalledFile] = []
    for path in dict.fromkeys(piece.file for piece in pieces):
        text = ConfigFile.read(path).body
        if SERVER_NAME not in text:
            continue
        with _naming(path):
            here = [piece for piece in pieces if piece.file == path and is_memhub(text, piece)]
        found += [InstalledFile(path, tuple(map(unrecorded, here)))] if here else []
    return found


def _at(path: Path, files: Sequence[InstalledFile]) -> list[InstalledFile]:
    return [file for file in files if file.path == path]


def _put_in(
    path: Path, pieces: Sequence[Edit], earlier: InstalledFile | None, others: Sequence[InstalledFile]
) -> tuple[FileChange | None, InstalledFile]:
    file, beside = ConfigFile.read(path), _at(path, others)
    kind = pieces[0].kind
    fresh = is_blank(kind, file.body)
    if fresh:  # also when the person emptied the file meanwhile
        folders = _folders_made(path, others) if file.text is None else ()
        earlier = InstalledFile(path, (), fresh, file.text, folders)
    elif earlier is None:
        # Whoever leaves a shared file last removes it, whoever made it; so with folders and containers.
        earlier = replace(beside[0], traces=()) if beside else InstalledFile(path, ())
    known = {trace.key: trace for trace in earlier.traces}
    shared = {trace.key: trace for other in beside for trace in other.traces}
    wanted = {piece.key for piece in pieces}
    traces: list[Trace] = []
    text = start_of(kind, file.body) if fresh else file.body
    with _naming(path):
        for key, trace in reversed(known.items()):
            text = text if key in wanted or key in shared else undo(text, trace)
        for piece in pieces:
            former = text
            text, trace = apply(text, piece)
            first = known.get(piece.key) or shared.get(piece.key)
            # What stood there already is undone as its first installation noted, whatever its value became since.
            trace = first if first and is_there(former, piece) else trace
            traces += [_with_shared_containers(trace, shared.values())] if trace else []
    after = file.mark + text
    change = FileChange(path, file.text, after) if after != file.text else None
    return change, InstalledFile(path, tuple(traces), earlier.fresh, earlier.former, earlier.folders)


def _folders_made(path: Path, others: Sequence[InstalledFile]) -> tuple[Path, ...]:
    """The folders around `path` that are there only for installations, innermost first."""
    made = {*missing_folders(path), *(folder for other in others for folder in other.folders)}
    return tuple(folder for folder in path.resolve().parents if folder in made)


def _with_shared_containers(trace: Trace, others: Iterable[Trace]) -> Trace:
    """The trace, with the containers around it that other installations made."""
    made = {container for other in others for container in containers(other)}
    while True:
        wider = replace(trace, created=trace.created + 1)
        if containers(wider)[-1:] == containers(trace)[-1:] or containers(wider)[-1] not in made:
            return trace
        trace = wider


def _take_out(installed: InstalledFile, beside: Sequence[InstalledFile]) -> FileChange | None:
    file = ConfigFile.read(installed.path)
    if file.text is None:
        return None
    needed = {trace.key for other in beside for trace in other.traces}
    text = file.body
    with _naming(installed.path):
        for trace in reversed(installed.traces):
            text = text if trace.key in needed else undo(text, trace)
    if text == file.body:
        return None
    if installed.fresh and _is_as_begun(text, installed):
        return FileChange(installed.path, file.text, installed.former, installed.folders)
    return FileChange(installed.path, file.text, file.mark + text)


def _is_as_begun(text: str, installed: InstalledFile) -> bool:
    """Whether nothing is in the file but what an installation begins with."""
    former = ConfigFile(installed.path, installed.former).body
    return text.strip() in ("", "{}") or text == start_of(installed.traces[0].kind, former)


@contextmanager
def _naming(path: Path) -> Generator[None]:
    """Errors inside say which file they are about."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}; nothing was changed") from error
