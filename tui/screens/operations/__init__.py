"""Operations as every screen shows them: planned in a dialog, carried out in front of the operator, undone by a key."""

from tui.screens.operations.asking import Asking
from tui.screens.operations.steps import step_lines

__all__ = ["Asking", "step_lines"]
