"""Conversations that assistants keep on disk, one reader a host, all giving the same records."""
