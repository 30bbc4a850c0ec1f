"""The runner `command`: any program, as it is written in agent.toml."""

from __future__ import annotations

from services.sandbox.runners.program import Program


class CommandRunner:
    """Runs the agent's `command`; the prompt is in `$PINFOLD_PROMPT`, never on the command line."""

    def program(self, command: tuple[str, ...], prompt: str) -> Program:
        """Say what to run."""
        return Program(command, {"PINFOLD_PROMPT": prompt} if prompt else {})
