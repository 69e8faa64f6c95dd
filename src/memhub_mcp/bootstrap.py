"""The only chooser of parts: from settings to a hub."""

from memhub_mcp.domain.clock import Clock, system_clock
from memhub_mcp.models.load import Models
from memhub_mcp.service.briefing import Briefing
from memhub_mcp.service.capturing import Capturing
from memhub_mcp.service.code_state import CodeState
from memhub_mcp.service.history import History
from memhub_mcp.service.home import prepare_home
from memhub_mcp.service.hub import Hub
from memhub_mcp.service.importing import Importing
from memhub_mcp.service.indexing import Indexing
from memhub_mcp.service.maintenance import Maintenance
from memhub_mcp.service.memories import Memories
from memhub_mcp.service.reading import Reading
from memhub_mcp.service.reindexing import Reindexing
from memhub_mcp.service.reporting import Reporting
from memhub_mcp.service.scope import Scopes
from memhub_mcp.service.serving import Serving
from memhub_mcp.service.stores import Stores
from memhub_mcp.service.tracing import Tracing
from memhub_mcp.service.workspaces import WorkspaceChanges
from memhub_mcp.settings import CaptureSetting, Settings
from memhub_mcp.store.workspaces import Workspaces


def open_hub(settings: Settings, clock: Clock = system_clock, models: Models | None = None) -> Hub:
    """The use cases on the data directory that `settings` names; close it at the end.

    Raises:
        HomeError: the data directory cannot be used safely.
        StoreError: the registry of workspaces cannot be used as it is.
    """
    tightened = prepare_home(settings.home)
    doors = models or Models(settings)
    registry = Workspaces(settings.home, clock)
    stores = Stores(settings.home, clock)
    scopes = Scopes(settings=settings, registry=registry, stores=stores, clock=clock)
    indexing = Indexing(clock=clock)
    tracing = Tracing()
    serving = Serving(doors, clock)
    reindexing = Reindexing(models=doors, serving=serving)
    capturing = Capturing(home=settings.home, registry=registry, setting=CaptureSetting(settings), clock=clock)
    reporting = Reporting(
        home=settings.home, models=doors, serving=serving, capturing=capturing, clock=clock, tightened=tightened
    )
    briefing = Briefing(home=settings.home, capturing=capturing, clock=clock)
    importing = Importing(scopes=scopes, capturing=capturing)
    maintenance = Maintenance(
        home=settings.home,
        scopes=scopes,
        serving=serving,
        reindexing=reindexing,
        indexing=indexing,
        briefing=briefing,
        importing=importing,
        capturing=capturing,
    )
    memories = Memories(
        scopes=scopes,
        reading=Reading(
            models=doors,
            code=CodeState(tracing),
            serving=serving,
            budget_tokens=settings.budget_tokens,
            clock=clock,
            fusion=settings.fusion,
        ),
        reporting=reporting,
        briefing=briefing,
        maintenance=maintenance,
        indexing=indexing,
        clock=clock,
    )

    def close() -> None:
        doors.close()
        scopes.close()
        stores.close()
        registry.close()

    return Hub(
        settings=settings,
        scopes=scopes,
        capturing=capturing,
        memories=memories,
        history=History(scopes=scopes, tracing=tracing, indexing=indexing, maintenance=maintenance),
        indexing=indexing,
        importing=importing,
        maintenance=maintenance,
        reindexing=reindexing,
        workspaces=WorkspaceChanges(settings=settings, registry=registry, stores=stores, clock=clock),
        on_close=close,
    )
