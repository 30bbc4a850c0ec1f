CREATE TABLE tool_tokens (
    session   TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    digest    BLOB NOT NULL,                  -- SHA-256 of the token, which is kept nowhere but in its session's files
    grants    TEXT NOT NULL,                  -- JSON of the Grant
    issued_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_actions (
    number INTEGER PRIMARY KEY,
    agent  TEXT NOT NULL,
    at     INTEGER NOT NULL                   -- an action that is under way or succeeded
) STRICT;
CREATE INDEX tool_actions_by_agent ON tool_actions (agent, at);

CREATE TABLE approvals (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    session       TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    agent         TEXT NOT NULL,
    tool          TEXT NOT NULL,
    summary       TEXT NOT NULL,              -- the arguments for people, secrets masked; '' once decided
    reason        TEXT NOT NULL,              -- why it is asked
    asked_at      INTEGER NOT NULL,
    until         INTEGER NOT NULL,           -- refused when nobody has answered by then
    state         TEXT NOT NULL CHECK (state IN ('waiting', 'allowed', 'refused', 'withdrawn')),
    whole_session INTEGER NOT NULL DEFAULT 0  -- 1: the same tool is not asked again in this session
) STRICT;
CREATE INDEX approvals_by_session ON approvals (session, tool);
CREATE INDEX approvals_waiting ON approvals (until) WHERE state = 'waiting';
