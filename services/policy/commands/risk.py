"""How much harm a program can do: low, medium or high."""

from __future__ import annotations

import re
from enum import IntEnum

from services.policy.commands.programs import SHELLS, git_command


class Risk(IntEnum):
    """Ordered: the risk of a line is that of its worst command."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2

    def __str__(self) -> str:
        return self.name.lower()


_HIGH = frozenset(
    {
        "rm", "mkfs", "dd", "shutdown", "reboot", "halt", "poweroff", "sudo", "su", "doas", "chown", "chmod", "useradd",
        "userdel", "usermod", "passwd", "mount", "umount", "iptables", "ufw", "firewall-cmd", "curl", "wget", "nc",
        "ncat", "netcat", "scp", "ssh", "ftp", "telnet", "del", "rmdir", "format", "reg", "net", "runas", "icacls",
        "takeown", "powershell", "pwsh", "wmic", "sc", "netsh", "shred", "socat", "sftp", "rsync", "nft", "visudo",
        "insmod", "rmmod", "modprobe", "kexec", "init", "telinit", "fdisk", "parted", "wipefs", "chroot", "nsenter",
        "unshare",
    }
)  # fmt: skip
_MEDIUM = frozenset(
    {
        "touch", "mkdir", "mv", "cp", "ln", "copy", "xcopy", "robocopy", "move", "ren", "rename", "mklink", "install",
        "truncate", "chattr", "setfacl", "docker", "podman", "nerdctl", "kubectl", "helm", "systemctl", "service",
        "systemd-run", "loginctl", "kill", "pkill", "killall", "crontab", "at", "batch", "xargs", "parallel", "busybox",
        "exec", "eval", "source", ".", "trap", "setsid", "watch", "strace", "ltrace", "gdb", "flock", "script",
        "screen", "tmux", "make", "ninja", "cmake", "just", "apt", "apt-get", "dpkg", "yum", "dnf", "apk", "pacman",
        "zypper", "snap", "brew", "gem", "go", "mvn", "gradle", "poetry", "uv", "conda", "sysctl", "ip", "ifconfig",
        "route", "hostnamectl", "timedatectl", "swapon", "swapoff", "losetup", "ssh-keygen", "ssh-add", "gpg", "nmap",
        "dig", "nslookup", "host", "ping", "traceroute", "openssl", "mail", "sendmail", "psql", "mysql", "redis-cli",
        "mongo", "mongosh", "aws", "gcloud", "az", "terraform", "ansible", "ansible-playbook", "gh", "glab", "hg",
        "svn", "vi", "vim", "nano", "emacs", "ed",
    }
)  # fmt: skip
_GIT_MEDIUM = frozenset(
    {
        "commit", "push", "reset", "clean", "rebase", "merge", "cherry-pick", "revert", "branch", "checkout",
        "switch", "tag", "pull", "fetch", "clone", "am", "apply", "stash", "worktree", "restore", "rm", "mv", "gc",
        "prune", "update-ref", "remote", "notes", "replace",
    }
)  # fmt: skip
_PACKAGE_MEDIUM = frozenset({"install", "add", "remove", "uninstall", "update", "publish"})
_CARGO_MEDIUM = frozenset({"add", "remove", "install", "clean", "publish"})
_DISASTERS = re.compile(r"rm -rf /|rm -fr /|:\(\)\s*\{|del /s /q|rmdir /s /q|format c:", re.IGNORECASE)


def risk_of(name: str, arguments: list[str]) -> Risk:
    """The risk of one program with its arguments.

    Args:
        name: Bare, in lower case.
        arguments: As the program would get them.
    """
    text = " ".join([name, *arguments])
    if name in _HIGH or name.startswith("mkfs.") or _DISASTERS.search(text):
        return Risk.HIGH
    lowered = [argument.lower() for argument in arguments]
    if name in _MEDIUM or name in SHELLS or name == "fish":
        return Risk.MEDIUM
    if name == "git" and git_command(lowered) in _GIT_MEDIUM:
        return Risk.MEDIUM
    if name in ("npm", "pnpm", "yarn") and _PACKAGE_MEDIUM.intersection(lowered):
        return Risk.MEDIUM
    if name == "cargo" and _CARGO_MEDIUM.intersection(lowered):
        return Risk.MEDIUM
    if name == "sed" and any(word.startswith(("-i", "--in-place")) for word in lowered):
        return Risk.MEDIUM
    return Risk.LOW
