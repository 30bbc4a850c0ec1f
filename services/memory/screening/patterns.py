"""What the scan looks for: texts that would make an agent do harm, and secrets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Family = Literal["threat", "secret"]


@dataclass(frozen=True)
class Pattern:
    """One thing the scan looks for.

    Attributes:
        name: In small letters and `_`; what a hit is called.
        source: A hit is its group `hit`, or the whole match. Each takes time linear in the text.
        family: Whether it is a threat or a secret.
        strict: Looked for only by a strict scan.
    """

    name: str
    source: str
    family: Family
    flags: int = 0
    strict: bool = False

    @cached_property
    def expression(self) -> re.Pattern[str]:
        """Compiled when first needed, since all of them take some milliseconds."""
        return re.compile(self.source, self.flags)


_SECRET_WORD = (
    r"(?:api[_-]?key|access[_-]?token|auth[_-]?token|secret(?:[_-]?(?:access[_-]?)?key)?|token|passw(?:or)?d)"
)
_INSTRUCTIONS = r"\b(?:AGENTS|CLAUDE|GEMINI)\.md\b"
_BEFORE = r"(?<![A-Za-z0-9_-])"


def _line_with(words: str, target: str) -> str:
    """A word and behind it, in its line, a target; the last such word counts, so that each character is seen once."""
    return rf"\b(?:{words})\b(?:(?!\b(?:{words})\b)[^\n]){{0,400}}?{target}"


def _threat(name: str, expression: str, *, strict: bool = False) -> Pattern:
    return Pattern(name, expression, "threat", re.IGNORECASE, strict)


def _secret(name: str, expression: str, flags: int = 0) -> Pattern:
    return Pattern(name, expression, "secret", flags)


PATTERNS: tuple[Pattern, ...] = (
    _threat(
        "instruction_override",
        r"\b(?:ignore|disregard|forget|override)\s{1,8}(?:(?:all|any|the|your|of|my)\s{1,8}){0,3}"
        r"(?:previous|prior|earlier|above|preceding)\s{1,8}(?:instructions?|rules?|prompts?|messages?)",
    ),
    _threat(
        "upload_of_credentials",
        _line_with(r"curl|wget", r"\$\{?\w{0,64}(?:key|token|secret|passw(?:or)?d|credential)\w{0,64}"),
    ),
    _threat(
        "reading_of_secrets",
        _line_with(
            r"cat|less|head|tail|cp|scp|base64|source|curl|read|open",
            r"[/\s~'\"(@](?:\.env\b|\.netrc\b|\.pgpass\b|id_(?:rsa|dsa|ecdsa|ed25519)\b)",
        ),
    ),
    _threat("credentials_in_url", rf"https?://(?:(?!https?://)\S){{1,2000}}?[?&#]{_SECRET_WORD}=[^\s&]{{4,}}"),
    _threat(
        "edit_of_instructions",
        _line_with(r"edit|append|write|overwrite|modify|change|add|insert|echo|tee|sed", _INSTRUCTIONS)
        + rf"|>>?\s{{0,8}}{_INSTRUCTIONS}",
    ),
    _threat("authorized_keys", r"\bauthorized_keys\b", strict=True),
    _threat("ssh_folder", r"(?:~|\$HOME|/home/[^\s/]{1,64}|/root)/\.ssh\b", strict=True),
    _secret(
        "private_key",
        r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]|-(?!----(?:BEGIN|END) )){0,20000}-----END [A-Z0-9 ]{0,64}-----"
        r"|(?:\s{0,4}[A-Za-z0-9+/=]{24,}){0,2000})",
    ),
    _secret(
        "api_key",
        _BEFORE + r"(?:sk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{20,200}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,200}"
        r"|gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{30,255}|glpat-[A-Za-z0-9_-]{20,100}"
        r"|xox[abposr]-[A-Za-z0-9-]{10,250}|A(?:KI|SI)A[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|npm_[A-Za-z0-9]{36}"
        r"|hf_[A-Za-z0-9]{30,100}|eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000})",
    ),
    _secret(
        "secret",
        rf"\b(?:\w{{0,32}}[_-])?{_SECRET_WORD}[\"']?\s{{0,8}}(?::=|=>|[:=]|\bis\b)\s{{0,8}}[\"']?"
        r"(?P<hit>(?=[^\s\"']{0,199}[0-9!@#$%^&*/+=])[^\s\"',;$<{\[(][^\s\"',;]{7,199})",
        re.IGNORECASE,
    ),
    _secret("credentials_in_address", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,200}:(?P<hit>[^\s/@]{3,200})@"),
)

PERSONAL: tuple[Pattern, ...] = (
    _secret("email", r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b"),
    _secret("phone", r"(?<![\w+])\+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){2,5}\d{2,4}\b"),
)
"""What is not secret in itself; looked for only where a screening says so."""
