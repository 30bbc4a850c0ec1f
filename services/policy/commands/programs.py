"""What certain programs must not be asked, even where the program itself is allowed."""

from __future__ import annotations

import re

from services.policy.commands.grammar import Word

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "rbash"})
_PYTHON = re.compile(r"(python|pypy)[0-9.]*$")
_SPOOFING = re.compile(
    r"(LD_|DYLD_|PYTHON|NODE_|GIT_|PERL5|RUBY|NPM_CONFIG_|PIP_|CARGO_|RUSTC|BASH_|JAVA_TOOL|JDK_JAVA|GCONV)"
    r"|^(PATH|ENV|IFS|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|CDPATH|HOME|SHELL|EDITOR|VISUAL|PAGER|MANPAGER|LESSOPEN|LESSCLOSE"
    r"|BROWSER|TERMINFO|LOCPATH|NLSPATH|HOSTALIASES|MAKEFLAGS|AWKPATH|SSH_ASKPASS|GREP_OPTIONS|TMPDIR)$"
)
_AWKS = frozenset({"awk", "gawk", "mawk", "nawk"})
_FIND = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"})
_GIT_OPTIONS = (
    "--config-env", "--exec-path", "--upload-pack", "--receive-pack", "--exec=", "--output", "--ext-diff", "--textconv",
    "--open-files-in-pager", "--extcmd", "--tool=", "--template", "--upload-archive",
)  # fmt: skip
_GIT_COMMANDS = frozenset(
    {"config", "alias", "daemon", "shell", "filter-branch", "difftool", "mergetool", "send-email", "instaweb", "bisect"}
    | {"credential", "web--browse", "hook", "submodule", "maintenance", "upload-pack", "receive-pack", "upload-archive"}
)
_CONFIGURING = frozenset({"config", "alias"})
_GIT_VALUED = frozenset({"-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix"})


def spoofing(assignments: tuple[str, ...]) -> str:
    """The first variable whose setting could change which code runs; "" when there is none."""
    return next((name for name in assignments if _SPOOFING.search(name)), "")


def refusal(name: str, arguments: tuple[Word, ...], *, piped: bool) -> str:
    """Why a program is refused with these arguments; "" when it is not.

    Args:
        name: The program's bare name, in lower case.
        arguments: The words behind it.
        piped: Whether another command's output is its standard input.
    """
    words = [argument.text for argument in arguments]
    lowered = [word.lower() for word in words]
    if name == "tee":
        return "tee writes files past every check of redirections"
    if name == "find":
        hit = next((word for word in lowered if word in _FIND), "")
        return f"find {hit} runs programs or changes files" if hit else ""
    if name == "git":
        return _git(words, lowered)
    if _PYTHON.match(name):
        return _interpreter(name, words, piped, letters="cm", long_options=())
    if name in ("node", "nodejs", "deno", "bun"):
        long_options = ("--eval", "--print", "--require", "--import", "--loader", "--experimental-loader")
        return _interpreter(name, words, piped, letters="epr", long_options=long_options)
    if name in ("perl", "ruby"):
        return _interpreter(name, words, piped, letters="eEMmIr", long_options=())
    if name in ("lua", "luajit", "php", "rscript", "osascript", "guile", "tclsh"):
        return _interpreter(name, words, piped, letters="erRBE", long_options=("--run", "--eval"))
    if name in ("pip", "pip3"):
        return _subcommand(name, lowered, {"install", "download", "wheel", "uninstall"})
    if name in ("npm", "pnpm", "yarn"):
        return _subcommand(name, lowered, {"exec", "x", "install", "i", "add", "ci", "dlx", "create", "init"})
    if name == "npx":
        return "npx fetches and runs programs"
    if name == "cargo":
        return _subcommand(name, lowered, {"install"})
    if name in _AWKS and any("system(" in word or "|" in word for word in words):
        return f"{name} can run programs from its script"
    if name == "tar" and any(
        word.startswith(("--checkpoint-action", "--to-command", "--use-compress", "-I")) for word in words
    ):
        return "tar is asked to run a program"
    return ""


def _git(words: list[str], lowered: list[str]) -> str:
    if any(word.startswith("-c") for word in words):
        return "git -c sets a configuration that can run programs"
    hit = next((word for word in lowered if word.startswith(_GIT_OPTIONS)), "")
    if hit:
        return f"git {hit.split('=', 1)[0]} can run programs or write files"
    if any(word.startswith("ext::") for word in lowered):
        return "the transport ext:: runs programs"
    command = git_command(lowered)
    named = next((word for word in lowered if word in _CONFIGURING or word.startswith(("config.", "alias."))), "")
    if named or command in _GIT_COMMANDS:
        return f"git {named or command} can change what later commands run"
    return ""


def git_command(words: list[str]) -> str:
    """The sub-command of git, behind its global options; "" when there is none."""
    position = 0
    while position < len(words):
        word = words[position]
        if word in _GIT_VALUED or word == "-c":
            position += 2
        elif word.startswith("-"):
            position += 1
        else:
            return word
    return ""


def _interpreter(name: str, words: list[str], piped: bool, *, letters: str, long_options: tuple[str, ...]) -> str:
    """Refuse a program given by a flag, and one that would be read from standard input."""
    script = ""
    for position, word in enumerate(words):
        if word == "-":
            return f"{name} would read its program from standard input"
        if word.startswith("--"):
            if word.split("=", 1)[0] in long_options:
                return f"{name} {word.split('=', 1)[0]} takes a program from the command line"
        elif word.startswith("-"):
            if any(letter in letters for letter in word[1:]):
                return f"{name} {word[:2]} takes a program or module from the command line"
        else:
            previous = words[position - 1] if position else ""
            if previous in ("-W", "-X") and _PYTHON.match(name):
                continue
            script = word
            break
    asks = any(word in ("--version", "-V", "-v", "--help", "-h") for word in words)
    if not script and not asks and (piped or words):
        return f"{name} would read its program from standard input"
    return ""


def _subcommand(name: str, words: list[str], refused: set[str]) -> str:
    hit = next((word for word in words if word in refused), "")
    return f"{name} {hit} fetches and runs code" if hit else ""
