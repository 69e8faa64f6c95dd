-- Which store belongs to which repository. Times are microseconds since 1970, UTC.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE workspace (
    seq        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    directory  TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;

-- Several stores may answer to one alias: a fork has the first commit of its upstream, a folder can be used again.
CREATE TABLE alias (
    kind      TEXT NOT NULL,
    value     TEXT NOT NULL,
    workspace INTEGER NOT NULL REFERENCES workspace (seq) ON DELETE CASCADE,
    added_at  INTEGER NOT NULL,
    PRIMARY KEY (kind, value, workspace)
) STRICT, WITHOUT ROWID;

CREATE INDEX alias_workspace ON alias (workspace);

-- Commits a store has been seen at: what a shallow clone, which does not know its first commit, is recognised by.
CREATE TABLE known_commit (
    workspace INTEGER NOT NULL REFERENCES workspace (seq) ON DELETE CASCADE,
    sha       TEXT NOT NULL,
    PRIMARY KEY (workspace, sha)
) STRICT, WITHOUT ROWID;
