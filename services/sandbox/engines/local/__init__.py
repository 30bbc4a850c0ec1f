"""The local engine: processes of this machine, each under a supervisor that outlives Pinfold."""

from services.sandbox.engines.local.engine import LocalEngine

__all__ = ["LocalEngine"]
