"""The models of a process, all of them small: the first is what the settings ask for."""

from memhub_mcp.domain.embedding import EmbeddingSpace
from memhub_mcp.models.hash_embedder import HashEmbedder
from memhub_mcp.models.load import EmbedderDoor, RerankerDoor


class HashModels:
    """Takes the place of `Models`. `lost` are spaces whose model is known and cannot be loaded, with the reason."""

    def __init__(self, *embedders: HashEmbedder, lost: dict[str, str] | None = None) -> None:
        self._spaces = [embedder.space for embedder in embedders]
        self._doors = {embedder.space.name: EmbedderDoor.holding(embedder) for embedder in embedders}
        self._doors |= {space: EmbedderDoor.without(why) for space, why in (lost or {}).items()}
        self.embedder = self._doors[self._spaces[0].name]
        self.reranker = RerankerDoor.without("no reranker is configured")

    def embedder_of(self, space: str) -> EmbedderDoor | None:
        return self._doors.get(space)

    def space_wanted(self) -> EmbeddingSpace | None:
        return self._spaces[0]

    def close(self) -> None:
        for door in self._doors.values():
            door.close()
