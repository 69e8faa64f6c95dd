"""Git and code, without a database."""
