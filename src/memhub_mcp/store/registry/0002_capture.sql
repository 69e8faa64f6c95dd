-- What hooks may record in a workspace; NULL: as config.toml says.
ALTER TABLE workspace ADD COLUMN capture TEXT CHECK (capture IN ('off', 'edits', 'all'));

-- Times in which hooks record nothing: a pause, or capture switched off. until NULL: it lasts; workspace NULL: in all
-- that have no setting of their own.
CREATE TABLE silence (
    seq       INTEGER PRIMARY KEY,
    workspace INTEGER REFERENCES workspace (seq) ON DELETE CASCADE,
    kind      TEXT NOT NULL CHECK (kind IN ('pause', 'off')),
    since     INTEGER NOT NULL,
    until     INTEGER
) STRICT;

CREATE INDEX silence_workspace ON silence (workspace);
