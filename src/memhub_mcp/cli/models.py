"""`memhub-mcp models list|pull|add|verify`"""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tqdm import tqdm

from memhub_mcp.cli.opening import settings_from
from memhub_mcp.cli.parsing import verb_parser
from memhub_mcp.cli.replies import show_notes
from memhub_mcp.cli.terminal import Page, clean, print_json, size_of
from memhub_mcp.domain.replies import ModelReply, ModelsReply, VerifyReply
from memhub_mcp.models.manifest import MODELS, PinnedModel
from memhub_mcp.service.models import ModelShelf

_ACTIONS = "list, pull NAME, add [NAME] PATH or verify [NAME]"


def run(words: list[str], *, pinned: Sequence[PinnedModel] = MODELS) -> int:
    """Lists models, fetches them, takes their files from disk, compares them with their digests."""
    parser = verb_parser("models", "The models that find meaning and reorder what was found.", as_json=True)
    parser.add_argument(
        "action",
        nargs="*",
        metavar="ACTION",
        help="list: all models, which are here, which are chosen (config.toml); pull NAME: fetch its pinned files,"
        " going on where an earlier pull stopped; add [NAME] PATH: take the files from a file or folder, recognised by"
        " content; verify [NAME]: read the files and compare them with their digests",
    )
    args = parser.parse_intermixed_args(words)
    settings = settings_from(args)
    shelf = ModelShelf(settings, pinned=pinned)
    page = Page(plain=settings.plain)
    with _Bars() as bars:
        match args.action:
            case [] | ["list"]:
                reply = shelf.list()
            case ["pull", name]:
                reply = shelf.pull(name, progress=bars.progress, waiting=bars.waiting)
            case ["add", path]:
                reply = shelf.add(Path(path), None, progress=bars.progress)
            case ["add", name, path]:
                reply = shelf.add(Path(path), name, progress=bars.progress)
            case ["verify"]:
                return _verified(page, shelf.verify(None), as_json=args.json)
            case ["verify", name]:
                return _verified(page, shelf.verify(name), as_json=args.json)
            case _:
                parser.error(f"say {_ACTIONS}")
    if args.json:
        print_json(reply)
    else:
        _show(page, reply)
    return 0


def _show(page: Page, reply: ModelsReply) -> None:
    for model in reply["models"]:
        chosen = f"  {page.mark('chosen', 'green')}" if model["chosen"] else ""
        page.line(f"{page.mark(clean(model['name']), 'bold')}  {model['kind']}{chosen}")
        about = [f"{model['origin']} at {model['revision'][:12]}", size_of(model["size_bytes"]), model["licence"]]
        page.paragraph(", ".join(about), indent=2)
        page.paragraph(_place(model), indent=2, how="dim")
    show_notes(page, reply.get("notes", ()))


def _place(model: ModelReply) -> str:
    if model["state"] == "present":
        return f"in {model.get('folder')}"
    return f"{'partly here' if model['state'] == 'partial' else 'not here'}: {model.get('get')}"


def _verified(page: Page, reply: VerifyReply, *, as_json: bool) -> int:
    if as_json:
        print_json(reply)
        return 0 if reply["ok"] else 1
    for model in reply["models"]:
        page.line(f"{page.mark(clean(model['name']), 'bold')}")
        for file in model["files"]:
            problem = file.get("problem")
            page.paragraph(problem or f"{file['name']} is right", indent=2, how="red" if problem else None)
    return 0 if reply["ok"] else 1


class _Bars:
    """How far each file is: a bar on stderr, on a terminal only."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None
        self._file = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def progress(self, name: str, done: int, total: int) -> None:
        """So many bytes of a file are here."""
        if self._bar is None or self._file != name:
            self.__exit__(None, None, None)
            self._file = name
            # What an earlier pull left does not count as speed.
            self._bar = tqdm(
                desc=name, total=total, initial=done, unit="B", unit_scale=True, file=sys.stderr, disable=None
            )
            return
        self._bar.update(done - self._bar.n)

    def waiting(self, reason: str, seconds: float) -> None:
        """Something failed and is tried again."""
        if sys.stderr.isatty():
            tqdm.write(f"{clean(reason)}; trying again in {seconds:.0f} s", file=sys.stderr)
