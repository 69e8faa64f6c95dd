"""One record a host: where its files are and what they look like."""
