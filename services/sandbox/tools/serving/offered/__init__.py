"""The tools themselves: what each takes, does and answers; none knows how it is called."""

from services.sandbox.tools.serving.offered.catalogue import TOOLS, offered
from services.sandbox.tools.serving.offered.tool import Arguments, Reach, Result, Stores, Tool

__all__ = ["TOOLS", "Arguments", "Reach", "Result", "Stores", "Tool", "offered"]
