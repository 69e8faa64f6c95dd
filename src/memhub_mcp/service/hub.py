"""Everything a door may call, in one place."""

from collections.abc import Callable
from dataclasses import dataclass

from memhub_mcp.service.capturing import Capturing
from memhub_mcp.service.history import History
from memhub_mcp.service.importing import Importing
from memhub_mcp.service.indexing import Indexing
from memhub_mcp.service.maintenance import Maintenance
from memhub_mcp.service.memories import Memories
from memhub_mcp.service.reindexing import Reindexing
from memhub_mcp.service.scope import Scopes
from memhub_mcp.service.workspaces import WorkspaceChanges
from memhub_mcp.settings import Settings


@dataclass(frozen=True, slots=True)
class Hub:
    """The use cases of one data directory. Safe to call from several threads; close it once, at the end."""

    settings: Settings
    scopes: Scopes
    capturing: Capturing
    memories: Memories
    history: History
    indexing: Indexing
    importing: Importing
    maintenance: Maintenance
    reindexing: Reindexing
    workspaces: WorkspaceChanges
    on_close: Callable[[], None]

    def close(self) -> None:
        """Let models and files go."""
        self.on_close()
