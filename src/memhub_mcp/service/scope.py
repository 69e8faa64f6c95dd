"""Where a call stands: which store, which checkout, what it sees."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memhub_mcp.domain.clock import Clock, system_clock
from memhub_mcp.domain.memory import Kind
from memhub_mcp.domain.replies import ScopeReply
from memhub_mcp.domain.scope import Caller, Checkout, Tier, Workspace
from memhub_mcp.repo.checkout import checkout_of
from memhub_mcp.service.lookout import PATIENCE_S, Lookout
from memhub_mcp.service.places import Place, Places
from memhub_mcp.service.recognition import Recognition
from memhub_mcp.service.sight import Sight
from memhub_mcp.service.stores import Stores
from memhub_mcp.settings import Settings
from memhub_mcp.store.connection import Transaction
from memhub_mcp.store.file import Store
from memhub_mcp.store.workspaces import Workspaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One call's place: the workspace and its store (None: only the person's), the checkout, what is seen from it."""

    workspace: Workspace | None
    store: Store | None
    user: Store
    checkout: Checkout | None
    notes: tuple[str, ...]
    sight: Sight

    def stores(self) -> tuple[Store, ...]:
        """The stores a reader searches, the workspace's first."""
        return (self.store, self.user) if self.store else (self.user,)

    def anchors(self) -> frozenset[int]:
        """The branch anchors of `store` that are seen from HEAD, for a Filter."""
        return self.sight.anchors

    def shadowed(self) -> frozenset[int]:
        """The workspace memories that a branch memory seen from HEAD stands before, for a Filter."""
        return self.sight.shadowed

    @property
    def hidden(self) -> int:
        """How many memories of the workspace stay hidden because they belong to other branches."""
        return self.sight.hidden

    def relative(self, file: str) -> str:
        """`file` as memories of the repository name it: relative to the root of the checkout, with forward slashes."""
        plain = file.replace("\\", "/")
        if self.checkout is None or not Path(file).is_absolute():
            return plain
        root = f"{self.checkout.root.as_posix()}/"
        if not plain.startswith(root) and "\0" not in file:  # a link may lead there
            real = Path(os.path.realpath(Path(file).parent), Path(file).name).as_posix()
            plain = real if real.startswith(root) else plain
        return plain.removeprefix(root)

    def default_tier(self, kind: Kind) -> Tier:
        """How far a memory of `kind` reaches when its author did not say."""
        if self.store is None or kind is Kind.PREFERENCE:
            return Tier.USER
        if kind is Kind.EXPERIENCE or self.checkout is None or self.checkout.on_default_branch:
            return Tier.WORKSPACE
        return Tier.BRANCH

    def anchor_for_new(self, tx: Transaction) -> int:
        """The anchor of a branch memory written now, on the checkout's branch (which there must be)."""
        return self.sight.anchor_for_new(tx)

    def reply(self) -> ScopeReply:
        """What every reply says about where it was answered from."""
        reply = ScopeReply(
            workspace=self.workspace.name if self.workspace else None,
            branch=self.checkout.branch if self.checkout else None,
            head=self.checkout.head if self.checkout else None,
        )
        hidden, limited = self.hidden, self.sight.limited
        if hidden:
            reply["hidden"] = hidden
        if self.sight.partial:
            reply["visibility"] = "partial"
        if limited:
            reply["repo"] = f"limited({limited})"
        return reply


class Scopes:
    """Finds the scope of each call afresh. Threads may share it."""

    def __init__(
        self,
        *,
        settings: Settings,
        registry: Workspaces,
        stores: Stores,
        clock: Clock = system_clock,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._places = Places(settings=settings, registry=registry, recognition=Recognition(registry, stores))
        self._stores = stores
        self._lookout = Lookout(clock, patience_s)

    def resolve(self, caller: Caller) -> Scope:
        """The scope of `caller`.

        Raises:
            ScopeError: the workspace named does not exist, cannot be read, or is not this session's.
        """
        place = self._places.of_call(caller)
        return self._scope(place, self._checkout(place, caller) if place else None)

    def of_file(self, file: Path) -> Scope | None:
        """The scope an edited file belongs to, whatever the session: its repository's; None outside any."""
        place = self._places.of_file(file)
        return self._scope(place, checkout_of(place.repository.layout)) if place and place.repository else None

    def root_around(self, scope: Scope, folder: Path) -> Path | None:
        """The root of the checkout that holds `folder`, if it is one of the workspace of `scope`."""
        if scope.workspace is None:
            return None
        repository = self._places.same_store(folder, Place(workspace=scope.workspace))
        return repository.layout.root if repository else None

    def close(self) -> None:
        """Let go of what still looks at a repository, before the stores are closed."""
        self._lookout.close()

    def _scope(self, place: Place | None, checkout: Checkout | None) -> Scope:
        workspace = place.workspace if place else None
        store = self._stores.of(workspace) if workspace else None
        sight = Sight(store, checkout, self._lookout)
        sight.look()  # before anything is written: the branch may have another name now
        return Scope(
            workspace=workspace,
            store=store,
            user=self._stores.user(),
            checkout=checkout,
            notes=place.notes if place else (),
            sight=sight,
        )

    def _checkout(self, place: Place, caller: Caller) -> Checkout | None:
        """The first checkout of the place's store among the call's hints."""
        for folder in _unique(self._hints(place, caller)):
            repository = self._places.same_store(folder, place)
            if repository:
                return checkout_of(repository.layout)
        return None

    def _hints(self, place: Place, caller: Caller) -> Iterator[Path]:
        if place.chosen and place.folder:
            yield place.folder
        if caller.cwd:
            yield caller.cwd
        yield from (path for path in map(Path, caller.paths) if path.is_absolute())
        yield self._places.process_cwd
        if place.folder:
            yield place.folder


def _unique(paths: Iterable[Path]) -> Iterator[Path]:
    return iter(dict.fromkeys(paths))
