"""The files in which assistants keep what they are told to remember become memories, each passage one.

A passage is a section of the file, or a part of a long one; its subject is the file and the headings that lead to it,
so that a passage that changed supersedes its earlier wording. What is about the person becomes the person's, what a
repository says its own: of the whole of it when the default branch says so too, of the branch otherwise.
"""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from memhub_mcp.capture.memory_files import MemoryFile, read_memory_file, text_of_file
from memhub_mcp.capture.redact import redact
from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.replies import ImportReply
from memhub_mcp.domain.scope import Tier
from memhub_mcp.errors import InvalidInput, NotFound
from memhub_mcp.hosts.memories import MemoryPlace, Reach, own_memories, place_of, source_in_repository
from memhub_mcp.hosts.places import HostPlaces
from memhub_mcp.hosts.records import Host
from memhub_mcp.repo.plain_files import read_inside, read_plain_file
from memhub_mcp.service.excerpts import Changes, foreseen, reconcile
from memhub_mcp.service.intake import some_notes
from memhub_mcp.service.memory_branches import MemoryBranches
from memhub_mcp.service.memory_passages import excerpts_of
from memhub_mcp.service.memory_paths import FoundFile, MemoryPaths, why_unread
from memhub_mcp.service.scope import Scope
from memhub_mcp.service.withheld import withheld_in

_MOST_FILES = 500
_INDEX = "MEMORY.md"

_WAIT = "found everywhere, told unasked elsewhere once you stand by it; `memhub-mcp confirm` shows what waits"

PERSON_SOURCE = "cli"
"""The source of a file that no assistant is known to read."""


