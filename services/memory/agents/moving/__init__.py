"""Moving an agent's memory from one back-end to another: copied, verified, and only then switched over and removed."""

from services.memory.agents.moving.model import MovePlan, MoveProgress, MoveStage
from services.memory.agents.moving.mover import Mover

__all__ = ["MovePlan", "MoveProgress", "MoveStage", "Mover"]
