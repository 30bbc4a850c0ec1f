"""The policies of all agents of a home, computed from the files as they are now."""

from __future__ import annotations

import time
from pathlib import Path

from services.agents import Agent, Agents, line_finder
from services.errors import ConfigError, PinfoldError
from services.home import Home
from services.policy.building import Memo, Sources, build_policy
from services.policy.changes import Change, changes
from services.policy.decision import Lines
from services.policy.findings import Finding, findings
from services.policy.policy import Policy
from services.policy.spawn import Violation, violations


class Policies:
    """Answers what agents may do, and what a change would mean.

    Args:
        home: Where Pinfold's own files lie, which no agent touches.
        agents: The agents as configured.
    """

    def __init__(self, home: Home, agents: Agents) -> None:
        self.home = home
        self.agents = agents
        self._operator = Path.home()
        self._memo = Memo()
        self._memo_of = agents.shared
        self._memo_at = 0

    def of(self, alias: str) -> Policy:
        """Compute the policy of an agent; of a broken file, the last good one.

        Raises:
            AgentNotFound: No agent has this alias.
            PinfoldError: Its configuration was never usable, or its profile does not exist.
        """
        return self._build(self.agents.get(alias), self.agents.lines(alias))

    def as_if(self, alias: str, data: bytes, file: Path | None = None) -> Policy:
        """Compute the policy an agent would have if its file held `data`.

        Args:
            alias: The agent.
            data: The bytes of an `agent.toml`.
            file: Named in errors and origins; None is the agent's own.

        Raises:
            ConfigError: The text is not usable; names its first problem.
        """
        agent = self.agents.as_if(alias, data)
        problem = next((problem for problem in agent.problems if problem.severity == "error"), None)
        if problem is not None:
            raise ConfigError(
                problem.message, file=file or problem.file, line=problem.line, key=problem.key, fix=problem.fix
            )
        return self._build(agent, line_finder(data))

    def changes(self, alias: str, data: bytes, file: Path | None = None) -> tuple[Change, ...]:
        """Say in words what would change for an agent if its file held `data`.

        Raises:
            ConfigError: The text is not usable.
            PinfoldError: The agent has no usable configuration to compare with.
        """
        return changes(self.of(alias), self.as_if(alias, data, file))

    def findings(self, alias: str) -> tuple[Finding, ...]:
        """List rules of an agent that cannot do what they seem to say; none when it has no policy."""
        try:
            return findings(self.of(alias))
        except PinfoldError:
            return ()

    def spawn(self, parent: str, child: str) -> tuple[Violation, ...]:
        """All ways in which `child` would get more than `parent`; empty: it may be spawned.

        Raises:
            AgentNotFound: One of them does not exist.
            PinfoldError: One of them has no usable configuration.
        """
        return violations(self.of(parent), self.of(child))

    def _build(self, agent: Agent, agent_line: Lines) -> Policy:
        sources = Sources(
            home=self.home.root,
            shared_file=self.home.config_file,
            operator=self._operator,
            agent_lines=agent_line,
            shared_lines=self.agents.shared_lines(),
            shared_keys=self.agents.shared_keys(),
            memo=self._memo_of_the_moment(),
        )
        return build_policy(agent, self.agents.by_alias, sources)

    def _memo_of_the_moment(self) -> Memo:
        """The memo of policies built within the last second from the same `pinfold.toml`."""
        moment = int(time.monotonic())
        if self._memo_of is not self.agents.shared or self._memo_at != moment:
            self._memo_of, self._memo_at, self._memo = self.agents.shared, moment, Memo()
        return self._memo
