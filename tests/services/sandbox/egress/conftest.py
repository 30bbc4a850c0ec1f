"""A proxy that lets two names and all below a third through, and an internet to reach with it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.services.sandbox.egress.internet import Asked, Internet


@pytest.fixture
def internet() -> Internet:
    return Internet()


@pytest.fixture
async def proxy(internet: Internet) -> AsyncIterator[Asked]:
    async with Asked(internet, "example.org", "*.example.com", "other.net:8443", "10.0.0.5", "git.lan") as proxy:
        yield proxy
