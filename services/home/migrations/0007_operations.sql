CREATE TABLE operations (
    id         TEXT PRIMARY KEY,
    kind       TEXT NOT NULL CHECK (kind IN ('rename', 'delete', 'restore')),
    alias      TEXT NOT NULL,
    target     TEXT NOT NULL DEFAULT '',
    archive    TEXT NOT NULL DEFAULT '',       -- the id of the archive written or read
    actor      TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('running', 'failed', 'cancelled', 'done')),
    detail     TEXT NOT NULL DEFAULT '',
    warnings   TEXT NOT NULL DEFAULT '[]',     -- JSON
    committed  INTEGER NOT NULL DEFAULT 0,     -- 1: it can only be completed
    plan       TEXT NOT NULL,                  -- JSON
    created_at INTEGER NOT NULL,
    ended_at   INTEGER,
    revision   INTEGER NOT NULL
) STRICT;
CREATE INDEX operations_by_time ON operations (created_at);
CREATE INDEX operations_unfinished ON operations (id) WHERE state IN ('running', 'failed');

CREATE TABLE operation_steps (
    operation  TEXT NOT NULL REFERENCES operations (id) ON DELETE CASCADE,
    number     INTEGER NOT NULL,               -- counted from 1
    name       TEXT NOT NULL,
    text       TEXT NOT NULL,
    subject    TEXT NOT NULL DEFAULT '',
    state      TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled')),
    detail     TEXT NOT NULL DEFAULT '',
    result     TEXT NOT NULL DEFAULT '',       -- JSON, for a retry and for the steps after it
    started_at INTEGER,
    ended_at   INTEGER,
    PRIMARY KEY (operation, number)
) STRICT, WITHOUT ROWID;
