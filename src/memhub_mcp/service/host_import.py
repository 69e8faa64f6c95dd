"""What assistants kept on disk before memhub was there: sessions, and what they were told to remember.

Loaded by the command that imports alone: reading Markdown costs a start more than the rest of the server's own code.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from memhub_mcp.domain.clock import Clock, system_clock
from memhub_mcp.domain.replies import ImportReply
from memhub_mcp.domain.scope import Caller
from memhub_mcp.errors import InvalidInput, NotFound
from memhub_mcp.hosts.memories import is_markdown
from memhub_mcp.hosts.places import HostPlaces
from memhub_mcp.hosts.records import HOSTS, Host
from memhub_mcp.service.importing import Importing, Progress
from memhub_mcp.service.memory_files import MemoryFiles, memory_files_below
from memhub_mcp.service.scope import Scope, Scopes


class HostImport:
    """Takes in one host, file or folder. `since` and `dry_run` hold for sessions and memories alike."""

    def __init__(
        self,
        *,
        scopes: Scopes,
        importing: Importing,
        places: HostPlaces,
        since: datetime | None = None,
        dry_run: bool = False,
        clock: Clock = system_clock,
    ) -> None:
        self._scopes = scopes
        self._importing = importing
        self._places = places
        self._since = since
        self._dry_run = dry_run
        self._clock = clock

    def import_file(
        self, caller: Caller, file: Path, *, source: str | None = None, progress: Progress | None = None
    ) -> ImportReply:
        """Keep what a transcript or a file of memories tells, or each of them in a folder. Again, it adds nothing.

        Raises:
            InvalidInput: the file is of no known kind, or cannot be read. NotFound: no repository is here, or no file.
        """
        notes = memory_files_below(file) if file.is_dir() else [file] if is_markdown(file) else []
        if not notes:
            return self._sessions_in(caller, file, source, progress)
        scope = self._scopes.resolve(caller)
        memories = self._memories(scope)
        if not file.is_dir():
            memories.take_file(file, source=source)
            return memories.add_to(self._empty(scope))
        try:
            reply = self._sessions_in(caller, file, source, progress)
        except InvalidInput:
            reply = self._empty(scope)  # it holds no sessions
        memories.take_files(notes)
        return memories.add_to(reply)

    def import_host(
        self, caller: Caller, host: Host, files: Sequence[Path], *, progress: Progress | None = None
    ) -> ImportReply:
        """Keep the sessions in `files` that are about this repository, and what the host is told to remember.

        Raises:
            NotFound: there is neither; or no repository is here, and nothing about the person.
        """
        if not (host.transcripts or host.memories):
            known = ", ".join(one.name for one in HOSTS if one.transcripts or one.memories)
            raise NotFound(f"what {host.title} keeps cannot be read; what {known} keep can")
        scope = self._scopes.resolve(caller)
        memories = self._memories(scope)
        memories.take_host(host)
        if not files and not memories.are_there:
            where = f" (looked in {', '.join(host.transcripts)})" if host.transcripts else ""
            raise NotFound(f"{host.title} has no sessions on this machine{where}, and no memories; name a file")
        if scope.store is None and memories.are_there:
            memories.notes.append("there is no git repository here, so only what is about you was taken")
            return memories.add_to(self._empty(scope))
        reply = self._importing.import_host(
            caller, files, source=host.name, since=self._since, dry_run=self._dry_run, progress=progress
        )
        return memories.add_to(reply)

    def _sessions_in(self, caller: Caller, file: Path, source: str | None, progress: Progress | None) -> ImportReply:
        return self._importing.import_file(
            caller, file, source=source, since=self._since, dry_run=self._dry_run, progress=progress
        )

    def _memories(self, scope: Scope) -> MemoryFiles:
        return MemoryFiles(scope, self._places, since=self._since, dry_run=self._dry_run, clock=self._clock)

    def _empty(self, scope: Scope) -> ImportReply:
        reply = ImportReply(source="", files=0, sessions=0, edits=0, facts=0, scope=scope.reply())
        if self._dry_run:
            reply["dry_run"] = True
        if scope.notes:
            reply["notes"] = list(scope.notes)
        return reply
