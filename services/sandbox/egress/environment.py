"""The variables by which programs in a sandbox find the proxy; what ignores them reaches nothing."""

from __future__ import annotations

from services.sandbox.egress.door import PORT

_HERE = "localhost,127.0.0.1,::1"


def proxy_environment() -> dict[str, str]:
    """Name the proxy in the ways programs look for it; a sandbox's own servers are reached without it."""
    proxy = f"http://127.0.0.1:{PORT}"
    named = {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "NO_PROXY": _HERE}
    lower = {name.lower(): value for name, value in named.items()}
    return {**named, **lower, "NODE_USE_ENV_PROXY": "1"}
