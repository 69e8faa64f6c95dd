"""What makes two vectors comparable."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """Vectors are comparable only within one space."""

    model: str
    revision: str
    quantisation: str
    dimension: int

    @property
    def name(self) -> str:
        """One line that identifies the space, as stored beside each vector."""
        return f"{self.model}@{self.revision}/{self.quantisation}/{self.dimension}"
