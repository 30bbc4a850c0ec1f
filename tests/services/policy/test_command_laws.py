"""Laws that hold for every shell line."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.policy.commands import AllowedCommand, CommandPolicy
from services.policy.commands.grammar import parse
from services.policy.decision import Verdict
from services.policy.paths import PathPolicy, PathRule

WORKSPACE = Path(tempfile.gettempdir()) / "pinfold-no-such-workspace"
PATHS = PathPolicy(
    WORKSPACE, Path("/home/operator"), (PathRule("workspace", str(WORKSPACE), readable=True, writable=True),)
)
PROGRAMS = ["ls", "cat", "git", "echo", "rm", "curl", "python3", "touch", "bash", "find", "id"]
ARGUMENTS = [
    "-la",
    "a.txt",
    "src/b",
    "/etc/passwd",
    "-c",
    "status",
    "commit",
    "x y",
    "-delete",
    "https://e.org/x",
    "a*",
]

programs = st.sampled_from(PROGRAMS)
words = st.lists(st.sampled_from(ARGUMENTS), max_size=3)
levels: st.SearchStrategy[Any] = st.sampled_from(["supervised", "full"])
lists = st.lists(st.sampled_from([*PROGRAMS, "*"]), max_size=5, unique=True)


@st.composite
def policies(draw: st.DrawFn) -> CommandPolicy:
    allowed = tuple(AllowedCommand(entry) for entry in draw(lists))
    return CommandPolicy(draw(levels), allowed, PATHS, True, draw(st.booleans()))


def quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w./:*-]+", word) else f"'{word}'"


def line_of(program: str, arguments: list[str]) -> str:
    return " ".join([program, *map(quoted, arguments)])


def escaped(word: str, position: int) -> str:
    at = position % len(word)
    return f"{word[:at]}\\{word[at:]}"


@given(policies(), programs, words, st.integers(0, 10))
def test_no_spelling_of_the_same_words_is_judged_more_mildly(
    policy: CommandPolicy, program: str, arguments: list[str], position: int
) -> None:
    plain = policy.decide(line_of(program, arguments)).verdict
    for spelled in (
        line_of(f'"{program}"', arguments),
        line_of(f"'{program}'", arguments),
        line_of(escaped(program, position), arguments),
        line_of(f'{program[:1]}""{program[1:]}', arguments),
        line_of(f"{program}  ", arguments),
        f"  {line_of(program, arguments)}  ",
        " ".join([program, *(f"'{word}'" for word in arguments)]),
        line_of(f"{program[:1]}\\\n{program[1:]}", arguments),
    ):
        assert policy.decide(spelled).verdict.strictness >= plain.strictness or "*" in spelled


WRAPPED = ["env {}", "time {}", "nohup {}", "nice {}", "timeout 5 {}", "command {}", "sudo {}", "env A=b {}", "exec {}"]


@given(policies(), programs, words, st.sampled_from(WRAPPED))
def test_a_wrapper_never_makes_a_command_milder(
    policy: CommandPolicy, program: str, arguments: list[str], wrapper: str
) -> None:
    line = line_of(program, arguments)
    assert policy.decide(wrapper.format(line)).verdict.strictness >= policy.decide(line).verdict.strictness


JOINED = [
    "{0}; {1}",
    "{0} && {1}",
    "{0} || {1}",
    "{0} | {1}",
    "{0}\n{1}",
    "({0}); {1}",
    "{{ {0}; }} && {1}",
    "! {0} && {1}",
]


@given(policies(), programs, words, programs, words, st.sampled_from(JOINED))
def test_a_line_is_as_strict_as_its_strictest_command(
    policy: CommandPolicy, first: str, some: list[str], second: str, others: list[str], joined: str
) -> None:
    lines = (line_of(first, some), line_of(second, others))
    together = policy.decide(joined.format(*lines)).verdict.strictness
    assert together >= max(policy.decide(line).verdict.strictness for line in lines)


@settings(max_examples=300)
@given(st.text(alphabet=st.sampled_from("ls rm;|&$(){}<>'\"\\`\n\t*?[]=#!~-/.a1"), max_size=40))
@example("ls;rm")
@example("ls #\nrm")
def test_a_program_outside_the_list_never_runs_whatever_the_line_looks_like(line: str) -> None:
    policy = CommandPolicy("full", (AllowedCommand("ls"),), PATHS)
    if policy.decide(line).verdict is Verdict.ALLOW:
        assert {command.words[0].text.lower() for command in parse(line).commands if command.words} <= {
            "ls", "/bin/ls", "/usr/bin/ls", "time", "env",
        }  # fmt: skip


@given(st.text(max_size=60))
def test_any_text_gets_an_answer(line: str) -> None:
    decision = CommandPolicy("supervised", (AllowedCommand("*"),), PATHS).decide(line)
    assert decision.reason
