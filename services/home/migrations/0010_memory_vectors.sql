-- Vectors of two spaces are never compared.
CREATE TABLE vector_spaces (
    number     INTEGER PRIMARY KEY,
    provider   TEXT NOT NULL,                  -- the protocol and the address of the embedder
    model      TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    UNIQUE (provider, model, dimensions)
) STRICT;

-- The vectors of agents' memories; one goes with its memory, or when what it was made of changes.
CREATE TABLE memory_vectors (
    number INTEGER PRIMARY KEY AUTOINCREMENT,  -- the newer the higher, also after the highest was removed
    memory INTEGER NOT NULL UNIQUE REFERENCES memories (number) ON DELETE CASCADE,
    agent  TEXT NOT NULL,
    space  INTEGER NOT NULL REFERENCES vector_spaces (number),
    vector BLOB NOT NULL                       -- of length 1, float32, little-endian; empty: the text is given to nobody
) STRICT;
CREATE INDEX memory_vectors_by_agent ON memory_vectors (agent, space, number);

CREATE TRIGGER memory_vector_outdated AFTER UPDATE OF key, content, findings ON memories
WHEN new.key <> old.key OR new.content <> old.content OR new.findings <> old.findings
BEGIN
    DELETE FROM memory_vectors WHERE memory = new.number;
END;
CREATE TRIGGER memory_vector_handed_on AFTER UPDATE OF agent ON memories WHEN new.agent <> old.agent
BEGIN
    INSERT OR REPLACE INTO memory_vectors (memory, agent, space, vector)
    SELECT memory, new.agent, space, vector FROM memory_vectors WHERE memory = new.number;
END;

-- Memories that were stored while their agent had an embedder, and have no vector yet.
CREATE TABLE memory_vectors_due (
    memory INTEGER PRIMARY KEY REFERENCES memories (number) ON DELETE CASCADE
) STRICT;
