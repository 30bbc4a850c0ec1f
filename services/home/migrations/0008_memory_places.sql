-- Which back-end an agent's memory is in, where that is not this database.
CREATE TABLE memory_places (
    alias   TEXT PRIMARY KEY,
    backend TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Moves between back-ends that have begun and are not done.
CREATE TABLE memory_moves (
    alias       TEXT PRIMARY KEY,
    source      TEXT NOT NULL,
    target      TEXT NOT NULL,
    kept        TEXT NOT NULL,                 -- JSON: what the target held before, by digests of the keys
    started_at  INTEGER NOT NULL,
    switched_at INTEGER NOT NULL DEFAULT 0     -- since then the target counts; only the source is to be emptied
) STRICT, WITHOUT ROWID;

-- When an agent's memory was tidied last.
CREATE TABLE memory_tidied (
    alias TEXT PRIMARY KEY,
    at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
