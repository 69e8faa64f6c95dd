"""Installing into the files of a host and out of them again: worked out first, then shown, then done."""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memhub_mcp.errors import ConfigError
from memhub_mcp.hosts.config_files import ConfigFile, FileChange, missing_folders
from memhub_mcp.hosts.edits import EMPTY, Edit, Trace, apply, undo, unrecorded
from memhub_mcp.hosts.installed import InstalledFile


@dataclass(frozen=True, slots=True)
class Plan:
    """What would change, and what is to be recorded once it has."""

    changes: tuple[FileChange, ...]
    files: tuple[InstalledFile, ...] = ()


def plan_install(pieces: Sequence[Edit], before: Sequence[InstalledFile] = ()) -> Plan:
    """The pieces in their files. `before` is what an earlier installation recorded; what it alone put in goes away.

    Raises:
        ConfigError: a file does not parse; names file, line and column.
    """
    earlier = {file.path: file for file in before}
    paths = list(dict.fromkeys(piece.file for piece in pieces))
    changes = list(plan_uninstall(file for file in before if file.path not in paths).changes)
    files: list[InstalledFile] = []
    for path in paths:
        change, file = _put_in(path, [piece for piece in pieces if piece.file == path], earlier.get(path))
        changes += [change] if change else []
        files.append(file)
    return Plan(tuple(changes), tuple(files))


def plan_uninstall(files: Iterable[InstalledFile]) -> Plan:
    """The files without our pieces, all else as it stands.

    Raises:
        ConfigError: a file does not parse; names file, line and column.
    """
    return Plan(tuple(change for file in files if (change := _take_out(file))))


def without_record(pieces: Sequence[Edit]) -> list[InstalledFile]:
    """What there is to undo when no installation was recorded."""
    return [
        InstalledFile(path, tuple(unrecorded(piece) for piece in pieces if piece.file == path and not piece.keep))
        for path in dict.fromkeys(piece.file for piece in pieces)
    ]


def _put_in(
    path: Path, pieces: Sequence[Edit], earlier: InstalledFile | None
) -> tuple[FileChange | None, InstalledFile]:
    file = ConfigFile.read(path)
    fresh = not file.body.strip()
    if fresh or earlier is None:  # also when the person emptied the file meanwhile
        folders = missing_folders(path) if file.text is None else ()
        earlier = InstalledFile(path, (), fresh, file.text if fresh else None, folders)
    known = {(trace.kind, trace.path): trace for trace in earlier.traces}
    wanted = {(piece.kind, piece.path) for piece in pieces}
    traces: list[Trace] = []
    text = EMPTY[pieces[0].kind] if fresh else file.body
    with _naming(path):
        for key, trace in reversed(known.items()):
            text = text if key in wanted else undo(text, trace)
        for piece in pieces:
            former = text
            text, trace = apply(text, piece)
            first = known.get((piece.kind, piece.path))
            # What stood there already is undone as its first installation noted, whatever its value became since.
            stood = undo(former, Trace(piece.kind, piece.path)) != former
            trace = first if first and stood else trace
            traces += [trace] if trace else []
    after = file.mark + text
    change = FileChange(path, file.text, after) if after != file.text else None
    return change, InstalledFile(path, tuple(traces), earlier.fresh, earlier.former, earlier.folders)


def _take_out(installed: InstalledFile) -> FileChange | None:
    file = ConfigFile.read(installed.path)
    if file.text is None:
        return None
    text = file.body
    with _naming(installed.path):
        for trace in reversed(installed.traces):
            text = undo(text, trace)
    if text == file.body:
        return None
    if installed.fresh and text.strip() in ("", "{}"):
        return FileChange(installed.path, file.text, installed.former, installed.folders)
    return FileChange(installed.path, file.text, file.mark + text)


@contextmanager
def _naming(path: Path) -> Generator[None]:
    """Errors inside say which file they are about."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}; nothing was changed") from error
