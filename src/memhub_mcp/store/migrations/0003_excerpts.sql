-- Where a memory stands in a file of memories that an assistant keeps. line NULL: it stood there once.
-- Some files that know no more than the second script have it already.
CREATE TABLE IF NOT EXISTS excerpt (
    file   TEXT NOT NULL,
    memory INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    line   INTEGER,
    PRIMARY KEY (file, memory)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS excerpt_memory ON excerpt (memory);
