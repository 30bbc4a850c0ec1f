"""Memories as vectors: made by an embedder, kept beside the rows in SQLite, and recalled by likeness beside words."""

from services.memory.agents.vectors.arrears import Arrears
from services.memory.agents.vectors.embed_run import EmbedRun
from services.memory.agents.vectors.embedding import Embedding
from services.memory.agents.vectors.likeness import Likeness
from services.memory.agents.vectors.model import EmbedPlan, EmbedProgress
from services.memory.agents.vectors.recalling import VectorRecall

__all__ = ["Arrears", "EmbedPlan", "EmbedProgress", "EmbedRun", "Embedding", "Likeness", "VectorRecall"]
