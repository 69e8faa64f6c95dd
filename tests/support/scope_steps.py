"""A person with a data directory, whose assistants stand in different folders."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memhub_mcp.domain.clock import system_clock
from memhub_mcp.domain.memory import Draft, Filter, Kind
from memhub_mcp.domain.scope import Caller, Tier
from memhub_mcp.service.scope import Scope, Scopes
from memhub_mcp.service.stores import Stores
from memhub_mcp.settings import Settings
from memhub_mcp.store.workspaces import Workspaces


@dataclass
class Person:
    """Opens scopes as the processes of one person would."""

    folder: Path
    scopes: dict[str, Scopes] = field(default_factory=dict)
    _written: int = 0

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.folder / "data"

    @property
    def home(self) -> Path:
        """The home directory."""
        return self.folder / "home"

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.registry = Workspaces(self.data, system_clock)
        self.stores = Stores(self.data, system_clock)

    def at(self, cwd: Path, *, call: dict[str, Any] | None = None, **settings: Any) -> Scope:
        """The scope of a call (`call`: fields of Caller) to a process that stands in `cwd`."""
        chosen = Settings(home=self.data, cwd=cwd, person_home=self.home, **settings)
        scopes = self.scopes.get(repr(chosen))
        if scopes is None:
            fresh = Scopes(settings=chosen, registry=self.registry, stores=self.stores, patience_s=60.0)
            scopes = self.scopes.setdefault(repr(chosen), fresh)
        return scopes.resolve(Caller(source="claude-code", **(call or {})))

    def remember(
        self, cwd: Path, text: str, *, kind: Kind = Kind.FACT, tier: Tier | None = None, subject: str | None = None
    ) -> int:
        """Store `text` from `cwd`, as a call does; its row."""
        scope = self.at(cwd)
        tier = tier or scope.default_tier(kind)
        store = scope.user if tier is Tier.USER else scope.store
        assert store is not None
        checkout = scope.checkout
        self._written += 1
        with store.write() as tx:
            memory = store.memories.add(
                tx,
                Draft(text=text, kind=kind, subject=subject),
                id=f"m_{self._written:06}",
                tier=tier,
                branch=checkout.branch if checkout and tier is Tier.BRANCH else None,
                anchor=scope.anchor_for_new(tx) if tier is Tier.BRANCH else None,
                commit=checkout.head if checkout else None,
                source="claude-code",
                session=None,
                origin_workspace=scope.workspace.name if scope.workspace else None,
                content_key=text.encode(),
                subject_key=subject,
                now=system_clock(),
                redaction=1,
            )
        scope.reply()
        return memory.seq

    def sees(self, cwd: Path) -> set[str]:
        """The texts of the workspace's memories seen from `cwd`."""
        scope = self.at(cwd)
        assert scope.store is not None
        seen = Filter(anchors=scope.anchors(), shadowed=scope.shadowed())
        found = scope.store.memories.newest(seen, before=None, limit=1_000)
        return {memory.text for memory in found}

    def close(self) -> None:
        """Close every file."""
        self.stores.close()
        self.registry.close()


@contextmanager
def person_in(folder: Path) -> Iterator[Person]:
    """A person whose home and data lie in `folder`."""
    person = Person(folder)
    try:
        yield person
    finally:
        person.close()
