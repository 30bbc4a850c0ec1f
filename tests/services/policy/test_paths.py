"""Which rule decides a path, on a real file system."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.policy.decision import Verdict
from services.policy.paths import PathPolicy, PathRule
from services.policy.places import covers
from services.policy.resolving import MAX_HOPS, resolve


def grant(kind: str, place: object, access: str) -> PathRule:
    return PathRule(kind, str(place), readable="r" in access, writable="w" in access)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A machine: a workspace, two siblings, a shared root, a place outside."""
    for folder in ("ws/src", "ws/secret/open", "reader/inner", "box", "shared/deep", "outside", "home/.ssh"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("ws/a.txt", "outside/key", "home/.ssh/id_rsa", "shared/s.txt", "ws/my..file.txt"):
        (tmp_path / file).write_text("x")
    return tmp_path


def policy(root: Path, *rules: PathRule, workspace_only: bool = True) -> PathPolicy:
    base = (
        grant("workspace", root / "ws", "rw"),
        grant("sibling", root / "reader", "r"),
        grant("sibling", root / "box", "w"),
        grant("allowed root", root / "shared", "rw"),
        grant("forbidden path", "~/.ssh", ""),
        grant("forbidden path", root / "ws/secret", ""),
    )
    return PathPolicy(root / "ws", root / "home", (*base, *rules), workspace_only=workspace_only)


def allows(policy: PathPolicy, path: object) -> str:
    """The accesses a policy allows, such as "r-"."""
    answers = {access: policy.decide(access, str(path)).verdict is Verdict.ALLOW for access in ("read", "write")}
    return ("r" if answers["read"] else "-") + ("w" if answers["write"] else "-")


PLACES = [
    ("a relative name", "a.txt", "rw"), ("one that does not exist", "src/new.rs", "rw"), ("a dot file", ".env", "rw"),
    ("the workspace itself", "", "rw"), ("dots inside a name", "my..file.txt", "rw"),
    ("a trailing slash", "src/", "rw"),
    ("doubled slashes", "src//x", "rw"), ("single dots", "./src/./x", "rw"),
    ("an encoded dot is a name", "%2e%2e/x", "rw"),
    ("forbidden inside the workspace", "secret/x", "--"), ("a read-only sibling", "{root}/reader/inner/x", "r-"),
    ("a drop box", "{root}/box/x", "-w"), ("an allowed root", "{root}/shared/deep/x", "rw"),
    ("a name that starts like a root", "{root}/shared2/x", "--"), ("outside", "{root}/outside/key", "--"),
    ("the root", "/", "--"), ("etc", "/etc/passwd", "--"), ("proc", "/proc/self/root/etc/passwd", "--"),
    ("home", "~/.ssh/id_rsa", "--"), ("home with a slash", "~/.ssh/", "--"),
    ("climbing", "../outside/key", "--"), ("climbing back", "src/../a.txt", "--"), ("climbing only", "..", "--"),
    ("encoded climbing", "src/..%2f..%2fetc/passwd", "--"), ("encoded climbing in capitals", "..%2Fetc", "--"),
    ("encoded climbing before", "a%2f..%2fetc", "--"), ("another user's home", "~root/.ssh/id_rsa", "--"),
    ("nobody's home", "~nobody", "--"), ("NUL", "a\0.txt", "--"), ("only NUL", "\0", "--"),
    ("null device", "/dev/null", "rw"), ("zero device", "/dev/zero", "r-"), ("random device", "/dev/urandom", "r-"),
    ("no device", "/dev/nullx", "--"), ("below a device", "/dev/null/x", "--"), ("memory device", "/dev/mem", "--"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "allowed"), [row[1:] for row in PLACES], ids=[row[0] for row in PLACES])
def test_places(root: Path, path: str, allowed: str) -> None:
    assert allows(policy(root), path.replace("{root}", str(root))) == allowed


OPEN = [
    ("anything else is allowed", "{root}/outside/key", "rw"), ("forbidden stays", "~/.ssh/id_rsa", "--"),
    ("a read-only sibling stays", "{root}/reader/x", "r-"), ("a drop box stays", "{root}/box/x", "-w"),
    ("forbidden in the workspace stays", "secret", "--"), ("another user's home", "~root/.ssh", "--"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "allowed"), [row[1:] for row in OPEN], ids=[row[0] for row in OPEN])
def test_places_without_workspace_only(root: Path, path: str, allowed: str) -> None:
    assert allows(policy(root, workspace_only=False), path.replace("{root}", str(root))) == allowed


def test_the_most_specific_rule_decides_and_the_losers_are_named(root: Path) -> None:
    decision = policy(root, grant("allowed root", root / "ws/secret/open", "rw")).decide("write", "secret/open/x")
    assert decision.verdict is Verdict.ALLOW
    assert decision.rule.subject == str(root / "ws/secret/open")
    assert [rule.subject for rule in decision.considered] == [str(root / "ws/secret"), str(root / "ws")]


def test_of_two_rules_for_one_place_the_stricter_decides(root: Path) -> None:
    assert allows(policy(root, grant("allowed root", root / "reader", "rw")), root / "reader/x") == "r-"
    assert allows(policy(root, grant("forbidden path", root / "shared", "")), root / "shared/x") == "--"


def test_a_forbidden_folder_above_the_workspace_does_not_block_it(root: Path) -> None:
    assert allows(policy(root, grant("forbidden path", root, "")), "a.txt") == "rw"


def test_a_link_is_judged_where_it_leads(root: Path) -> None:
    (root / "ws/out").symlink_to(root / "outside")
    (root / "ws/in").symlink_to(root / "ws/src")
    (root / "ws/dangling").symlink_to(root / "outside/none")
    (root / "ws/relative").symlink_to("../shared")
    assert allows(policy(root), "out/key") == "--"
    assert allows(policy(root), "in/new") == "rw"
    assert allows(policy(root), "dangling") == "--"
    assert allows(policy(root), "relative/s.txt") == "rw"
    assert allows(policy(root, grant("allowed root", root / "outside", "rw")), "out/key") == "rw"
    assert "leads to" in policy(root).decide("read", "relative/s.txt").reason


def test_a_rule_holds_for_where_its_own_links_lead(root: Path) -> None:
    (root / "alias").symlink_to(root / "shared/deep")
    assert allows(policy(root, grant("forbidden path", root / "alias", "")), root / "shared/deep/x") == "--"


def test_what_cannot_be_followed_is_denied(root: Path) -> None:
    (root / "ws/a").symlink_to("b")
    (root / "ws/b").symlink_to("a")
    for number in range(MAX_HOPS + 1):
        (root / f"ws/hop{number}").symlink_to(f"hop{number + 1}")
    (root / f"ws/hop{MAX_HOPS + 1}").write_text("x")
    assert allows(policy(root), "a/file") == "--"
    assert allows(policy(root), "hop0") == "--"
    assert allows(policy(root), "hop1") == "rw"


def test_deep_new_folders_are_no_links(root: Path) -> None:
    assert allows(policy(root), "/".join(["new"] * 200)) == "rw"


def test_a_hard_link_is_allowed_and_said(root: Path) -> None:
    os.link(root / "outside/key", root / "ws/hard")
    decision = policy(root).decide("write", "hard")
    assert decision.verdict is Verdict.ALLOW
    assert "2 names" in decision.reason


def test_case_matters(root: Path) -> None:
    assert allows(policy(root), str(root / "SHARED/x")) == "--"


NAMES = st.sampled_from(
    ["ws", "src", "secret", "open", "reader", "box", "shared", "outside", "link", "new", ".", "a.txt"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(
    parts=st.lists(NAMES, max_size=6),
    lead=st.sampled_from(["", "{root}/", "{root}//", "/proc/self/root{root}/", "{root}/ws/link/"]),
    trail=st.sampled_from(["", "/", "/."]),
)
def test_a_path_outside_every_grant_is_never_allowed_whatever_its_spelling(
    root: Path, parts: list[str], lead: str, trail: str
) -> None:
    link = root / "ws/link"
    if not link.is_symlink():
        link.symlink_to(root)
    path = lead.replace("{root}", str(root)) + "/".join(parts) + trail
    real = os.path.realpath(os.path.join(root / "ws", path))  # noqa: PTH118
    inside = [str(root / place) for place in ("ws", "shared", "reader")]
    if policy(root).decide("read", path).verdict is Verdict.ALLOW:
        assert any(covers(place, real) for place in inside)
        assert not covers(str(root / "ws/secret"), real)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(
    place=st.sampled_from(["ws", "ws/src", "ws/secret/open", "shared", "shared/deep", "reader", "outside", "box"]),
    parts=st.lists(NAMES, max_size=5),
    workspace_only=st.booleans(),
)
def test_one_more_forbidden_path_never_widens(root: Path, place: str, parts: list[str], workspace_only: bool) -> None:
    before = policy(root, workspace_only=workspace_only)
    after = policy(root, grant("forbidden path", root / place, ""), workspace_only=workspace_only)
    for path in ("/".join(parts), f"{root}/{'/'.join(parts)}"):
        for access in ("read", "write"):
            assert after.decide(access, path).verdict.strictness >= before.decide(access, path).verdict.strictness


@given(st.text(max_size=80))
def test_resolving_never_fails(text: str) -> None:
    found = resolve(text)
    assert found.problem or os.path.isabs(found.path)  # noqa: PTH117


ARGUMENTS = [
    ("an absolute path", "cat /etc/passwd", "/etc/passwd"), ("climbing", "cat ../secret.txt", ".."),
    ("climbing folder", "find .. -name '*.rs'", ".."),
    ("a long option", "grep --file=/etc/passwd root ./src", "/etc/passwd"),
    ("a short option", "grep -f/etc/passwd x", "/etc/passwd"),
    ("a short option that climbs", "git -C../outside status", ".."),
    ("home", "cat ~/.ssh/id_rsa", "ssh"), ("another home", "cat ~root/.ssh/id_rsa", "another user"),
    ("a glued redirection", "cat</etc/passwd", "/etc/passwd"),
    ("behind a safe one", "cat</dev/null /etc/passwd", "/etc/passwd"),
    ("before a safe one", "cat /etc/passwd>/dev/null", "/etc/passwd"),
    ("joined descriptors", "cat /etc/passwd>&2", "/etc/passwd"),
    ("a target", "echo hi >/etc/passwd", "/etc/passwd"), ("no device", "echo hi >/dev/stderr.log", "stderr.log"),
    ("a fake here-document", 'printf "<<EOF\nbody\nEOF" /etc/shadow', "/etc/shadow"),
    ("a link", "touch out/new.txt", "outside"), ("a bare link", "cat out", "outside"),
    ("a pattern", "cat /et*/passwd", "/"),
    ("a pattern over something forbidden", "cat sec*/x", "secret"),
    ("a quoted path", "cat '/etc/pass wd'", "/etc/pass"),
    ("an assignment-like argument", "dd if=/etc/passwd", "/etc/passwd"),
    ("a dangling link", "echo x | cat dangling/x", "outside"),
    ("a cycle", "cat cycle/file", "cycle"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "says"), [row[1:] for row in ARGUMENTS], ids=[row[0] for row in ARGUMENTS])
def test_a_denied_path_in_a_command_denies_it(root: Path, line: str, says: str) -> None:
    from services.policy.commands import AllowedCommand, CommandPolicy

    (root / "ws/out").symlink_to(root / "outside")
    (root / "ws/dangling").symlink_to(root / "outside/none")
    (root / "ws/cycle").symlink_to("cycle")
    decision = CommandPolicy("full", (AllowedCommand("*"), AllowedCommand("dd")), policy(root)).decide(line)
    assert decision.verdict is Verdict.DENY
    assert says in decision.reason


FINE = [
    "ls x 2>/dev/null", "echo hi > /dev/stdout", "cat < /dev/zero", "cat /dev/null", "cat ./safe.txt>&2",
    "cat <<'EOF'\n.. /etc/passwd ..\nEOF", "touch in/new", "cat {root}/reader/x", "grep --file=./patterns.txt x",
    "git -C./repo status", "echo 'about ~20 percent'", "curl_like https://example.org/etc/passwd", "ls src/*.rs",
]  # fmt: skip


@pytest.mark.parametrize("line", FINE, ids=repr)
def test_a_command_on_granted_paths_is_not_denied(root: Path, line: str) -> None:
    from services.policy.commands import AllowedCommand, CommandPolicy

    (root / "ws/in").symlink_to(root / "ws/src")
    commands = CommandPolicy("full", (AllowedCommand("*"),), policy(root))
    assert commands.decide(line.replace("{root}", str(root))).verdict is Verdict.ALLOW
