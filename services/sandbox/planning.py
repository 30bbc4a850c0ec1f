"""From what an operator asks for to what an engine is told; everything that forbids a start is found here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from services.agents import Agent, Agents, Lifecycle, PrepareStep, RiskProfile, SandboxSettings
from services.errors import SessionRefused
from services.home import BlockingCalls, Home
from services.policy import WORKSPACE, Confinement, confinement
from services.sandbox.engines.engine import Engine, EngineStatus
from services.sandbox.model import SandboxSpec, Session, SessionState, StartRequest
from services.sandbox.prepare import held_back, shared_mount
from services.sandbox.roster import EngineRoster, Wanted, has_images
from services.sandbox.runners import Program, runner
from services.sandbox.session_files import SessionFiles
from services.sandbox.tools import INLET_PYTHON, Delivery, tools_dir

HERE = "local"
"""The only node so far: this machine."""

_PROMPT_LIMIT = 100_000
_ONESHOT_NET = 8 * 3600.0


class SecretValues(Mapping[str, str]):
    """Secrets on their way to an engine; never shows a value in its text."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"SecretValues({', '.join(self._values)})"


@dataclass(frozen=True)
class Plan:
    """A start that nothing forbids.

    Attributes:
        note: What the operator should know although it goes on; "" when nothing.
        sockets: Where the tool server listens.
    """

    request: StartRequest
    agent: Agent
    settings: SandboxSettings
    engine: Engine
    status: EngineStatus
    runner: str
    program: Program
    image: str
    lifecycle: Lifecycle
    confinement: Confinement
    unconfined: bool
    secrets: SecretValues
    note: str
    sockets: Path

    def delivery(self, files: SessionFiles) -> Delivery | None:
        """What a session with these files finds of its tools; None when it gets none."""
        if self.settings.tools == "none":
            return None
        return Delivery(self.settings.tools, files, self.sockets, self.status.confined)

    @property
    def prepare(self) -> tuple[PrepareStep, ...]:
        """The prepare steps in order."""
        return tuple(self.settings.prepare)

    def session(self, session: str, home_id: str, files: SessionFiles, now: int) -> Session:
        """Draft the record of a session with this id."""
        return Session(
            id=session,
            agent=self.agent.alias,
            runner=self.runner,
            engine=self.status.name,
            node=HERE,
            image=self.image,
            lifecycle=self.lifecycle,
            idle_timeout=idle_timeout(self.lifecycle, self.settings),
            confined=self.status.confined,
            workspace=self.confinement.workspace,
            state=SessionState.PREPARING,
            detail=self.note,
            sandbox="",
            spec=self._spec(session, home_id, files),
            prompt=self.request.prompt,
            created_at=now,
            started_at=None,
            ended_at=None,
            active_at=now,
            exit_code=None,
            out_of_memory=False,
            revision=0,
        )

    def _spec(self, session: str, home_id: str, files: SessionFiles) -> SandboxSpec:
        command, mounts, delivery = self.program.command, self.confinement.mounts, self.delivery(files)
        if delivery is not None:
            command = delivery.led_to(command, by_engine=has_images(self.status.name))
        if self.prepare:
            command = held_back(command, files, confined=self.status.confined)
        if delivery is not None:
            mounts = (*mounts, *delivery.mounts)
        elif self.prepare:
            mounts = (*mounts, shared_mount(files))
        own = {
            "PINFOLD_AGENT": self.agent.alias,
            "PINFOLD_SESSION": session,
            "PINFOLD_WORKSPACE": WORKSPACE if self.status.confined else self.confinement.workspace,
        }
        return SandboxSpec(
            session=session,
            home=home_id,
            agent=self.agent.alias,
            lifecycle=self.lifecycle,
            image=self.image,
            command=command,
            environment={
                **self.confinement.environment,
                **self.program.environment,
                **(delivery.environment if delivery else {}),
                **own,
            },
            secrets=tuple(self.secrets),
            workspace=self.confinement.workspace,
            mounts=mounts,
            masks=self.confinement.masks,
            limits=self.confinement.limits,
            network=self.confinement.network,
            allowed_domains=self.confinement.allowed_domains,
            tools=self.settings.tools,
            inlet=str(self.sockets) if self.settings.tools == "http" and has_images(self.status.name) else "",
            unconfined=self.unconfined,
            stop_timeout=self.settings.stop_timeout,
            output_limit=self.settings.output_limit,
        )


