"""The fields of an agent's permissions: where each lies in agent.toml, what it is for, and what may be chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.widgets.form import Kind

if TYPE_CHECKING:
    from services.agents import Value

Path = tuple[str, ...]


@dataclass(frozen=True)
class Option:
    """One of a few values.

    Attributes:
        word: The value as it is shown.
        value: The value as it is written.
        meaning: What choosing it means.
    """

    word: str
    value: str | bool
    meaning: str


@dataclass(frozen=True)
class Field:
    """One key an operator decides about.

    Attributes:
        path: The way to it in agent.toml.
        empty: What no value means.
        options: All values there are, for a choice.
        read: Makes a value of a text typed; raises ValueError with what is wanted instead.
        example: What could be typed.
    """

    path: Path
    label: str
    kind: Kind
    help: str
    empty: str = "none"
    options: tuple[Option, ...] = ()
    read: Callable[[str], Value] = str
    example: str = ""


def _cores(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("must be a number of cores, such as 2 or 0.5") from None


def _count(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("must be a whole number, such as 256") from None


def _permission(name: str, label: str, help: str, example: str, empty: str = "none") -> Field:
    return Field(("permissions", name), label, "list", help, empty, example=example)


PROFILE = ("agent", "risk_profile")
ACCESS = ("workspace", "access")

LEVELS = (
    Option("readonly", "readonly", "reads what is granted, writes and runs nothing"),
    Option("supervised", "supervised", "asks before what nothing approves"),
    Option("full", "full", "asks nothing, and reaches everything not forbidden"),
)
NETWORKS = (
    Option("none", "none", "reaches nothing"),
    Option("allowlist", "allowlist", "reaches the domains listed, and nothing else"),
    Option("open", "open", "reaches every host"),
)
REACHES = (
    Option("none", "none", "has no tools of Pinfold"),
    Option("socket", "socket", "reaches them over a unix socket, with a program that speaks MCP over stdio"),
    Option("http", "http", "reaches them at a port of its own loopback device as well"),
)
EVERYWHERE = (
    Option("no", False, "only the workspace and what is granted"),
    Option("yes", True, "everything that nothing forbids"),
)

SECTIONS: tuple[tuple[str, tuple[Field, ...]], ...] = (
    (
        "",
        (
            Field(
                PROFILE, "Profile", "choice", "The risk profile everything not said here is taken from", "none named"
            ),
            Field(("permissions", "level"), "Level", "choice", "How far it goes without asking", options=LEVELS),
            _permission("allowed_commands", "Commands", 'Programs it may run; "*" is any', "git"),
            _permission(
                "allowed_tools", "Tools", "Tools it may use; an empty list is any", "file_read", "unrestricted"
            ),
            _permission("excluded_tools", "Never tools", "Tools it may never use", "browser"),
            _permission("auto_approve", "Not asked", "Tools used without asking", "file_read"),
            _permission("always_ask", "Always asked", "Tools asked about every time", "shell"),
        ),
    ),
    (
        "Files",
        (
            _permission("allowed_roots", "Roots", "Folders outside the workspace it reads and writes", "~/projects"),
            _permission("forbidden_paths", "Forbidden", "Paths it never touches", "~/.ssh"),
            Field(
                ("workspace", "unrestricted_filesystem"),
                "Everything else",
                "choice",
                "Whether it reaches what no rule speaks of",
                options=EVERYWHERE,
            ),
            Field(("workspace", "path"), "Workspace", "text", "Where its own files lie", example="/srv/reviewer"),
        ),
    ),
    (
        "Network and environment",
        (
            Field(("sandbox", "network"), "Network", "choice", "What its sandbox reaches", options=NETWORKS),
            _permission(
                "allowed_domains",
                "Domains",
                "Hosts it may reach, on ports 80 and 443; host:8443 opens that port alone, host:* every one",
                "pypi.org",
            ),
            _permission("env_passthrough", "Variables", "Variables of Pinfold's own it may see", "LANG"),
            Field(
                ("sandbox", "secrets"),
                "Secrets",
                "list",
                "Variables handed over at start; only their names are written",
                example="API_KEY",
            ),
            Field(
                ("sandbox", "tools"), "Tool server", "choice", "How it reaches the tools of its memory", options=REACHES
            ),
        ),
    ),
    (
        "Limits",
        (
            Field(("sandbox", "memory"), "Memory", "text", "The most memory it may use", "unlimited", example="512m"),
            Field(
                ("sandbox", "cpus"), "Cores", "text", "The most cores it may use", "unlimited", read=_cores, example="2"
            ),
            Field(
                ("sandbox", "pids"),
                "Processes",
                "text",
                "The most processes and threads it may have",
                "unlimited",
                read=_count,
                example="256",
            ),
        ),
    ),
)

FIELDS: dict[Path, Field] = {field.path: field for _, fields in SECTIONS for field in fields}

FIXED: tuple[tuple[str, str, str], ...] = (
    ("workspace_only", "Closed outside", "Whether everything outside the workspace and the roots is out of reach"),
    ("require_approval_for_medium_risk", "Asks at medium", "Whether commands of medium risk are asked about"),
    ("block_high_risk_commands", "Blocks at high", "Whether commands of high risk are refused"),
    ("delegation", "Delegation", "Whether it may hand work to others"),
    ("allow_unconfined", "Unconfined", "Whether it may run on an engine that keeps it from nothing"),
    ("max_actions_per_hour", "Actions an hour", "How many actions it may take within any hour"),
    ("max_cost_per_day_cents", "Cents a day", "What its models may cost a day, in US cents"),
    ("shell_timeout", "Shell time", "How long one command may take"),
    ("approval_timeout", "Approval time", "How long an approval is waited for"),
    ("max_memory", "Most memory", "The most memory its sandbox may be given"),
    ("max_cpus", "Most cores", "The most cores its sandbox may be given"),
    ("max_pids", "Most processes", "The most processes its sandbox may be given"),
)
"""Of a risk profile what no agent overrides: key, label and help."""

ACCESSES = ("read", "write", "read_write", "write_only")
"""The kinds of access to a sibling's workspace; none is no key."""

ACCESS_LABELS = ("read", "write", "read+write", "write only", "none")
