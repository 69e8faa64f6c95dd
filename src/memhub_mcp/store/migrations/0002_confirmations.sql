-- Where a memory was written: by name in origin_workspace, by id here.
ALTER TABLE memory ADD COLUMN origin_id TEXT;

-- A person read this version of a memory and stands by it: from now on hooks may tell it anywhere.
CREATE TABLE confirmation (
    memory       INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE,
    version      INTEGER NOT NULL,
    confirmed_by TEXT NOT NULL,
    confirmed_at INTEGER NOT NULL
) STRICT;

-- What was typed before there were confirmations needs none.
INSERT INTO confirmation (memory, version, confirmed_by, confirmed_at)
    SELECT seq, version, source, updated_at FROM memory WHERE tier = 'user' AND source = 'cli';

-- Nothing asks for a commit by its patch.
DROP INDEX git_commit_patch_id;
