"""The operator's own keys: taken over when sound, told of when not, never dropped in silence."""

from __future__ import annotations

import pytest

from tui.actions import BY_ID
from tui.keymap import check_keymap


def test_sound_keys_are_taken_over_in_the_form_textual_wants() -> None:
    keymap = check_keymap({"session.stop": "X, ctrl+x", "app.help": "F1"})
    assert keymap.keys == {"session.stop": "X,ctrl+x", "app.help": "F1"}
    assert keymap.problems == ()


@pytest.mark.parametrize(
    ("written", "textual"),
    [
        ("=", "equals_sign"),
        ("ctrl+/", "ctrl+slash"),
        ("esc =", "escape,equals_sign"),
        ("%", "percent_sign"),
        (",", "comma"),
    ],
    ids=["sign", "sign-with-ctrl", "two", "percent", "comma"],
)
def test_keys_may_be_written_as_signs(written, textual) -> None:
    assert check_keymap({"app.back": written}).keys == {"app.back": textual}


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"session.stpo": "x"}, "session.stpo; did you mean session.stop?"),
        ({"zzz": "x"}, "names no action of Pinfold: zzz"),
        ({"session.stop": "ctrl+c"}, "session.stop cannot use ^c: that key is reserved"),
        ({"session.stop": "enter"}, "session.stop cannot use"),
        ({"session.stop": " "}, "session.stop has no key"),
        ({"session.stop": "s"}, "session.stop cannot use s: session.start has it already"),
        ({"session.stop": "q"}, "session.stop cannot use q: app.quit has it already"),
        ({"log.wrap": "x"}, "log.wrap cannot use x: session.stop has it already"),
        ({"session.stop": "z", "session.kill": "z"}, "session.kill cannot use z: session.stop has it already"),
    ],
    ids=["near", "unknown", "ctrl+c", "enter", "none", "same-screen", "everywhere", "inside", "both-chosen"],
)
def test_what_cannot_be_used_is_named_and_left_out(keys, problem) -> None:
    keymap = check_keymap(keys)
    assert len(keymap.problems) == 1
    assert problem in keymap.problems[0]
    assert len(keymap.keys) == len(keys) - 1


def test_a_key_is_free_again_when_its_action_takes_another() -> None:
    keymap = check_keymap({"session.stop": "s", "session.start": "z"})
    assert keymap.problems == ()


def test_the_same_key_may_do_different_things_on_different_screens() -> None:
    assert check_keymap({"agent.create": "x"}).problems == ()


def test_the_keys_of_an_action_are_the_chosen_ones_else_the_usual() -> None:
    keymap = check_keymap({"session.stop": "X"})
    assert keymap.of(BY_ID["session.stop"]) == ("X",)
    assert keymap.of(BY_ID["session.kill"]) == ("K",)
