-- Texts hold no character 0: it is written as U+0001 U+0003, and U+0001 itself as U+0001 U+0002.
CREATE TABLE pinfold.agents (
    id         text PRIMARY KEY,                  -- a UUID as 32 hex digits
    home       text NOT NULL,                     -- the Pinfold whose agent it is
    alias      text NOT NULL,
    created_at bigint NOT NULL,                   -- nanoseconds since 1970, as everywhere below
    UNIQUE (home, alias)
);

CREATE TABLE pinfold.memories (
    id            text NOT NULL,
    agent         text NOT NULL REFERENCES pinfold.agents (id) ON DELETE CASCADE,
    key_digest    bytea NOT NULL,                 -- SHA-256 of the key, which may be too long for an index
    key           text NOT NULL,
    content       text NOT NULL,
    size          bigint NOT NULL,                -- bytes of the content
    words         tsvector NOT NULL,              -- of the key and the content
    category      text NOT NULL,                  -- core, daily, conversation, or any other word
    session       text NOT NULL,
    importance    double precision NOT NULL,
    pinned        boolean NOT NULL,
    superseded_by text NOT NULL,                  -- id of the row that replaced it
    findings      text[] NOT NULL,                -- what the scan found
    withheld      boolean NOT NULL,               -- kept from agents because of what was found
    created_at    bigint NOT NULL,
    updated_at    bigint NOT NULL,
    PRIMARY KEY (agent, key_digest)
);
CREATE INDEX memories_by_time ON pinfold.memories (agent, updated_at DESC, id);
CREATE INDEX memories_by_category ON pinfold.memories (agent, category, updated_at);
CREATE INDEX memories_by_session ON pinfold.memories (agent, md5(session)) WHERE session <> '';
CREATE INDEX memories_by_words ON pinfold.memories USING gin (words);
