"""What holds for an agent, and the box that answers while one types."""

from __future__ import annotations

from tests.tui.conftest import shown, until
from tests.tui.screens.agents.conftest import add_entry, agents, form_of, type_in, until_shown
from tui.widgets.try_box import TryBox

QUESTIONS = [
    ("read", "~/.ssh/id", "✗ worker may not read ~/.ssh/id", "pinfold.toml:6"),
    ("write", "out.md", "✓ worker may write out.md", "built in"),
    ("command", "make all", "⚑ worker must ask before it may run make all", "built in"),
    ("command", "curl x.org", "✗ worker may not run", "agent.toml:7"),
    ("domain", "example.org", "✗ worker may not reach", "built in"),
    ("tool", "browser", "✗ worker may not use the tool browser", "agent.toml:8"),
    ("variable", "EDITOR", "✗ worker may not take the variable EDITOR", "built in"),
]


async def test_the_box_answers_while_typing_with_the_rule_that_decides(editor) -> None:
    app, pilot, _, _ = editor
    await pilot.press("t")
    await until(lambda: agents(app)._detail.tab == "effective", pilot)
    box = agents(app).query_one(TryBox)
    for question, asked, verdict, origin in QUESTIONS:
        while box._choice.value != question:
            await pilot.press("down")
        await pilot.press("ctrl+u")
        await type_in(pilot, asked)
        await until_shown(app, pilot, verdict)
        (decided,) = [line for line in shown(app).splitlines() if "decided by" in line]
        assert origin in decided


async def test_the_newest_question_is_the_one_answered(editor) -> None:
    app, pilot, _, _ = editor
    await pilot.press("t")
    await until(lambda: agents(app)._detail.tab == "effective", pilot)
    box = agents(app).query_one(TryBox)
    while box._choice.value != "read":
        await pilot.press("up")
    for asked in ("~/.ssh/a", "~/.ssh/ab", "notes"):
        box._line.value = asked
    await until(lambda: "may read notes" in shown(app), pilot)
    box._line.value = ""
    await until(lambda: "may read notes" not in shown(app), pilot)


async def test_rules_and_the_sandbox_are_those_of_the_draft(editor) -> None:
    app, pilot, form, _ = editor
    await add_entry(app, pilot, form, "permissions.allowed_commands", "cargo")
    await pilot.press("right_square_bracket")
    await until(lambda: "/siblings/helper" in shown(app), pilot)
    assert "1 change not saved" in shown(app)
    (cargo,) = [line for line in shown(app).splitlines() if "cargo" in line]
    assert "may run" in cargo
    assert "agent.toml:7" in cargo
    for text in ("its workspace", "../helper", "Pinfold's own files", "/workspace"):
        assert text in shown(app)


async def test_an_agent_without_a_profile_has_no_policy_to_show(edited) -> None:
    edited.agent("worker", "true", profile="nowhere")
    async with form_of(edited) as (app, pilot, _):
        await until(lambda: "there is no risk profile" in shown(app), pilot)
        await pilot.press("right_square_bracket")
        await until(lambda: "No policy to show" in shown(app), pilot)


async def test_what_its_tools_reach_of_memory_is_listed(edited) -> None:
    edited.agent("worker", "true", sandbox='tools = "socket"', rest='[memory]\nscopes = { user = "anna" }')
    async with form_of(edited) as (app, pilot, _):
        await pilot.press("right_square_bracket")
        await until(lambda: "scope user:anna" in shown(app), pilot)
        (line,) = [line for line in shown(app).splitlines() if "scope user:anna" in line]
        assert "read and changed" in line
        assert "agent.toml:10" in line
