"""One reading of transcripts: what in them becomes edits, session facts and turns of a workspace."""

import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

from memhub_mcp.capture.said import is_filler
from memhub_mcp.capture.transcripts.conversation import Conversation, Record, Tally
from memhub_mcp.capture.transcripts.reading import read_transcript
from memhub_mcp.domain import session as spoken
from memhub_mcp.domain.capture import Silences
from memhub_mcp.domain.replies import ImportReply
from memhub_mcp.domain.revision import EditEvent
from memhub_mcp.domain.scope import Checkout
from memhub_mcp.repo.reflog import BranchLog, HeadLog, LogEntry, read_head_log, read_log
from memhub_mcp.service.claimed_paths import ClaimedPaths, project_hash
from memhub_mcp.service.dialogue import add_turns
from memhub_mcp.service.edits import identity, is_withheld, without_texts
from memhub_mcp.service.remembering import keep_drafted_fact
from memhub_mcp.service.scope import Scope
from memhub_mcp.service.session_facts import UNKNOWN_OUTCOME, SessionStory, story_of
from memhub_mcp.service.withheld import withheld_in
from memhub_mcp.store.connection import Transaction
from memhub_mcp.store.file import Store

_BATCH = 50  # edits stored in one transaction
_MOST_NOTES = 5
_ONE_SESSION = frozenset({".jsonl", ".json"})  # files of one session; others hold many, and may be written beside
_MOST_EDITS = 2_000  # of one session, when its fact is told from them
_LONGEST_NAME = 255
_UNTIMED_LIFE = timedelta(days=1)  # how long a session may have lasted of which only the end is known
_NONE_SILENT = Silences()
_NOT_IN_SLUG = re.compile(r"[^A-Za-z0-9]+")


@dataclass(slots=True)
class _Talk:
    """The conversation that is being read."""

    about: Conversation
    paths: ClaimedPaths
    story: SessionStory
    position: int = 0
    turns: list[spoken.Utterance] = field(default_factory=list[spoken.Utterance])
    held: set[int] | None = None
    unheard: bool = False
    """The latest request fell into a silence: what is done for it later does not say it."""


