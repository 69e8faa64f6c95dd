"""The words of the project as frozen dataclasses. Standard library only."""
