"""memhub-mcp: one local long-term memory for every coding assistant on a machine."""

__version__ = "0.1.0"
