"""Files in a workspace that a runner takes as its own rules: the agent may read and never write them."""

from __future__ import annotations

RUNNER_RULES: dict[str, tuple[str, ...]] = {
    "claude": (".claude/settings.json", ".claude/settings.local.json", ".mcp.json"),
    "codex": (".codex/config.toml", ".codex/rules"),
    "opencode": ("opencode.json", "opencode.jsonc", ".opencode/opencode.json"),
}
"""By runner, relative to the workspace."""
