CREATE TABLE agents (
    id         TEXT PRIMARY KEY,               -- a UUID as 32 hex digits, one word for the search
    alias      TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE memories (
    number        INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    agent         TEXT NOT NULL REFERENCES agents (id),
    key           TEXT NOT NULL,
    content       TEXT NOT NULL,
    category      TEXT NOT NULL,               -- core, daily, conversation, or any other word
    session       TEXT NOT NULL DEFAULT '',
    importance    REAL NOT NULL,
    pinned        INTEGER NOT NULL DEFAULT 0,
    superseded_by TEXT NOT NULL DEFAULT '',    -- id of the row that replaced it
    findings      TEXT NOT NULL DEFAULT '',    -- what the scan found, names with commas between
    withheld      INTEGER NOT NULL DEFAULT 0,  -- 1: kept from agents because of what was found
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    UNIQUE (agent, key)
) STRICT;
CREATE INDEX memories_by_time ON memories (agent, updated_at, id);
CREATE INDEX memories_by_category ON memories (agent, category, updated_at);
CREATE INDEX memories_by_session ON memories (agent, session) WHERE session <> '';
CREATE INDEX memories_withheld ON memories (agent) WHERE withheld;

-- The words of rows that are not superseded; the agent is a word too, so that others' rows are never looked at.
CREATE VIRTUAL TABLE memory_words USING fts5 (
    agent, key, content, content = 'memories', content_rowid = 'number', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER memory_stored AFTER INSERT ON memories WHEN new.superseded_by = ''
BEGIN
    INSERT INTO memory_words (rowid, agent, key, content) VALUES (new.number, new.agent, new.key, new.content);
END;
CREATE TRIGGER memory_removed AFTER DELETE ON memories WHEN old.superseded_by = ''
BEGIN
    INSERT INTO memory_words (memory_words, rowid, agent, key, content)
    VALUES ('delete', old.number, old.agent, old.key, old.content);
END;
CREATE TRIGGER memory_changed AFTER UPDATE OF agent, key, content, superseded_by ON memories
BEGIN
    INSERT INTO memory_words (memory_words, rowid, agent, key, content)
    SELECT 'delete', old.number, old.agent, old.key, old.content WHERE old.superseded_by = '';
    INSERT INTO memory_words (rowid, agent, key, content)
    SELECT new.number, new.agent, new.key, new.content WHERE new.superseded_by = '';
END;

CREATE TABLE tenants (
    id         INTEGER PRIMARY KEY,            -- negative: derived from the parent, the agent and the role
    parent     INTEGER,                        -- the tenant it was derived from; NULL for an agent's own
    agent      TEXT NOT NULL,                  -- an alias, or the chain that ends in the caller
    role       TEXT NOT NULL DEFAULT '',       -- of a sub-agent
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX tenants_of_agents ON tenants (agent) WHERE parent IS NULL;

CREATE TABLE core_blocks (
    tenant     INTEGER NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    block      TEXT NOT NULL CHECK (block IN ('persona', 'human', 'working_context')),
    content    TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, block)
) STRICT, WITHOUT ROWID;

CREATE TABLE block_history (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    entry  TEXT NOT NULL,
    at     INTEGER NOT NULL
) STRICT;
CREATE INDEX block_history_by_time ON block_history (tenant, at, number);

CREATE TABLE archive_entries (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    tenant     INTEGER NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    owner      TEXT NOT NULL,                  -- the tenant as one word for the search, such as t42 or n42
    content    TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX archive_entries_by_tenant ON archive_entries (tenant, created_at, number);

CREATE VIRTUAL TABLE archive_words USING fts5 (
    owner, content, content = 'archive_entries', content_rowid = 'number', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER archive_entry_inserted AFTER INSERT ON archive_entries
BEGIN
    INSERT INTO archive_words (rowid, owner, content) VALUES (new.number, new.owner, new.content);
END;
CREATE TRIGGER archive_entry_deleted AFTER DELETE ON archive_entries
BEGIN
    INSERT INTO archive_words (archive_words, rowid, owner, content)
    VALUES ('delete', old.number, old.owner, old.content);
END;
