"""What is done about a text before it is stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from services.errors import InputRefused
from services.memory.screening.scan import Finding, redacted, scan

OnThreat = Literal["off", "flag", "reject"]
OnSecret = Literal["off", "flag", "reject", "redact"]


@dataclass(frozen=True, slots=True)
class Screened:
    """A text that may be stored.

    Attributes:
        content: The text, without secrets where they are redacted.
        findings: What was found in the text as it was given, and in its name; places are of these.
        withheld: Agents are not given it, because it may make them do harm.
    """

    content: str
    findings: tuple[Finding, ...] = ()
    withheld: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """What was found, each once, sorted."""
        return tuple(sorted({finding.name for finding in self.findings}))


@dataclass(frozen=True, slots=True)
class Screening:
    """Says what is done about threats and secrets in what agents store.

    Attributes:
        threats: `flag` stores the text and withholds it from agents.
        secrets: `flag` stores the text marked, `redact` without the secrets.
        strict: Also look for threats that are often harmless.
        personal: Also count e-mail addresses and telephone numbers as secrets.
    """

    threats: OnThreat = "flag"
    secrets: OnSecret = "flag"
    strict: bool = False
    personal: bool = False

    def screen(self, content: str) -> Screened:
        """Scan a text.

        Raises:
            InputRefused: It holds what is rejected; the message names it and does not repeat it.
        """
        actions: dict[str, str] = {"threat": self.threats, "secret": self.secrets}
        findings = tuple(
            finding
            for finding in scan(content, strict=self.strict, personal=self.personal)
            if actions[finding.family] != "off"
        )
        rejected = sorted({finding.name for finding in findings if actions[finding.family] == "reject"})
        if rejected:
            words = ", ".join(name.replace("_", " ") for name in rejected)
            raise InputRefused("the content is not stored", why=f"the scan found: {words}", fix="Leave that out.")
        kept = redacted(content, findings) if self.secrets == "redact" else content
        return Screened(kept, findings, any(finding.family == "threat" for finding in findings))

    def withholds(self, content: str) -> bool:
        """Whether a text that is stored is kept from agents, because it may make them do harm."""
        return self.threats != "off" and bool(self._threats(content))

    def for_agents(self, content: str) -> str:
        """A stored text as agents are given it: one that is withheld is only named."""
        if self.threats == "off":
            return content
        found = ", ".join(sorted({finding.name.replace("_", " ") for finding in self._threats(content)}))
        return f"(withheld: {found})" if found else content

    def _threats(self, content: str) -> list[Finding]:
        return [finding for finding in scan(content, strict=self.strict) if finding.family == "threat"]

    def screen_named(self, name: str, content: str) -> Screened:
        """Scan a text and the name it is to be stored under, which may hold as much.

        Raises:
            InputRefused: One of them holds what is rejected, or the name a secret, which cannot be taken out of it.
        """
        named, screened = self.screen(name), self.screen(content)
        if named.content != name:
            raise InputRefused("the key is not stored", why="it holds a secret", fix="Choose another key.")
        return replace(
            screened, findings=screened.findings + named.findings, withheld=screened.withheld or named.withheld
        )
