"""Files that keys and rows are written to and read from."""
