"""One agent as it stands: what its file says, what is wrong with it, and what follows from it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from services.agents.model import AgentConfig, RiskProfile
from services.agents.problems import Problem
from services.agents.settings import SandboxSettings


class Agent(msgspec.Struct, frozen=True):
    """A configured worker.

    Attributes:
        alias: The name of its directory.
        file: Its `agent.toml`.
        config: The last good one; None when there was none since Pinfold started.
        problems: By line; of the file as it is now and, where that is usable, of what it refers to.
        stale: The file on disk is not usable and `config` is what it said before.
        profile: The risk profile in force; None when it names none, or one that is not there.
        settings: The sandbox settings in force; None without `config`.
        workspace: Absolute; need not exist yet.
        obstacle: Why no session may be started, leaving aside `enabled`; None when one may.
    """

    alias: str
    file: Path
    config: AgentConfig | None
    problems: tuple[Problem, ...]
    stale: bool
    profile: RiskProfile | None
    settings: SandboxSettings | None
    workspace: Path
    obstacle: Problem | None

    @property
    def enabled(self) -> bool:
        """Whether the operator lets sessions be started; false while nothing is known of it."""
        return self.config is not None and self.config.agent.enabled

    @property
    def description(self) -> str:
        """What it is for; "" when nothing is said."""
        return self.config.agent.description if self.config else ""