class Intake:
    """What was read so far. With `root_around`, only sessions in checkouts of the workspace count.

    What happened during `silences` is left out.
    """

    def __init__(
        self,
        scope: Scope,
        store: Store,
        checkout: Checkout,
        *,
        since: datetime | None,
        dry_run: bool,
        keeps_turns: bool,
        keeps_edits: bool = True,
        silences: Silences = _NONE_SILENT,
        root_around: Callable[[Path], Path | None] | None = None,
    ) -> None:
        self._scope = scope
        self._store = store
        self._checkout = checkout
        self._since = since
        self._dry_run = dry_run
        self._keeps_turns = keeps_turns
        self._keeps_edits = keeps_edits
        self._silences = silences
        self._root_around = root_around
        self._withheld = withheld_in(checkout)
        self._project_hash = project_hash(checkout.root.as_posix())
        self._logs: dict[str, BranchLog] = {}
        self._head_log: HeadLog | None = None
        self._tally = Tally()
        self._sources: dict[str, None] = {}
        self._seen: set[bytes] = set()
        self._waiting: list[tuple[EditEvent, bytes]] = []
        self._talk: _Talk | None = None
        self._records = self._files = self._sessions = self._facts = self._turns = 0
        self._new = self._known = self._outside = self._held_back = self._silent = 0
        self.notes = list(scope.notes)

    def read(self, file: Path, source: str) -> Iterator[int]:
        """Takes in one file; yields how many records were read in all, every now and then.

        What was stored before an error or an interruption stays; reading again goes on from there.
        """
        alone = file.suffix in _ONE_SESSION
        if alone and not self._is_recent(datetime.fromtimestamp(file.stat().st_mtime, UTC)):
            return
        self._files += 1
        skipping = False
        for record in read_transcript(file, self._tally, source=source):
            self._records += 1
            if isinstance(record, Conversation):
                self._finish()
                skipping = not self._begin(record, file)
                if skipping and alone:
                    break  # the rest is not ours either
            elif not skipping:
                self._take(record)
            if self._records % _BATCH == 0 and self._talk is not None:
                self._flush(self._talk)
                yield self._records
        self._finish()
        yield self._records

    def reply(self) -> ImportReply:
        """What came of it."""
        reply = ImportReply(
            source=", ".join(sorted(self._sources)),
            files=self._files,
            sessions=self._sessions,
            edits=self._new,
            facts=self._facts,
            scope=self._scope.reply(),
        )
        tally = self._tally
        counts = {
            "known": self._known,
            "outside": self._outside,
            "withheld": self._held_back,
            "failed": tally.failed,
            "silent": self._silent,
            "turns": self._turns,
            "lines": tally.lines,
            "damaged": tally.damaged,
        }
        reply.update(cast("ImportReply", {name: count for name, count in counts.items() if count}))
        if self._dry_run:
            reply["dry_run"] = True
        if tally.damaged:
            self.notes.append(f"{tally.damaged} of {tally.lines} lines could not be understood and were passed over")
        if self.notes:
            reply["notes"] = some_notes(self.notes)
        return reply

    def _begin(self, about: Conversation, file: Path) -> bool:
        """Whether the conversation counts."""
        other_root = None
        if self._root_around is not None:
            other_root = self._root_of(about, file, self._root_around)
            if other_root is None:
                return False
        if about.untimed and self._silences.touch(self._begun(about), about.started_at):
            self._silent += 1  # nobody can say what of it fell into the silence
            return False
        paths = ClaimedPaths(self._checkout.root, about.cwd, other_root=other_root, project_hash=about.project_hash)
        name = about.session.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair cannot be stored
        branch = _branch(about.branch) or self._branch_here(about, about.started_at)
        about = replace(about, session=name, branch=branch)
        self._talk = _Talk(about, paths, SessionStory(about.started_at))
        self._sessions += 1
        self._sources[about.source] = None
        return True

    def _begun(self, about: Conversation) -> datetime:
        """When a session began of which its own words do not tell."""
        known = self._store.sessions.find(about.source, about.session)
        return known.started_at if known else about.started_at - _UNTIMED_LIFE

    def _root_of(self, about: Conversation, file: Path, root_around: Callable[[Path], Path | None]) -> Path | None:
        """The root of the checkout a conversation stood in; None when it is not one of this workspace."""
        root = self._checkout.root
        if about.cwd is not None:
            folder = Path(about.cwd)
            return root_around(folder) if folder.is_absolute() else None
        return root if about.project_hash == self._project_hash or _slug(root) in file.parts else None

    def _take(self, record: Record) -> None:
        talk = self._talk
        if talk is None or isinstance(record, Conversation):
            return
        silent = self._silences.hold(record.time)
        if isinstance(record, EditEvent):
            if silent:
                self._silent += 1
            else:
                self._take_edit(talk, replace(record, said=None) if talk.unheard else record)
        elif record.speaker != "agent":
            if record.speaker == "person" and not is_filler(record.text):
                talk.unheard = silent
            if silent:
                talk.position += 1
                return
            if record.speaker == "person":
                talk.story.ask(record.text, record.time)
            else:
                talk.story.answer(record.text, record.time)
            if self._keeps_turns and self._is_recent(record.time):
                talk.turns.append(
                    spoken.Utterance(position=talk.position, speaker=record.speaker, text=record.text, time=record.time)
                )
            talk.position += 1

    def _take_edit(self, talk: _Talk, event: EditEvent) -> None:
        path = talk.paths.place(event.path)
        if path is None:
            self._outside += 1
            return
        old_path = talk.paths.place(event.old_path) if event.old_path is not None else None
        branch = _branch(event.branch) or self._branch_here(talk.about, event.time) or talk.about.branch
        placed = replace(event, path=path, old_path=old_path, branch=branch)
        talk.story.edit(placed)
        if not self._keeps_edits or not self._is_recent(event.time):
            return
        key = identity(placed)
        if key in self._seen:
            return  # a session that was continued repeats what came before
        self._seen.add(key)
        if self._was_reported(placed):
            self._known += 1
            return
        if is_withheld(placed, self._withheld):
            self._held_back += 1
            placed = without_texts(placed)
        self._waiting.append((placed, key))

    def _was_reported(self, event: EditEvent) -> bool:
        """Whether a hook reported the edit without naming its call, as Gemini's do: each such report counts once."""
        if event.tool_call is None:
            return False
        key = identity(replace(event, tool_call=None, turn=None))
        if key in self._seen or not self._store.edits.is_known(key):
            return False
        self._seen.add(key)
        return True

    def _is_recent(self, time: datetime) -> bool:
        return self._since is None or time >= self._since

    def _flush(self, talk: _Talk) -> None:
        """Store what waits: the edits in one transaction, the turns in another."""
        waiting, self._waiting = self._waiting, []
        if self._dry_run:
            known = sum(self._store.edits.is_known(key) for _, key in waiting)
            self._known += known
            self._new += len(waiting) - known
            return
        new = 0
        if waiting:
            with self._store.write() as tx:
                new = sum(self._add(tx, talk.about, event, key) for event, key in waiting)
        self._new += new
        self._known += len(waiting) - new
        if talk.turns:
            self._keep_turns(talk)

    def _add(self, tx: Transaction, about: Conversation, event: EditEvent, key: bytes) -> bool:
        head = self._tip(event.branch, event.time)
        session = None
        if event.session is not None:
            begun = about.started_at if event.session == about.session else event.time
            session = self._store.sessions.ensure(tx, event.source, event.session, begun, event.branch, head).id
        return self._store.edits.add(
            tx,
            event,
            id=f"e_{secrets.token_hex(6)}",
            identity=key,
            branch=event.branch,
            head=head,
            session=session,
        )

    def _keep_turns(self, talk: _Talk) -> None:
        if talk.held is None:
            talk.held = {turn.position for turn in self._store.sessions.turns(self._session(talk))}
        held = talk.held
        new = [turn for turn in talk.turns if turn.position not in held]
        talk.turns = []
        if new:
            kept = add_turns(self._store, source=talk.about.source, host_session=talk.about.session, said=new)
            self._turns += sum(turn is not None for turn in kept)

    def _finish(self) -> None:
        """The conversation is at its end: its last edits, and its one fact."""
        talk, self._talk = self._talk, None
        if talk is None:
            return
        self._flush(talk)
        if self._dry_run or not self._is_recent(talk.story.ended_at):
            return
        branch = talk.about.branch
        made = _commits(self._log(branch), talk.story, self._silences) if branch else []
        fact = talk.story.fact(made)
        if fact is None:
            return
        session = self._session(talk)
        then = replace(self._checkout, branch=branch, head=self._tip(branch, talk.story.ended_at))
        with self._store.write() as tx:
            self._facts += keep_drafted_fact(
                replace(self._scope, checkout=then),
                self._store,
                tx,
                fact,
                source=talk.about.source,
                session=session,
                now=talk.story.ended_at,
            )

    def _branch_here(self, about: Conversation, time: datetime) -> str | None:
        """The branch that was checked out in this working tree while a session stood in it, as far as git noted it."""
        root = self._checkout.root
        here = Path(about.cwd).is_relative_to(root) if about.cwd else about.project_hash == self._project_hash
        if not here:
            return None
        if self._head_log is None:
            self._head_log = read_head_log(self._checkout.git_dir)
        return self._head_log.branch_at(time, self._checkout.branch)

    def _session(self, talk: _Talk) -> str:
        about = talk.about
        head = self._tip(about.branch, about.started_at)
        with self._store.write() as tx:
            return self._store.sessions.ensure(tx, about.source, about.session, about.started_at, about.branch, head).id

    def _tip(self, branch: str | None, time: datetime) -> str | None:
        """Where a branch stood, as far as git noted it here."""
        return self._log(branch).tip_at(time) if branch is not None else None

    def _log(self, branch: str) -> BranchLog:
        if branch not in self._logs:
            self._logs[branch] = read_log(self._checkout.common_dir, branch)
        return self._logs[branch]


