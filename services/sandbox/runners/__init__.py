"""The programs that run inside a sandbox, and which of them this Pinfold can run."""

from services.sandbox.runners.program import Program
from services.sandbox.runners.runner import Runner, RunnerStatus, runner, runners

__all__ = ["Program", "Runner", "RunnerStatus", "runner", "runners"]
