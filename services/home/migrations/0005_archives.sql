-- The index of archives/; what is in an archive is in its files only.
CREATE TABLE archives (
    id          TEXT PRIMARY KEY,              -- the name of its directory
    alias       TEXT NOT NULL,                 -- of the agent, the newest one
    uuid        TEXT NOT NULL,                 -- the agent's id in memory, or ''
    kind        TEXT NOT NULL,                 -- the operation that made it
    state       TEXT NOT NULL CHECK (state IN ('unsealed', 'sealed', 'purged')),
    created_at  INTEGER NOT NULL,
    size        INTEGER NOT NULL DEFAULT 0,    -- bytes of all files
    manifest    TEXT NOT NULL DEFAULT '',      -- SHA-256 of manifest.toml, which vouches for all other files
    verified_at INTEGER,                       -- the last time all was read again; NULL: never
    intact      INTEGER,                       -- what was found then
    purged_at   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX archives_by_alias ON archives (alias, created_at);
