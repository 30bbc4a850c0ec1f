"""How the verbs and the screen log what an operator changes in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.pinfold import Pinfold


async def log(pinfold: Pinfold, verb: str, detail: str, agent: str = "") -> None:
    """Write down what was done; values are never logged, nor secrets in names.

    Args:
        pinfold: The services.
        verb: As the command line calls it.
        detail: What it was done to.
        agent: Whose memory it is; "" where it is nobody's.
    """
    from services.memory import masked

    await pinfold.activity.record(f"memory.{verb}", agent=agent, detail=masked(detail))
