ALTER TABLE approvals ADD COLUMN rule TEXT NOT NULL DEFAULT '';           -- which rule asks, and where it is written
ALTER TABLE approvals ADD COLUMN every_time INTEGER NOT NULL DEFAULT 0;   -- 1: asked though allowed for the session
ALTER TABLE approvals ADD COLUMN words TEXT NOT NULL DEFAULT '';          -- why the operator refused, for the agent