class Planner:
    """Decides whether and how a request can be met.

    Args:
        home: For the place of default workspaces.
        agents: The configurations.
        roster: The engines.
        calls: For looking at the disk.
        env: Where secrets and passed-through variables are read.
    """

    def __init__(
        self, home: Home, agents: Agents, roster: EngineRoster, calls: BlockingCalls, env: Mapping[str, str]
    ) -> None:
        self._home = home
        self._agents = agents
        self._roster = roster
        self._calls = calls
        self._env = env

    async def plan(self, request: StartRequest) -> Plan:
        """Look at everything a start depends on, change nothing but make a missing default workspace.

        Raises:
            AgentNotFound: No agent has this alias.
            SessionRefused: Something forbids the start; names all that is wrong with the mounts at once.
            EngineUnavailable: The engine asked for does not exist.
        """
        agent = self._agents.get(request.agent)
        settings, profile = _usable(agent)
        lifecycle = _lifecycle(request.lifecycle or settings.lifecycle)
        if request.node not in ("", HERE):
            raise SessionRefused(f"there is no node {request.node!r}", fix=f"The only node is {HERE}.")
        chosen = request.runner or settings.runner
        program = runner(chosen).program(request.command or tuple(settings.command), _checked_prompt(request.prompt))
        image = request.image or settings.image
        engine, status = await self._roster.choose(
            Wanted(request.engine or settings.engine, image, bool(program.command), profile.allow_unconfined)
        )
        if settings.prepare and not program.command:
            raise SessionRefused(
                f"{agent.alias} cannot be prepared",
                why="prepare steps need a command to hold back, and the image's own is not known",
                fix="Name the command in agent.toml.",
            )
        confined = await self._calls.run(self._confinement, agent, settings)
        _refuse(agent, confined, status)
        if settings.tools == "http" and not has_images(status.name):
            _check_loopback(agent, settings, status)
        for what, text in (("the image's name", image), *(("the command", word) for word in program.command)):
            _check_text(what, text)
        for mount in confined.mounts:
            _check_text(f"the path {mount.source!r}", mount.source)
        return Plan(
            request=request,
            agent=agent,
            settings=settings,
            engine=engine,
            status=status,
            runner=chosen,
            program=program,
            image=image if has_images(status.name) else "",
            lifecycle=lifecycle,
            confinement=confined,
            unconfined=profile.allow_unconfined,
            secrets=self._secrets(agent, settings, confined),
            note=_stale_note(agent),
            sockets=tools_dir(self._home),
        )

    def _confinement(self, agent: Agent, settings: SandboxSettings) -> Confinement:
        default = self._home.default_workspace(agent.alias)
        if agent.workspace == default:
            default.mkdir(exist_ok=True)
        siblings = {other.alias: other for other in self._agents.all() if other.alias != agent.alias}
        return confinement(agent, siblings, settings)

    def _secrets(self, agent: Agent, settings: SandboxSettings, confined: Confinement) -> SecretValues:
        missing = [name for name in settings.secrets if name not in self._env]
        if missing:
            raise SessionRefused(
                f"{agent.alias} needs the secret {', '.join(missing)}",
                why="no such variable is set in Pinfold's own environment",
                fix="Set it there and start Pinfold again.",
            )
        passed = [name for name in confined.passthrough if name in self._env]
        return SecretValues({name: self._env[name] for name in (*passed, *settings.secrets)})


def idle_timeout(lifecycle: Lifecycle, settings: SandboxSettings) -> float | None:
    """How long a sandbox of this lifecycle may be idle, in seconds; None is for ever.

    A oneshot has eight hours, as a net under what never ends by itself.
    """
    return _ONESHOT_NET if lifecycle == "oneshot" else settings.with_lifecycle(lifecycle).idle_timeout


def _usable(agent: Agent) -> tuple[SandboxSettings, RiskProfile]:
    if agent.obstacle is not None:
        raise SessionRefused(f"{agent.alias} cannot be started", why=str(agent.obstacle))
    if agent.settings is None or agent.profile is None:
        raise SessionRefused(f"{agent.alias} cannot be started", why="it has no settings or no risk profile in force")
    if not agent.enabled:
        raise SessionRefused(f"{agent.alias} is disabled", fix=f"`pinfold agents enable {agent.alias}` enables it.")
    return agent.settings, agent.profile


def _check_loopback(agent: Agent, settings: SandboxSettings, status: EngineStatus) -> None:
    """Refuse a port that would be the machine's own, or that no program would listen at."""
    why = ""
    if not status.confined or settings.network == "open":
        why = "its sandbox has no loopback device of its own here"
    elif not INLET_PYTHON.exists():
        why = f"{INLET_PYTHON} is missing, which would listen there"
    if why:
        fix = 'Use tools = "socket", or the docker engine.'
        raise SessionRefused(f"{agent.alias} cannot reach its tools over HTTP", why=why, fix=fix)


def _stale_note(agent: Agent) -> str:
    return "runs with the last good configuration; the file on disk has errors" if agent.stale else ""


def _lifecycle(text: str) -> Lifecycle:
    for known in get_args(Lifecycle):
        if text == known:
            return known  # type: ignore[no-any-return]
    raise SessionRefused(f"there is no lifecycle {text!r}", fix=f"Choose one of: {', '.join(get_args(Lifecycle))}.")


def _checked_prompt(prompt: str) -> str:
    _check_text("the prompt", prompt)
    if len(prompt.encode()) > _PROMPT_LIMIT:
        raise SessionRefused("the prompt is too long", why=f"it has more than {_PROMPT_LIMIT:,} bytes")
    return prompt


def _check_text(what: str, text: str) -> None:
    """Refuse what neither a process's environment nor the records can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SessionRefused(f"{what} cannot be handed over", why="it is not valid UTF-8") from error
    if "\0" in text:
        raise SessionRefused(f"{what} cannot be handed over", why="it holds a NUL character")


def _refuse(agent: Agent, confined: Confinement, status: EngineStatus) -> None:
    """Refuse what a sandbox cannot keep; without a sandbox only the workspace must be there."""
    refusals = [confined.workspace_problem] if confined.workspace_problem else []
    if status.confined:
        refusals += confined.refusals
        if confined.network == "allowlist" and not status.keeps_allowlist:
            refusals.append(f'the {status.name} engine cannot keep network = "allowlist"; the docker engine can')
    if refusals:
        raise SessionRefused(f"{agent.alias} cannot be started", why="; ".join(refusals))