class MemoryFiles:
    """One reading of files of memories. `scope.store` may be missing: then only the person's are taken."""

    def __init__(
        self, scope: Scope, places: HostPlaces, *, since: datetime | None, dry_run: bool, clock: Clock
    ) -> None:
        self._scope = scope
        self._places = places
        self._since = since
        self._dry_run = dry_run
        self._now = clock()
        self._paths = MemoryPaths(scope, places)
        self._withheld = withheld_in(scope.checkout) if scope.checkout else None
        self._branches = MemoryBranches(scope)
        self._read: set[str] = set()
        self._sources: set[str] = set()
        self._changes = Changes()
        self._foretold: set[tuple[bytes, Tier]] = set()
        self._of_person = 0
        self.notes: list[str] = []

    @property
    def are_there(self) -> bool:
        """Whether there were files to be read, or there are none any more."""
        return bool(self._sources or self.notes)

    def take_host(self, host: Host) -> None:
        """Take what a host remembers: of the person, of the repository, in the repository."""
        own = own_memories(host, self._places, self._paths.roots())
        found = [self._paths.outside(place) for place in own if self._has_place(place)]
        if self._withheld is not None:
            found += self._paths.in_repository(host, self._withheld)
        for each in found:
            try:
                self._take(each)
            except InvalidInput as error:
                self.notes.append(f"left out: {error}")
        for store in self._scope.stores():
            for each in self._paths.missing(host, store.excerpts.files()):
                if each.relative is None or self._branches.was_committed(store, each.relative):
                    self._reconcile(each, MemoryFile())
                    self._sources.add(each.source)

    def take_file(self, file: Path, *, source: str | None = None, named: bool = True) -> None:
        """Take what one file says, and the files it names to be read with it.

        Raises:
            InvalidInput: it cannot be kept; the text says why. NotFound: no repository is here to keep it for.
        """
        inside = self._paths.relative(file)
        if inside is not None:
            known = source or source_in_repository(inside) or PERSON_SOURCE
            self._take(self._paths.inside(inside, known, named=named))
            return
        place = place_of(file, self._places)
        if place is None:
            known = source or source_in_repository(file.name) or PERSON_SOURCE
            place = MemoryPlace(file, Reach.REPOSITORY, known)
        if not self._has_place(place):
            raise NotFound(f"there is no git repository here to keep {file} for; stand in one, or name it")
        self._take(replace(self._paths.outside(place), named=named))

    def _has_place(self, place: MemoryPlace) -> bool:
        return place.reach is Reach.PERSON or self._scope.store is not None

    def take_files(self, files: Sequence[Path]) -> None:
        """As `take_file` for several; what cannot be kept is a note."""
        for file in files:
            try:
                self.take_file(file, named=False)
            except InvalidInput as error:
                self.notes.append(f"left out: {error}")

    def add_to(self, reply: ImportReply) -> ImportReply:
        """`reply`, and what came of the files read here."""
        reply["files"] += len(self._read)
        changes = self._changes
        if self._sources:
            others = {source for source in reply["source"].split(", ") if source}
            reply["source"] = ", ".join(sorted(others | self._sources))
            reply["memories"] = changes.added
        counts = {
            "changed": changes.changed,
            "unchanged": changes.unchanged,
            "archived": changes.archived,
            "forgotten": changes.forgotten,
        }
        reply.update(cast("ImportReply", {name: count for name, count in counts.items() if count}))
        if self._of_person:
            self.notes.insert(0, f"{self._of_person:,} of them about you: {_WAIT}")
        if self.notes:
            reply["notes"] = some_notes([*reply.get("notes", ()), *self.notes])
        return reply

    def _take(self, first: FoundFile) -> None:
        """Take a file, then what it imports; what an import lacks is a note."""
        waiting = deque([first])
        while waiting:
            found = waiting.popleft()
            if found.name in self._read or len(self._read) >= _MOST_FILES:
                continue
            try:
                waiting.extend(self._take_one(found))
            except InvalidInput as error:
                if found is first:
                    raise
                self.notes.append(f"left out: {error}")

    def _take_one(self, found: FoundFile) -> Iterator[FoundFile]:
        text = self._text(found)
        if self._since is not None and _changed_at(found) < self._since:
            return iter(())
        self._read.add(found.name)
        self._sources.add(found.source)
        read = read_memory_file(text, is_note=found.is_note)
        if read.generated:
            blocks = "a block" if read.generated == 1 else f"{read.generated} blocks"
            self.notes.append(f"{found.name}: {blocks} that other tools wrote there left out")
        if not read.passages and not read.imports:
            self.notes.append(f"{found.name} holds nothing to remember")
        self._reconcile(found, read)
        return self._imported(found, read.imports)

    def _reconcile(self, found: FoundFile, read: MemoryFile) -> None:
        scope, store = self._scope, self._scope.store
        if found.reach is Reach.PERSON:
            scope, store = replace(scope, workspace=None, checkout=None), scope.user  # it comes from no repository
        assert store is not None
        if self._branches.is_behind(store, found):
            self.notes.append(f"{found.name} is older here than what is known of it, so nothing was taken from it")
            return
        said = self._branches.placed(found, excerpts_of(found, read))
        archives = self._branches.may_archive(found)
        if self._dry_run:
            self._changes.add(foreseen(scope, store, found.name, said, archives=archives, foretold=self._foretold))
        else:
            now = min(_changed_at(found), self._now) if found.path.is_file() else self._now
            changes = reconcile(scope, store, found.name, said, source=found.source, now=now, archives=archives)
            self._changes.add(changes)
            self._of_person += changes.added if found.reach is Reach.PERSON else 0

    def _imported(self, found: FoundFile, names: tuple[str, ...]) -> Iterator[FoundFile]:
        for name in names:
            try:
                imported = self._paths.imported(found, name)
            except InvalidInput as error:
                self.notes.append(str(error))
                continue
            if imported is not None:
                yield imported

    def _text(self, found: FoundFile) -> str:
        """The text of a file, redacted.

        Raises:
            InvalidInput: it cannot be kept; the text says why.
        """
        if found.relative is None:
            data = read_plain_file(found.path)
        else:
            self._check(found, found.relative)
            data = read_inside(self._paths.root, found.relative)
        if data is None:
            raise InvalidInput(f"{found.name} {why_unread(found.path)}")
        try:
            return redact(text_of_file(data))
        except InvalidInput as error:
            raise InvalidInput(f"{found.name} cannot be taken: {error}") from error

    def _check(self, found: FoundFile, relative: str) -> None:
        assert self._withheld is not None
        if self._withheld.forbids(relative):
            raise InvalidInput(f"{found.name} is one of the files whose content is never kept")
        if not found.named and self._withheld.holds(relative):
            raise InvalidInput(f"{found.name} is ignored by git; import it by its name if it is to be kept")


def _changed_at(found: FoundFile) -> datetime:
    return datetime.fromtimestamp(found.path.stat().st_mtime, UTC)


def memory_files_below(folder: Path) -> list[Path]:
    """The files of memories in a folder: those with a name that an assistant reads, and notes beside their index."""
    found: list[Path] = []
    for place, names, files in os.walk(folder):
        names[:] = sorted(name for name in names if name not in (".git", "node_modules"))
        notes = _INDEX in files
        found += (
            Path(place, name)
            for name in sorted(files)
            if source_in_repository(name) or name.endswith(".mdc") or (notes and name.endswith(".md"))
        )
    return found[:_MOST_FILES]