def some_notes(notes: list[str]) -> list[str]:
    """The first of many notes, and how many more there are."""
    left_out = len(notes) - _MOST_NOTES
    return notes[:_MOST_NOTES] + ([f"and {left_out} more such notes"] if left_out > 0 else [])


def remember_edits(
    scope: Scope, store: Store, checkout: Checkout, source: str, host_session: str, silences: Silences
) -> None:
    """The fact of a session as its edits tell it, unless more is known of it."""
    session = store.sessions.find(source, host_session)
    if session is None:
        return
    known = store.sessions.fact(store.db, session.id)
    if known is not None and UNKNOWN_OUTCOME not in store.memories.by_seqs((known,))[known].text:
        return
    story = story_of(edit.event for edit in store.edits.of_session(session.id, _MOST_EDITS))
    log = read_log(checkout.common_dir, session.branch) if session.branch else BranchLog()
    fact = story.fact(_commits(log, story, silences)) if story else None
    if story is None or fact is None:
        return
    then = replace(checkout, branch=session.branch, head=log.tip_at(story.ended_at))
    with store.write() as tx:
        keep_drafted_fact(
            replace(scope, checkout=then),
            store,
            tx,
            fact,
            source=source,
            session=session.id,
            now=story.ended_at,
        )


def _commits(log: BranchLog, story: SessionStory, silences: Silences) -> list[LogEntry]:
    """What was committed on the branch meanwhile."""
    made = log.between(story.started_at, story.ended_at)
    return [entry for entry in made if entry.is_commit and not silences.hold(entry.at)]


def _slug(folder: Path) -> str:
    """The name that Cursor's agent gives the folder of a project."""
    return _NOT_IN_SLUG.sub("-", folder.as_posix()).strip("-")


def _branch(name: str | None) -> str | None:
    """A branch as a host says it: Claude Code calls a detached HEAD one."""
    return name if name and name != "HEAD" and len(name) <= _LONGEST_NAME else None
