"""What `[memory.vectors]` may say, and what keeps an agent's memories from being recalled by likeness."""

from __future__ import annotations

import pytest

from services.agents import Agents
from tests.services.agents.conftest import AGENT, SHARED, Put

EMBEDDERS = """
[connectors.near]
kind = "openai"
base_url = "http://127.0.0.1:11434/v1"
model = "embed"
[connectors.other]
kind = "anthropic"
base_url = "http://127.0.0.1/v1"
model = "embed"
[connectors.nameless]
kind = "openai"
base_url = "http://127.0.0.1/v1"
[connectors.nowhere]
kind = "openai"
model = "embed"
[connectors.file]
kind = "openai"
model = "embed"
base_url = "file:///etc/passwd"
[connectors.port]
kind = "openai"
model = "embed"
base_url = "http://host:port/v1"
[connectors.open]
kind = "openai"
model = "embed"
base_url = "https://user:password@example.org/v1"
[connectors.asking]
kind = "openai"
model = "embed"
base_url = "https://example.org/v1?key=1"
"""


@pytest.mark.parametrize(
    ("text", "line", "severity", "words"),
    [
        ('embedder = "nera"', 6, "warning", 'there is no connector "nera" in pinfold.toml. Did you mean "near"?'),
        ('embedder = "other"', 6, "warning", "is not of the kind openai, as embedders are"),
        ('embedder = "nameless"', 6, "warning", "names no model"),
        ('embedder = "nowhere"', 6, "warning", "has no http address as its base_url"),
        ('embedder = "file"', 6, "warning", "has no http address as its base_url"),
        ('embedder = "port"', 6, "warning", "has no http address as its base_url"),
        ('embedder = "open"', 6, "warning", "holds more than an address"),
        ('embedder = "asking"', 6, "warning", "holds more than an address"),
        ('embedder = "near"\n[memory]\nbackend = "qdrant"', 6, "warning", "has no effect with the back-end qdrant"),
        ("vector_weight = 0.0\nkeyword_weight = 0.0", 6, "error", "must not both be 0"),
        ("vector_weight = 1.5", 6, "error", "vector_weight"),
        ("min_relevance = -0.1", 6, "error", "min_relevance"),
        ("dimensions = 8193", 6, "error", "dimensions"),
        ('search = "bm25"', 6, "error", "search"),
        ('embeder = "near"', 6, "error", 'Did you mean "embedder"?'),
        ('embedder = ""', 6, "error", "embedder"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 24 else "",
)
async def test_what_cannot_work_is_told_with_its_line(
    agents: Agents, put: Put, text: str, line: int, severity: str, words: str
) -> None:
    put("pinfold.toml", SHARED + EMBEDDERS)
    put("reviewer", f"{AGENT}[memory.vectors]\n{text}\n")
    await agents.load()
    (problem,) = agents.get("reviewer").problems
    assert (problem.line, problem.severity) == (line, severity)
    assert words in str(problem)
    assert "password" not in str(problem).replace("/etc/passwd", "")


async def test_an_embedder_that_is_a_connector_is_no_problem_and_none_is_the_usual(agents: Agents, put: Put) -> None:
    put("pinfold.toml", SHARED + EMBEDDERS)
    put("reviewer", f'{AGENT}[memory.vectors]\nembedder = "near"\n')
    put("plain", AGENT)
    await agents.load()
    assert agents.get("reviewer").problems == agents.get("plain").problems == ()
    plain = agents.get("plain").config
    assert plain is not None
    vectors = plain.memory.vectors
    assert (vectors.embedder, vectors.search, vectors.vector_weight, vectors.keyword_weight) == (
        "none",
        "hybrid",
        0.7,
        0.3,
    )
