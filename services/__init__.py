"""The program: agents, sandboxes, output and what happened, reachable without a screen."""

__version__ = "0.1.0"
