"""The engines: docker and local, behind one protocol."""
