"""`pinfold doctor`: whether engines, home, versions and terminal are as Pinfold needs them."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import click
import msgspec

from services.home import BlockingCalls, examine
from tui.figures import size
from tui.glyphs import glyphs
from tui.verbs.call import Call, verb
from tui.verbs.documents import EngineDocument

if TYPE_CHECKING:
    from services.sandbox import EngineStatus
    from tui.looks import Tone

FAILED = 1
_PACKAGES = ("pinfold", "textual", "docker", "msgspec")
_TMUX_SECONDS = 2.0


class HomeDocument(msgspec.Struct, frozen=True):
    """The home; `free` is in bytes."""

    path: str
    exists: bool
    database_version: int | None
    free: int
    problems: tuple[str, ...]
    notes: tuple[str, ...]


class TerminalDocument(msgspec.Struct, frozen=True):
    """The terminal `doctor` was called in; `colours` is none, 16, 256 or true."""

    present: bool
    type: str
    colours: str
    unicode: bool
    notes: tuple[str, ...]


class BackendDocument(msgspec.Struct, frozen=True):
    """A back-end that agents keep their memory in."""

    name: str
    usable: bool
    detail: str
    problem: str
    fix: str


class DoctorDocument(msgspec.Struct, frozen=True):
    """All that was looked at; `ok` is whether a session could be started."""

    ok: bool
    engines: tuple[EngineDocument, ...]
    memory: tuple[BackendDocument, ...]
    home: HomeDocument
    terminal: TerminalDocument
    versions: dict[str, str]
    platform: str


@click.command("doctor")
@verb
async def command(call: Call) -> int:
    """Say whether engines and memory back-ends can be used and why not, and look at home, versions and terminal.

    Exits 1 when no engine can be used, or the home cannot.
    """
    calls = BlockingCalls()
    try:
        condition, engines, backends, notes = await asyncio.gather(
            calls.run(examine, call.home), _engines(call, calls), _backends(call, calls), _terminal_notes(os.environ)
        )
    finally:
        calls.close()
    report = DoctorDocument(
        ok=any(engine.usable for engine in engines) and not condition.problems,
        engines=tuple(EngineDocument.of(engine) for engine in engines),
        memory=backends,
        home=HomeDocument(
            str(call.home.root),
            condition.exists,
            condition.database_version,
            condition.free,
            condition.problems,
            condition.notes,
        ),
        terminal=TerminalDocument(
            sys.stdout.isatty(),
            os.environ.get("TERM", ""),
            colour_depth(os.environ),
            not glyphs().ascii,
            notes,
        ),
        versions=_versions(),
        platform=platform.platform(),
    )
    if call.json:
        call.printer.document(report)
    else:
        _print(call, report)
    return 0 if report.ok else FAILED


async def _engines(call: Call, calls: BlockingCalls) -> tuple[EngineStatus, ...]:
    from services.pinfold import make_engines

    identity = call.home.identity() if call.home.exists else "0" * 16
    engines = make_engines(call.home, identity, calls, os.environ)
    try:
        return tuple(await asyncio.gather(*(engine.status() for engine in engines.values())))
    finally:
        await asyncio.gather(*(engine.close() for engine in engines.values()))


async def _backends(call: Call, calls: BlockingCalls) -> tuple[BackendDocument, ...]:
    """Ask the back-ends that agents' files name; the home's own database need not be usable for that."""
    if not call.home.exists:
        return ()
    from services.activity import Events
    from services.agents import Agents
    from services.home import Database
    from services.memory import AgentMemories

    agents = Agents(call.home, Events(), calls)
    await agents.load()
    memories = AgentMemories(call.home, agents, Database(call.home.database_file), calls, time.time_ns)
    try:
        found = await memories.statuses()
    finally:
        await memories.close()
    return tuple(BackendDocument(one.name, one.usable, one.detail, one.problem, one.fix) for one in found)


def colour_depth(env: Mapping[str, str]) -> str:
    """How many colours a terminal says it has: none, 16, 256 or true."""
    kind = env.get("TERM", "")
    if env.get("NO_COLOR") or kind in ("", "dumb"):
        return "none"
    if env.get("COLORTERM") in ("truecolor", "24bit"):
        return "true"
    return "256" if "256color" in kind else "16"


async def _terminal_notes(env: Mapping[str, str]) -> tuple[str, ...]:
    if not env.get("TMUX"):
        return ()
    clipboard = await _tmux_option("set-clipboard")
    if clipboard == "on":
        return ()
    return (
        f"tmux has set-clipboard {clipboard or 'unknown'}, so what is copied may stop there; "
        "`tmux set -g set-clipboard on` lets it through",
    )


async def _tmux_option(name: str) -> str:
    try:
        tmux = await asyncio.create_subprocess_exec(
            "tmux", "show-options", "-gqv", name, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
    except OSError:
        return ""
    try:
        async with asyncio.timeout(_TMUX_SECONDS):
            output, _ = await tmux.communicate()
    except TimeoutError:
        tmux.kill()
        await tmux.wait()
        return ""
    return output.decode(errors="replace").strip()


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _print(call: Call, report: DoctorDocument) -> None:
    for engine in report.engines:
        _print_engine(call, engine)
    for backend in report.memory:
        _print_fact(call, "memory", backend.name, good=backend.usable)
        _print_detail(call, backend.problem, "bad")
        _print_detail(call, backend.fix)
        _print_detail(call, backend.detail)
    _print_home(call, report.home)
    terminal = report.terminal
    kind = f"{terminal.type or 'unknown'}, colours: {terminal.colours}, unicode: {'yes' if terminal.unicode else 'no'}"
    _print_fact(call, "terminal", kind if terminal.present else "none")
    for note in terminal.notes:
        _print_detail(call, note, "warn")
    _print_fact(call, "versions", ", ".join(f"{name} {found}" for name, found in report.versions.items()))
    _print_detail(call, report.platform)


def _print_engine(call: Call, engine: EngineDocument) -> None:
    _print_fact(call, "engine", f"{engine.name} {engine.version}".strip(), good=engine.usable)
    _print_detail(call, engine.problem, "bad")
    _print_detail(call, engine.fix)
    _print_detail(call, engine.address)
    if not engine.confined:
        unconfined = "unconfined: nothing keeps what it runs from the rest of this machine"
        _print_detail(call, f"{glyphs().warning} {unconfined}", "warn")
    for note in engine.notes:
        _print_detail(call, note, "warn")


def _print_home(call: Call, home: HomeDocument) -> None:
    _print_fact(call, "home", home.path, good=not home.problems)
    if not home.exists:
        _print_detail(call, "not there yet; `pinfold init --demo` makes one with examples")
    if home.database_version is not None:
        _print_detail(call, f"database version {home.database_version}")
    _print_detail(call, f"{size(home.free)} free")
    for problem in home.problems:
        _print_detail(call, problem, "bad")
    for note in home.notes:
        _print_detail(call, note, "warn")


def _print_fact(call: Call, name: str, value: str, *, good: bool = True) -> None:
    sign = glyphs().done if good else glyphs().failed
    call.printer.line(f"{sign} {name:<8} {value}", "" if good else "bad")


def _print_detail(call: Call, text: str, tone: Tone = "") -> None:
    if text:
        call.printer.line(f"  {'':<8} {text}", tone)
