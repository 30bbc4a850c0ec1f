CREATE TABLE refused_hosts (
    session  TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    position INTEGER NOT NULL                 -- up to where an engine's refusals are in the activity log
) STRICT, WITHOUT ROWID;
