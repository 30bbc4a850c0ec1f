CREATE TABLE sessions (
    id            TEXT PRIMARY KEY,
    agent         TEXT NOT NULL,
    runner        TEXT NOT NULL,
    engine        TEXT NOT NULL,
    engine_id     TEXT NOT NULL DEFAULT '',   -- which engine of that name made the sandbox; '' when unknown
    node          TEXT NOT NULL,
    image         TEXT NOT NULL,
    lifecycle     TEXT NOT NULL CHECK (lifecycle IN ('oneshot', 'session', 'longrunning', 'persistent')),
    idle_timeout  REAL,                       -- seconds; NULL: never idle
    confined      INTEGER NOT NULL,
    workspace     TEXT NOT NULL,
    state         TEXT NOT NULL,
    detail        TEXT NOT NULL DEFAULT '',   -- what the state is waiting for or died of, for people
    sandbox       TEXT NOT NULL DEFAULT '',   -- the engine's id; '' before creation and after removal
    spec          TEXT NOT NULL,              -- JSON of the SandboxSpec, without secret values
    prompt        TEXT NOT NULL DEFAULT '',
    created_at    INTEGER NOT NULL,           -- nanoseconds since 1970, as all times here
    started_at    INTEGER,
    ended_at      INTEGER,
    active_at     INTEGER,                    -- the last sign that the sandbox is busy
    exit_code     INTEGER,
    out_of_memory INTEGER NOT NULL DEFAULT 0,
    revision      INTEGER NOT NULL            -- from the counter, at every change of the row
) STRICT;
CREATE INDEX sessions_by_revision ON sessions (revision);
CREATE INDEX sessions_by_agent ON sessions (agent, created_at);

CREATE TABLE steps (
    session    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    number     INTEGER NOT NULL,              -- counted from 1 within the session
    name       TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'cancelled')),
    detail     TEXT NOT NULL DEFAULT '',
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE removed_sessions (
    id       TEXT PRIMARY KEY,
    revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE activity (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    actor   TEXT NOT NULL,                    -- operator, pinfold, or agent:<alias>
    verb    TEXT NOT NULL,
    agent   TEXT NOT NULL DEFAULT '',
    session TEXT NOT NULL DEFAULT '',
    outcome TEXT NOT NULL CHECK (outcome IN ('done', 'refused', 'failed')),
    detail  TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX activity_by_session ON activity (session, number);
CREATE INDEX activity_by_agent ON activity (agent, number);

CREATE TABLE counter (
    only  INTEGER PRIMARY KEY CHECK (only = 1),
    value INTEGER NOT NULL
) STRICT;
INSERT INTO counter (only, value) VALUES (1, 0);
