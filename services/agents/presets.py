"""Whole risk profiles to start from; a profile names one and overrides what it wants otherwise.

| preset | commands | asked about | sandbox |
| --- | --- | --- | --- |
| `locked_down` | a short list of everyday ones | all of medium risk; every tool | always |
| `balanced` | any, but none of high risk | tools that change something | always |
| `yolo` | any | nothing | not needed |
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_EVERYDAY = (
    *("cargo", "cat", "date", "df", "du", "echo", "find", "free", "git", "grep", "head", "hostname", "ls", "node"),
    *("npm", "pip", "pwd", "python", "python3", "tail", "uname", "uptime", "wc"),
)
_SYSTEM = (
    *("/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/opt", "/proc", "/root", "/sbin", "/sys", "/tmp", "/usr"),
    *("/var", "~/.aws", "~/.config", "~/.gnupg", "~/.ssh"),
)
_HARMLESS_TOOLS = (
    *("browser", "browser_open", "calculator", "content_search", "file_read", "glob_search", "image_info"),
    *("memory_recall", "tool_search", "weather", "web_fetch", "web_search_tool"),
)

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "locked_down": {
            "level": "supervised",
            "workspace_only": True,
            "allowed_commands": _EVERYDAY,
            "forbidden_paths": _SYSTEM,
            "auto_approve": (),
            "require_approval_for_medium_risk": True,
            "block_high_risk_commands": True,
            "delegation": "forbidden",
            "allow_unconfined": False,
        },
        "balanced": {
            "level": "supervised",
            "workspace_only": True,
            "allowed_commands": ("*",),
            "forbidden_paths": _SYSTEM,
            "auto_approve": _HARMLESS_TOOLS,
            "require_approval_for_medium_risk": False,
            "block_high_risk_commands": True,
            "delegation": "allow",
            "allow_unconfined": False,
        },
        "yolo": {
            "level": "full",
            "workspace_only": False,
            "allowed_commands": ("*",),
            "forbidden_paths": (),
            "auto_approve": ("*",),
            "require_approval_for_medium_risk": False,
            "block_high_risk_commands": False,
            "delegation": "allow",
            "allow_unconfined": True,
        },
    }
)
"""What each preset says, by the keys of a risk profile."""


def with_presets(table: dict[str, Any]) -> dict[str, Any]:
    """Fill in what the profiles of a parsed `pinfold.toml` leave to their presets.

    Args:
        table: As parsed; what is wrong in it is left for the check that follows.
    """
    profiles = table.get("risk_profiles")
    if not isinstance(profiles, dict):
        return table
    filled = {name: _filled(profile) for name, profile in profiles.items()}
    return {**table, "risk_profiles": filled}


def _filled(profile: object) -> object:
    if not isinstance(profile, dict):
        return profile
    preset = profile.get("preset")
    known = PRESETS.get(preset, {}) if isinstance(preset, str) else {}
    return {**known, **profile}
