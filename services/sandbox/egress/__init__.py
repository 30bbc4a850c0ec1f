"""A sandbox's way out to the hosts its policy allows: a proxy that sees names, asks the policy and tells of refusals.

`bundle` says what a proxy is made of, and `saved_image` packs it; an engine starts it. All other modules but
`environment` run inside it, on Python's own library alone.
"""

from services.sandbox.egress.bundle import REPOSITORY, Bundle, Runtime, own_runtime, usual_runtime
from services.sandbox.egress.environment import proxy_environment
from services.sandbox.egress.inlet import HTTP_SOCKET
from services.sandbox.egress.inlet import PORT as TOOLS_PORT
from services.sandbox.egress.refusal import Refusal, read_refusal
from services.sandbox.egress.rules import encode_rules
from services.sandbox.egress.saved_image import saved_image
from services.sandbox.egress.serve import READY

__all__ = [
    "HTTP_SOCKET",
    "READY",
    "REPOSITORY",
    "TOOLS_PORT",
    "Bundle",
    "Refusal",
    "Runtime",
    "encode_rules",
    "own_runtime",
    "proxy_environment",
    "read_refusal",
    "saved_image",
    "usual_runtime",
]
