CREATE TABLE scoped_values (
    number     INTEGER PRIMARY KEY,
    scope      TEXT NOT NULL,                  -- user, team, chat or context; a CHECK would double the time of a write
    id         TEXT NOT NULL,
    key        TEXT NOT NULL,
    kind       TEXT NOT NULL,                  -- null, boolean, integer, number, text, list or object
    value      TEXT NOT NULL,                  -- JSON; '' for a list, whose items have rows of their own
    size       INTEGER NOT NULL,               -- bytes of the JSON, a comma more for a list
    first      INTEGER NOT NULL DEFAULT 0,     -- position of a list's first item
    length     INTEGER NOT NULL DEFAULT 0,     -- of a list; its positions have no gaps
    expires_at INTEGER,                        -- NULL: never
    updated_at INTEGER NOT NULL,
    UNIQUE (scope, id, key)
) STRICT;
CREATE INDEX scoped_values_that_expire ON scoped_values (expires_at, scope, id) WHERE expires_at IS NOT NULL;

CREATE TABLE list_items (
    list     INTEGER NOT NULL REFERENCES scoped_values (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    value    TEXT NOT NULL,                    -- JSON, the names of objects sorted, so that equal values are equal text
    PRIMARY KEY (list, position)
) STRICT, WITHOUT ROWID;

-- A value written over a list takes its items along; changes of items leave the column `value` alone.
CREATE TRIGGER list_written_over AFTER UPDATE OF value ON scoped_values WHEN old.kind = 'list'
BEGIN
    DELETE FROM list_items WHERE list = old.number;
END;

CREATE TABLE contexts (
    id         TEXT PRIMARY KEY,               -- also the id of its scope
    parent     TEXT REFERENCES contexts (id) ON DELETE CASCADE,  -- what it was forked from
    forked_in  TEXT NOT NULL DEFAULT '',       -- the step that ran in the parent then
    resumes    TEXT NOT NULL DEFAULT '',       -- the step whose snapshot it began with
    agent      TEXT NOT NULL DEFAULT '',
    chat       TEXT NOT NULL DEFAULT '',
    request    TEXT NOT NULL DEFAULT '',
    owner      TEXT NOT NULL,                  -- of the process that works in it; its lock tells whether that lives
    state      TEXT NOT NULL CHECK (state IN ('open', 'failed', 'interrupted')),
    created_at INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT;
CREATE INDEX contexts_by_parent ON contexts (parent);
CREATE INDEX contexts_that_are_open ON contexts (owner) WHERE state = 'open';

CREATE TABLE context_steps (
    sequence   INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order in which steps started, over all contexts
    id         TEXT NOT NULL UNIQUE,
    context    TEXT NOT NULL REFERENCES contexts (id) ON DELETE CASCADE,
    number     INTEGER NOT NULL,               -- counted from 1 within the context
    type       TEXT NOT NULL CHECK (type IN ('input', 'hook_create', 'llm', 'tool', 'hook_next', 'delegate')),
    state      TEXT NOT NULL CHECK (state IN ('running', 'completed', 'failed', 'interrupted')),
    parent     TEXT NOT NULL DEFAULT '',       -- the step it runs inside; '' at the bottom
    stack      TEXT NOT NULL,                  -- the parent, or the context at the bottom
    depth      INTEGER NOT NULL,               -- 0 at the bottom
    chat       TEXT NOT NULL,
    request    TEXT NOT NULL,
    input      TEXT NOT NULL,                  -- JSON
    output     TEXT,                           -- JSON; NULL until it is completed
    error      TEXT NOT NULL DEFAULT '',
    snapshot   TEXT,                           -- JSON of the context's values when it started; NULL once completed
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    used_at    INTEGER,                        -- when a context was resumed from it
    deleted_at INTEGER,
    UNIQUE (context, number)
) STRICT;
CREATE INDEX context_steps_by_chat ON context_steps (chat, sequence);
CREATE INDEX context_steps_by_request ON context_steps (request, sequence);
CREATE INDEX context_steps_by_stack ON context_steps (stack, sequence);
