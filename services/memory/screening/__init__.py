"""The scan of what agents store for threats and secrets, and what is done about them."""

from services.memory.screening.scan import Finding, masked, redacted, scan
from services.memory.screening.screener import Screener
from services.memory.screening.screening import OnSecret, OnThreat, Screened, Screening

__all__ = ["Finding", "OnSecret", "OnThreat", "Screened", "Screener", "Screening", "masked", "redacted", "scan"]
