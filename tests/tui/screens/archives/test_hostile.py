"""Archives that somebody put there: whatever they say acts on no terminal, and none of it is hidden."""

from __future__ import annotations

import pytest

from tests.tui.conftest import screens, shown
from tests.tui.screens.archives.conftest import EVIL, archives, until_shown

MANIFEST = """\
schema = 1
checksums = ""
warnings = ["[/x] {evil}"]
left_out = [{{ name = "{evil}", reason = "{evil}" }}]
references = [{{ file = "{evil}", key = "{evil}", value = "[red]" }}]
counts = [{{ what = "{evil}", before = -1, exported = 5, purged = 0 }}]

[archive]
id = "{evil}"
kind = "delete"
actor = "{evil}"
started_at = 2026-11-30T00:00:00Z
sealed_at = 2026-11-30T00:00:00Z
tools = {{ "{evil}" = "1" }}

[agent]
alias = "{evil}"
"""


@pytest.fixture
def planted(world):
    """A world with an archive of a foreign manifest, a name that is none, and one that is no archive."""
    world.agent("worker", "true")
    folder = world.home.archives_dir
    for name in ("foreign-20261130000000", f"odd{EVIL}".replace("/", ""), "broken-20261130000001"):
        (folder / name).mkdir(parents=True)
    written = "".join(f"\\u{ord(character):04x}" for character in EVIL)
    (folder / "foreign-20261130000000" / "manifest.toml").write_text(MANIFEST.format(evil=written))
    (folder / "foreign-20261130000000" / f"sub{EVIL}").write_text("x")
    (folder / "broken-20261130000001" / "manifest.toml").write_text(f"nothing{EVIL}")
    return world


async def test_foreign_archives_are_listed_opened_and_verified_as_mere_text(planted) -> None:
    async with screens(planted) as (app, pilot):
        await pilot.press("4")
        await until_shown(app, pilot, "? unindexed", "✗ damaged", "<202E>")
        screen = archives(app)
        foreign = next(entry.key for entry in screen._entries if entry.key.startswith("foreign"))
        screen.show_archive(foreign)
        await until_shown(app, pilot, "[/x]", "nothing vouches for it")
        assert "\x1b" not in shown(app)
        screen._detail.turn_to("contents")
        await until_shown(app, pilot, "sub<202E>")
        screen.action_verify()
        await until_shown(app, pilot, "not intact", "unproven")
        assert all("\x1b" not in f"{name}{text}" for name, text, _ in screen.commands())
        for key in [entry.key for entry in screen._entries]:
            screen.show_archive(key)
            await pilot.pause(0.1)
            assert not {"\x1b", "\u202e"} & set(shown(app))
