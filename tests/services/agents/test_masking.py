"""A file is shown, and compared, without the values of environment variables."""

from __future__ import annotations

import pytest

from services.agents.masking import masked_diff

SECRETS = ("hunter2", "hunter3")


def diff(before: str, after: str) -> list[str]:
    return list(masked_diff(before.encode(), after.encode(), "agent.toml"))


@pytest.mark.parametrize(
    "text",
    [
        '[sandbox.environment]\nTOKEN = "{}"\nLANG = "C"\n',
        'sandbox.environment.TOKEN = "{}"\n',
        "[sandbox]\nenvironment = {{ A = 'b', TOKEN = '{}' }} # c\n",
        'sandbox = {{ environment = {{ TOKEN = "{}" }} }}\n',
        '[sandbox.environment]\nTOKEN = """\n{}\n# x"""\n',
        '[sandbox]\nenvironment = "{}"\n',
        '[sandbox.environment]\nTOKEN = ["{}"]\n',
        '[sandbox.environment.TOKEN]\nx = "{}"\n',
    ],
    ids=["table", "dotted", "braces", "braces in braces", "lines", "no table", "list", "table inside"],
)
def test_a_value_that_changes_is_seen_to_change_and_not_seen(text: str) -> None:
    lines = diff(text.format(SECRETS[0]), text.format(SECRETS[1]))
    assert not any(secret in line for secret in SECRETS for line in lines)
    assert [line[0] for line in lines if line[:1] in "+-" and line[1:2] not in "+-"] == ["-", "+"]


def test_a_value_that_stays_is_hidden_beside_one_that_changes() -> None:
    lines = diff('[sandbox]\npids = 1\nenvironment.T = "hunter2"\n', '[sandbox]\npids = 2\nenvironment.T = "hunter2"\n')
    assert lines == [
        "--- agent.toml (now)",
        "+++ agent.toml (then)",
        "@@ -1,3 +1,3 @@",
        " [sandbox]",
        "-pids = 1",
        "+pids = 2",
        ' environment.T = "… hidden"',
    ]


def test_everything_else_is_shown_as_it_is() -> None:
    assert diff("[agent]\r\nx = 1\r\n", "[agent]\r\nx = 2\r\n")[-2:] == ["-x = 1", "+x = 2"]
    assert diff("", "[agent]\n")[-1] == "+[agent]"
    assert diff("[agent]\n", "[agent]\n") == []
