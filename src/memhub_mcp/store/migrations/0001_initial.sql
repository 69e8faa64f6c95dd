-- One store: what a workspace (or the person) remembers. Times are microseconds since 1970, UTC.
-- Order is by generation, never by time: clocks jump.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A place on a branch. commit_sha NULL = pending: visible on that branch only, until its next commit is seen.
CREATE TABLE anchor (
    id         INTEGER PRIMARY KEY,
    branch     TEXT NOT NULL,
    commit_sha TEXT,
    pending_at TEXT,
    UNIQUE (branch, commit_sha)
) STRICT;

CREATE INDEX anchor_commit ON anchor (commit_sha) WHERE commit_sha IS NOT NULL;

-- fact_drafted: memhub drew the fact from what was captured; what an assistant reports takes its place.
CREATE TABLE session (
    seq          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    source       TEXT NOT NULL,
    host_session TEXT,
    started_at   INTEGER NOT NULL,
    branch       TEXT,
    head         TEXT,
    fact         INTEGER REFERENCES memory (seq) ON DELETE SET NULL,
    fact_drafted INTEGER NOT NULL DEFAULT 0,
    UNIQUE (source, host_session)
) STRICT;

-- sources: every host that wrote it, a JSON list; source: the one host, or `mixed`.
-- redaction, terms: the rules its text was redacted by and the words it is found by were made with (0: not known).
CREATE TABLE memory (
    seq              INTEGER PRIMARY KEY,
    id               TEXT NOT NULL UNIQUE,
    version          INTEGER NOT NULL DEFAULT 1,
    kind             TEXT NOT NULL,
    tier             TEXT NOT NULL,
    status           TEXT NOT NULL DEFAULT 'active',
    text             TEXT NOT NULL,
    content_key      BLOB NOT NULL,
    subject          TEXT,
    subject_key      TEXT,
    anchor           INTEGER REFERENCES anchor (id),
    branch           TEXT,
    commit_sha       TEXT,
    sources          TEXT NOT NULL,
    source           TEXT NOT NULL,
    session          TEXT REFERENCES session (id) ON DELETE SET NULL,
    origin_workspace TEXT,
    files            TEXT NOT NULL DEFAULT '[]',
    symbols          TEXT NOT NULL DEFAULT '[]',
    search_keys      TEXT NOT NULL DEFAULT '[]',
    solution         TEXT,
    environment      TEXT,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    valid_until      INTEGER,
    last_used_at     INTEGER,
    generation       INTEGER NOT NULL,
    redaction        INTEGER NOT NULL,
    terms            INTEGER NOT NULL DEFAULT 0,
    useful           INTEGER NOT NULL DEFAULT 0,
    wrong            INTEGER NOT NULL DEFAULT 0,
    outdated         INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX memory_content ON memory (content_key);
CREATE INDEX memory_subject ON memory (subject_key) WHERE subject_key IS NOT NULL;
-- Holds all that a filter asks, so that counting and paging read no texts.
CREATE INDEX memory_newest  ON memory (generation, status, kind, anchor, source, updated_at, valid_until);
CREATE INDEX memory_anchor  ON memory (anchor, status) WHERE anchor IS NOT NULL;
CREATE INDEX memory_session ON memory (session) WHERE session IS NOT NULL;
CREATE INDEX memory_redaction ON memory (redaction);
CREATE INDEX memory_terms ON memory (terms);

CREATE INDEX session_fact ON session (fact) WHERE fact IS NOT NULL;

CREATE TABLE memory_version (
    memory     INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    text       TEXT NOT NULL,
    source     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (memory, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_file (
    path   TEXT NOT NULL,
    memory INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    PRIMARY KEY (path, memory)
) STRICT, WITHOUT ROWID;

CREATE INDEX memory_file_memory ON memory_file (memory);

CREATE TABLE link (
    from_memory INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    to_memory   INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    relation    TEXT NOT NULL,
    PRIMARY KEY (from_memory, to_memory, relation)
) STRICT, WITHOUT ROWID;

CREATE INDEX link_back ON link (to_memory);

CREATE TABLE turn (
    memory     INTEGER PRIMARY KEY REFERENCES memory (seq) ON DELETE CASCADE,
    session    TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    speaker    TEXT NOT NULL,
    caption    TEXT,
    time       INTEGER NOT NULL,
    UNIQUE (session, position)
) STRICT;

CREATE INDEX turn_speaker ON turn (speaker COLLATE NOCASE);

-- Our own terms, lower-case, separated by spaces; nothing else separates. (unicode61 knows the characters of 2012:
-- a newer letter or emoji would separate.)
-- body: own text and search keys; name: subject, files, symbols; caption, time: raw turns only.
CREATE VIRTUAL TABLE words USING fts5 (
    body, name, caption, time,
    content = '', contentless_delete = 1, detail = full,
    tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);
CREATE VIRTUAL TABLE words_vocab USING fts5vocab (words, 'row');

-- state: active (serves), filling (takes over when its queue is empty), retired (waits to be removed).
-- chosen: the highest is what was asked for last. changed_at: when it came into its state.
-- id never comes back: other processes hold bits by it.
CREATE TABLE embedding_space (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL UNIQUE,
    dimension  INTEGER NOT NULL,
    state      TEXT NOT NULL,
    chosen     INTEGER NOT NULL DEFAULT 0,
    changed_at INTEGER NOT NULL
) STRICT;

-- key 0 is the text's first piece, further pieces count up; search keys start at 1000.
-- bits: one sign bit a dimension, packed; vector: float16, little endian, unit length.
-- id never comes back, so that readers can fetch what is new.
CREATE TABLE vector (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    memory INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    key    INTEGER NOT NULL,
    space  INTEGER NOT NULL REFERENCES embedding_space (id),
    bits   BLOB NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (memory, space, key)
) STRICT;

-- A narrow copy for scans: a row with its vector fills a fifth of a page.
CREATE INDEX vector_bits ON vector (space, id, bits);

-- One sign bit a dimension for each of the first content tokens, packed, one token after the other.
CREATE TABLE token_bits (
    space  INTEGER NOT NULL REFERENCES embedding_space (id) ON DELETE CASCADE,
    memory INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    bits   BLOB NOT NULL,
    PRIMARY KEY (space, memory)
) STRICT;

CREATE INDEX token_bits_memory ON token_bits (memory);

CREATE TABLE embedding_queue (
    memory      INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    space       INTEGER NOT NULL REFERENCES embedding_space (id) ON DELETE CASCADE,
    lease_until INTEGER NOT NULL DEFAULT 0,
    attempts    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (memory, space)
) STRICT, WITHOUT ROWID;

CREATE INDEX embedding_queue_next ON embedding_queue (space, attempts, memory DESC);

-- What was seen of each branch: rewritten commits get pruned, so this is stored when seen.
CREATE TABLE branch_fact (
    branch       TEXT PRIMARY KEY,
    tip          TEXT NOT NULL,
    merge_base   TEXT,
    patch_id     TEXT,
    seen_at      INTEGER NOT NULL,
    deleted_at   INTEGER
) STRICT, WITHOUT ROWID;

-- position 0 is the tip.
CREATE TABLE branch_commit (
    branch   TEXT NOT NULL REFERENCES branch_fact (branch) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    sha      TEXT NOT NULL,
    patch_id TEXT,
    PRIMARY KEY (branch, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE branch_path (
    branch TEXT NOT NULL REFERENCES branch_fact (branch) ON DELETE CASCADE,
    path   TEXT NOT NULL,
    blob   TEXT,
    PRIMARY KEY (branch, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX branch_path_same ON branch_path (path, blob);

-- The state of a branch that was compared last: its tip, how its reflog begins, the newest of its anchors.
CREATE TABLE branch_watch (
    branch        TEXT PRIMARY KEY,
    tip           TEXT NOT NULL,
    born          TEXT,
    newest_anchor INTEGER NOT NULL,
    is_gone       INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What a squash of a branch up to one of its commits looks like: the patch-id of base..sha.
CREATE TABLE branch_squash (
    branch   TEXT NOT NULL,
    sha      TEXT NOT NULL,
    base     TEXT NOT NULL,
    patch_id TEXT NOT NULL,
    PRIMARY KEY (branch, sha)
) STRICT, WITHOUT ROWID;

CREATE INDEX branch_squash_same ON branch_squash (patch_id);

-- Zero-context patch-ids (NULL: none) of commits compared with branches, and of those memories stand at; for the
-- latter `since` is where they had left the default branch ('': nowhere).
CREATE TABLE commit_patch (
    sha      TEXT PRIMARY KEY,
    patch_id TEXT,
    since    TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX commit_patch_same ON commit_patch (patch_id) WHERE patch_id IS NOT NULL;

-- Where branches left the default branch, as far as everything behind HEADs since then was compared.
CREATE TABLE compared_base (
    sha TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Where the work of an anchor arrived under another commit: rebased, cherry-picked, squashed.
CREATE TABLE landing (
    anchor INTEGER NOT NULL REFERENCES anchor (id) ON DELETE CASCADE,
    sha    TEXT NOT NULL,
    PRIMARY KEY (anchor, sha)
) STRICT, WITHOUT ROWID;

-- Which of the commits asked for lead to a head that was seen; ids as raw bytes, one after the other.
CREATE TABLE reach (
    seq     INTEGER PRIMARY KEY,
    head    TEXT NOT NULL UNIQUE,
    asked   BLOB NOT NULL,
    reached BLOB NOT NULL
) STRICT;

CREATE TABLE git_commit (
    seq          INTEGER PRIMARY KEY,
    sha          TEXT NOT NULL UNIQUE,
    parents      TEXT NOT NULL,
    author       TEXT NOT NULL,
    authored_at  INTEGER NOT NULL,
    committed_at INTEGER NOT NULL,
    message      TEXT NOT NULL,
    patch_id     TEXT,
    patch        BLOB NOT NULL,
    note         TEXT,
    redaction    INTEGER NOT NULL,
    terms        INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX git_commit_patch_id ON git_commit (patch_id) WHERE patch_id IS NOT NULL;
CREATE INDEX git_commit_redaction ON git_commit (redaction);
CREATE INDEX git_commit_terms ON git_commit (terms);

CREATE TABLE path (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- hunks: four LEB128 numbers a hunk (old start, old lines, new start, new lines).
CREATE TABLE file_change (
    git_commit  INTEGER NOT NULL REFERENCES git_commit (seq) ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,
    parent      INTEGER NOT NULL,
    path        INTEGER NOT NULL REFERENCES path (id),
    old_path    INTEGER REFERENCES path (id),
    kind        TEXT NOT NULL,
    blob_before BLOB,
    blob_after  BLOB,
    is_binary   INTEGER NOT NULL,
    hunks       BLOB NOT NULL,
    PRIMARY KEY (git_commit, ordinal)
) STRICT, WITHOUT ROWID;

CREATE INDEX file_change_path ON file_change (path);
CREATE INDEX file_change_old_path ON file_change (old_path) WHERE old_path IS NOT NULL;

CREATE VIRTUAL TABLE commit_words USING fts5 (
    message, name, changed,
    content = '', contentless_delete = 1, detail = full,
    tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);
CREATE VIRTUAL TABLE commit_words_vocab USING fts5vocab (commit_words, 'row');

-- Drained edit events, each one change to one file. body: the texts, compressed JSON. redaction: of which rules it is
-- known that they were applied; a hook may be of another version than the store.
CREATE TABLE edit (
    seq          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    identity     BLOB NOT NULL UNIQUE,
    source       TEXT NOT NULL,
    session      TEXT REFERENCES session (id) ON DELETE SET NULL,
    host_session TEXT,
    tool         TEXT NOT NULL,
    tool_call    TEXT,
    turn         TEXT,
    ordinal      INTEGER NOT NULL,
    branch       TEXT,
    head         TEXT,
    kind         TEXT NOT NULL,
    path         TEXT NOT NULL,
    old_path     TEXT,
    said         TEXT,
    hash_after   TEXT,
    hunks        BLOB NOT NULL,
    body         BLOB NOT NULL,
    time         INTEGER NOT NULL,
    generation   INTEGER NOT NULL,
    redaction    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX edit_path ON edit (path, seq);
CREATE INDEX edit_redaction ON edit (redaction);
CREATE INDEX edit_session ON edit (session, seq) WHERE session IS NOT NULL;

-- receipt NULL: what it spoke of was forgotten; the operation is not run again.
CREATE TABLE operation (
    key        TEXT PRIMARY KEY,
    input      BLOB NOT NULL,
    receipt    TEXT,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Hashes of what was forgotten, no text: a re-import must not bring it back.
CREATE TABLE tombstone (
    content_key BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;
