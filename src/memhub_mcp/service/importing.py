"""Conversations that assistants kept on disk become edits and session facts of the current workspace, each once."""

import logging
import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path

from memhub_mcp.capture.events import SessionEnd
from memhub_mcp.capture.transcripts.conversation import Conversation, Tally
from memhub_mcp.capture.transcripts.reading import READERS, read_transcript, source_of
from memhub_mcp.domain.capture import Level
from memhub_mcp.domain.replies import ImportReply
from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import InvalidInput, NotFound
from memhub_mcp.service.capturing import Capturing
from memhub_mcp.service.intake import Intake, remember_edits
from memhub_mcp.service.scope import Scope, Scopes

_AGENTS = "subagents"  # a session file brings its own along
_NAMES = ("*.jsonl", "*.json", "state.vscdb", "opencode*.db")  # what a folder is looked through for

log = logging.getLogger(__name__)

Progress = Callable[[int, int, int], None]
"""Is told how many of how many files were read, and how many records in all."""


class Importing:
    """Reads transcripts of every host we know."""

    def __init__(self, *, scopes: Scopes, capturing: Capturing) -> None:
        self._scopes = scopes
        self._capturing = capturing

    def import_file(
        self,
        caller: Caller,
        file: Path,
        *,
        source: str | None = None,
        since: datetime | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportReply:
        """Keep what a transcript, or each transcript in a folder, tells. Importing again adds nothing.

        It goes to the workspace of `caller`. A path under the session's own folder becomes relative to it; what lies
        elsewhere is left out and counted.

        Raises:
            InvalidInput: the file is of no known kind, or cannot be read. NotFound: no repository is here, or no file.
        """
        run = self._run(caller, since=since, dry_run=dry_run)
        found = _transcripts_in(file) if source is None else [(file, source)]
        for number, (path, host) in enumerate(found):
            try:
                for count in run.read(path, host):
                    if progress is not None:
                        progress(number, len(found), count)
            except (OSError, InvalidInput) as error:
                reason = str(error) if isinstance(error, InvalidInput) else f"{path} cannot be read: {error.strerror}"
                if path == file:
                    raise InvalidInput(reason) from error
                run.notes.append(f"left out: {reason}")
        return run.reply()

    def import_host(
        self,
        caller: Caller,
        files: Sequence[Path],
        *,
        source: str,
        since: datetime | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportReply:
        """As `import_file`, for the files an assistant keeps for itself: only its sessions in this workspace count."""
        run = self._run(caller, since=since, dry_run=dry_run, of_workspace=True)
        for number, path in enumerate(files):
            try:
                for count in run.read(path, source):
                    if progress is not None:
                        progress(number, len(files), count)
            except (OSError, InvalidInput) as error:
                run.notes.append(f"left out: {error}")
        return run.reply()

    def end_session(self, end: SessionEnd) -> Scope | None:
        """Remember a session that hooks followed, by its one fact: from its transcript, else from its edits alone.

        The edits themselves were reported by hooks already. A transcript that cannot be read tells nothing; one of a
        session that began in another repository belongs there. What happened while nothing was to be recorded stays
        out. Again, it changes nothing that has not changed.
        """
        here = self._scopes.of_file(Path(end.folder))
        transcript = Path(end.transcript) if end.transcript else None
        if transcript is not None and end.source in READERS and transcript.is_file():
            try:
                begun = _folder_of(transcript, end.source)
                there = self._scopes.of_file(begun) if begun is not None else None
                self._tell(there if there is not None and not _is_same(there, here) else here, transcript, end)
            except (OSError, InvalidInput) as error:
                log.warning("the session in %s is told from its edits: %s", transcript, error)
        self._tell(here, None, end)
        return here

    def _tell(self, scope: Scope | None, transcript: Path | None, end: SessionEnd) -> None:
        """Remember in the workspace of `scope` what the transcript tells, and what the edits made there tell."""
        if scope is None or scope.workspace is None or scope.store is None or scope.checkout is None:
            return
        silences = self._capturing.silences(scope.workspace)
        if transcript is not None:
            intake = Intake(
                scope,
                scope.store,
                scope.checkout,
                since=None,
                dry_run=False,
                keeps_turns=self._capturing.of(scope.workspace).level is Level.ALL,
                keeps_edits=False,
                silences=silences,
            )
            deque(intake.read(transcript, end.source), maxlen=0)
        remember_edits(scope, scope.store, scope.checkout, end.source, end.session, silences)

    def _run(self, caller: Caller, *, since: datetime | None, dry_run: bool, of_workspace: bool = False) -> Intake:
        scope = self._scopes.resolve(caller)
        if scope.workspace is None or scope.store is None or scope.checkout is None:
            raise NotFound(
                "there is no git repository here; stand in the one that the session worked on, or name it with "
                "--workspace"
            )

        def root_around(folder: Path) -> Path | None:
            return self._scopes.root_around(scope, folder)

        return Intake(
            scope,
            scope.store,
            scope.checkout,
            since=since,
            dry_run=dry_run,
            keeps_turns=self._capturing.of(scope.workspace).level is Level.ALL,
            silences=self._capturing.pauses(scope.workspace),
            root_around=root_around if of_workspace else None,
        )


def _folder_of(transcript: Path, source: str) -> Path | None:
    """Where the session in a transcript began; None when it does not say.

    Raises:
        InvalidInput: it is none. OSError: it cannot be read.
    """
    records = read_transcript(transcript, Tally(), source=source)
    folder = next((record.cwd for record in records if isinstance(record, Conversation)), None)
    return Path(folder) if folder and "\0" not in folder and os.path.isabs(folder) else None  # noqa: PTH117 - a claim


def _is_same(one: Scope, other: Scope | None) -> bool:
    return other is not None and one.workspace is not None and other.workspace == one.workspace


def _transcripts_in(path: Path) -> list[tuple[Path, str]]:
    """The transcripts at `path`, each with its host. In a folder, what is none is passed over.

    Raises:
        InvalidInput: there is none. NotFound: nothing is there.
    """
    if not path.exists():
        raise NotFound(f"{path} does not exist; give a session file, a folder of them, or the name of an assistant")
    try:
        host = source_of(path) if path.is_file() or path.is_dir() else None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}") from error
    if host is not None:
        return [(path, host)]
    if not path.is_dir():
        raise InvalidInput(
            f"{path} is no transcript that is known here; give the session file itself, or a Markdown file"
        )
    found: list[tuple[Path, str]] = []
    for folder, names, files in os.walk(path):
        names[:] = sorted(name for name in names if name != _AGENTS)
        for file in (Path(folder, name) for name in sorted(files)):
            if any(fnmatch(file.name, name) for name in _NAMES) and file.is_file():
                with suppress(OSError):
                    host = source_of(file)
                    if host is not None:
                        found.append((file, host))
    if not found:
        raise InvalidInput(f"there is no transcript that is known here in {path}")
    return found
