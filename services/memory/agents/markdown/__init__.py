"""Agent memory as Markdown in the workspace, for people and agents to read and edit."""

from services.memory.agents.markdown.backend import MarkdownBackend

__all__ = ["MarkdownBackend"]
