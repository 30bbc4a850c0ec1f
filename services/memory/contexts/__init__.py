"""Contexts and their steps, resumable after a failure, an interrupt or a kill."""

from services.memory.contexts.contexts import Contexts
from services.memory.contexts.model import Context, Outcome, Step, StepState, StepType

__all__ = ["Context", "Contexts", "Outcome", "Step", "StepState", "StepType"]
