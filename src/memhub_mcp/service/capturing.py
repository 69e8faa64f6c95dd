"""What may be recorded by itself in a workspace: set by the person, known to hooks at once, and when it was otherwise.

The registry holds the rules; `capture.json` is the copy of them that hooks read, brought up to date by whoever finds
it behind. What a hook recorded before it knew is stopped on its way into the store, by its time.
"""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from memhub_mcp.domain.capture import Capture, Level, Silence, Silences
from memhub_mcp.domain.clock import Clock
from memhub_mcp.domain.replies import CaptureReply
from memhub_mcp.domain.scope import AliasKind, Workspace
from memhub_mcp.errors import ScopeError
from memhub_mcp.hosts import hook_files
from memhub_mcp.retrieval.packing import moment
from memhub_mcp.service.scope import Scope
from memhub_mcp.settings import CaptureSetting
from memhub_mcp.store.connection import Transaction
from memhub_mcp.store.workspaces import Workspaces


class Capturing:
    """The capture rules of one data directory. Threads and processes may share it."""

    def __init__(self, *, home: Path, registry: Workspaces, setting: CaptureSetting, clock: Clock) -> None:
        self._home = home
        self._registry = registry
        self._setting = setting
        self._clock = clock

    def of(self, workspace: Workspace) -> Capture:
        """What may be recorded there now."""
        own = self._registry.capture.level(workspace)
        level = own or Level(self._setting.read()[0])
        return Capture(level, own is not None, self._registry.capture.pauses(self._clock()).get(workspace.id))

    def silences(self, workspace: Workspace) -> Silences:
        """When hooks were to record nothing there, paused or switched off."""
        level, since = self._setting.read()
        off = [Silence(since)] if level == Level.OFF and self._registry.capture.level(workspace) is None else []
        return Silences((*self._registry.capture.silences(workspace, ("pause", "off")), *off))

    def pauses(self, workspace: Workspace) -> Silences:
        """When the person wanted nothing recorded there, whoever asks for it later."""
        return Silences(self._registry.capture.silences(workspace, ("pause",)))

    def describe(self, scope: Scope) -> CaptureReply:
        """What may be recorded where the caller stands.

        Raises:
            ScopeError: there is no repository here.
        """
        capture = self.of(_workspace(scope))
        reply = CaptureReply(capture=capture.state, level=capture.level, own=capture.own, scope=scope.reply())
        if capture.paused_until is not None:
            reply["paused_until"] = moment(capture.paused_until)
        if scope.notes:
            reply["notes"] = list(scope.notes)
        return reply

    def pause(self, scope: Scope, length: timedelta | None) -> None:
        """Hooks record nothing there for so long; None: until `resume`. A pause that holds already is replaced.

        Raises:
            ScopeError: there is no repository here.
        """
        workspace, now = _workspace(scope), self._clock()
        with self._registry.write() as tx:
            self._registry.capture.end(tx, workspace, "pause", now)
            self._registry.capture.begin(tx, workspace, "pause", now, now + length if length else None)
        self._publish_at(scope)

    def resume(self, scope: Scope) -> None:
        """A pause ends now.

        Raises:
            ScopeError: there is no repository here.
        """
        with self._registry.write() as tx:
            self._registry.capture.end(tx, _workspace(scope), "pause", self._clock())
        self._publish_at(scope)

    def set_level(self, scope: Scope, level: Level | None) -> None:
        """What may be recorded there from now on; None: as config.toml says.

        Raises:
            ScopeError: there is no repository here.
        """
        workspace, now = _workspace(scope), self._clock()
        with self._registry.write() as tx:
            if level is not Level.OFF:
                self._registry.capture.end(tx, workspace, "off", now)
            elif self._registry.capture.level(workspace) is not Level.OFF:
                self._registry.capture.begin(tx, workspace, "off", now, None)
            self._registry.capture.set_level(tx, workspace, level)
        self._publish_at(scope)

    def _publish_at(self, scope: Scope) -> None:
        self.publish({str(scope.checkout.root): _workspace(scope)} if scope.checkout else None)

    def publish(self, roots: Mapping[str, Workspace] | None = None) -> None:
        """Let hooks know the rules as they are, and to whose store the checkouts at `roots` belong."""
        if self._registry.read_only:
            return
        named = {root: self._folder(workspace) for root, workspace in (roots or {}).items()}
        if hook_files.knows(self._home, *self._rules(named)) and self._is_noted():
            return
        with self._registry.write() as tx:  # one writer at a time: nobody's rule is lost between reading and writing
            self._note_setting(tx)
            hook_files.note_rules(self._home, *self._rules(named))

    def _rules(self, roots: Mapping[str, str]) -> tuple[str, dict[str, str], dict[str, dict[str, Any]]]:
        """What capture.json has to say: the general level, stores by checkout, rules by store."""
        levels, pauses = self._registry.capture.levels(), self._registry.capture.pauses(self._clock())
        places: dict[str, str] = {}
        rules: dict[str, dict[str, Any]] = {}
        for workspace in self._registry.list() if levels or pauses else ():
            rule: dict[str, Any] = {}
            if workspace.id in levels:
                rule["capture"] = levels[workspace.id].value
            if workspace.id in pauses:
                until = pauses[workspace.id].until
                rule["paused"] = until.timestamp() if until else True
            if rule:
                folder = self._folder(workspace)
                rules[folder] = rule
                for alias in self._registry.aliases(workspace):
                    if alias.kind is AliasKind.PATH:
                        places[alias.value] = folder
        return self._setting.read()[0], {**places, **roots}, rules

    def _is_noted(self) -> bool:
        return self._registry.capture.lasts(None, "off") is (self._setting.read()[0] == Level.OFF)

    def _note_setting(self, tx: Transaction) -> None:
        """Keep from when to when config.toml said `off`."""
        level, since = self._setting.read()
        if self._is_noted():
            return
        if level == Level.OFF:
            self._registry.capture.begin(tx, None, "off", since, None)
        else:
            self._registry.capture.end(tx, None, "off", self._clock())  # only now hooks get to know

    def _folder(self, workspace: Workspace) -> str:
        return workspace.directory.relative_to(self._home).as_posix()


def _workspace(scope: Scope) -> Workspace:
    if scope.workspace is None:
        raise ScopeError("there is no git repository here; stand in one or name it with --workspace")
    return scope.workspace
