"""The program: agents, sandboxes, output and what happened, reachable without a screen."""
