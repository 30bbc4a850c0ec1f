"""The verbs of the command, one module a group."""
