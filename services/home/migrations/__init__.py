"""The database's tables, one numbered SQL file a version; a file is never changed once released."""
