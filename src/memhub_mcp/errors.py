"""Every deliberate error. The message says what happened and what to do next."""


class MemhubError(Exception):
    """The root of the tree. Doors translate it: tool error, HTTP status, exit code 1."""


class InvalidInput(MemhubError):
    """The caller sent something that cannot be used; nothing was changed."""


class NotFound(MemhubError):
    """No such memory, workspace, path or commit in this scope."""


class Conflict(MemhubError):
    """Another writer was first, or a key was used again with other content."""


class ScopeError(MemhubError):
    """The scope asked for does not exist or is not this session's."""


class StoreError(MemhubError):
    """A database cannot be used as it is."""


class NewerStore(StoreError):
    """The database was written by a newer memhub."""


class DamagedStore(StoreError):
    """The database file is not readable as one."""


class BusyStore(StoreError):
    """Another process keeps the database locked."""


class ReadOnlyStore(StoreError):
    """The database can be read but not written."""


class OlderStore(ReadOnlyStore):
    """The database must be brought up to date before it is read, and may not be written."""


class RepoError(MemhubError):
    """A repository cannot answer this question."""


class ModelError(MemhubError):
    """A model is missing, does not match its digest, or failed."""


class ModelAway(ModelError):
    """The process that holds a model has ended or does not answer: nothing was tried, later may be better."""


class HomeError(MemhubError):
    """The data directory cannot be used safely."""


class ConfigError(MemhubError):
    """A host's configuration file cannot be edited safely; it was left as it is."""
