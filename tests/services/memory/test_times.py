"""How long keys live."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from services.errors import InputRefused, NothingThere
from services.memory import MISSING, Namespace
from tests.services.memory.conftest import SECOND, Clock, Keys

MINUTES = 60.0
HOURS = 3600.0


async def remaining(namespace: Namespace, key: str, clock: Clock) -> float | None:
    entry = await namespace.entry(key)
    assert entry is not None
    return None if entry.expires_at is None else (entry.expires_at - clock.now) / SECOND


class TestTimes:
    @pytest.mark.parametrize(
        ("scope", "ttl", "seconds"),
        [
            ("user:1", None, None),
            ("user:1", 0, None),
            ("user:1", 90, 90.0),
            ("user:1", "30m", 30 * MINUTES),
            ("chat:1", None, 24 * HOURS),
            ("chat:1", 0, 24 * HOURS),
            ("chat:1", 1.5, 1.5),
            ("chat:1", "never", None),
            ("context:1", None, 30 * MINUTES),
            ("context:1", "0s", 30 * MINUTES),
            ("context:1", "1h30m", 90 * MINUTES),
        ],
    )
    async def test_m06_a_time_or_else_the_scopes_default(
        self, of: Keys, clock: Clock, scope: str, ttl: Any, seconds: float | None
    ) -> None:
        await of(scope).set("k", 1, ttl)
        assert await remaining(of(scope), "k", clock) == seconds

    @pytest.mark.parametrize(
        "ttl", [-1, -0.001, float("nan"), float("inf"), 1e12, "-5m", "soon", "", True, "9999d9999d"], ids=repr
    )
    async def test_m07_a_time_that_cannot_be_is_refused_and_never_means_for_ever(
        self, brief: Namespace, ttl: Any
    ) -> None:
        with pytest.raises(InputRefused, match="cannot live that long"):
            await brief.set("k", 1, ttl)
        assert await brief.keys() == []

    async def test_m08_writing_over_a_key_gives_it_a_new_time_and_kind(self, brief: Namespace, clock: Clock) -> None:
        await brief.push("k", 1, 2, ttl=10)
        await brief.set("k", "text")
        assert await remaining(brief, "k", clock) == 30 * MINUTES
        assert await brief.get("k") == "text"
        await brief.set("k", [3])
        assert await brief.array_all("k") == [3]

    async def test_m10_reading_gives_no_more_time(self, brief: Namespace, clock: Clock) -> None:
        await brief.push("k", 1)
        clock.forward(29 * MINUTES)
        await brief.get("k")
        await brief.has("k")
        await brief.array_all("k")
        await brief.get_or_set("k", lambda _: 2)
        assert await remaining(brief, "k", clock) == MINUTES

    @pytest.mark.parametrize(
        ("operation", "result"),
        [
            (lambda keys: keys.get("k"), MISSING),
            (lambda keys: keys.has("k"), False),
            (lambda keys: keys.keys(), []),
            (lambda keys: keys.keys("k"), []),
            (lambda keys: keys.keys("*k"), []),
            (lambda keys: keys.count(), 0),
            (lambda keys: keys.count("*k"), 0),
            (lambda keys: keys.entries(), []),
            (lambda keys: keys.entry("k"), None),
            (lambda keys: keys.delete("k"), False),
            (lambda keys: keys.delete_many(["k"]), 0),
            (lambda keys: keys.delete_matching("*"), 0),
            (lambda keys: keys.clear(), 0),
            (lambda keys: keys.get_delete("k"), MISSING),
            (lambda keys: keys.get_many(["k"]), {"k": MISSING}),
            (lambda keys: keys.get_or_set("k", lambda _: "new"), "new"),
            (lambda keys: keys.incr("k", 5), 5),
            (lambda keys: keys.push("k", "new"), 1),
            (lambda keys: keys.add_to_set("k", 1), 1),
            (lambda keys: keys.pull("k", 1), 0),
            (lambda keys: keys.array_len("k"), 0),
            (lambda keys: keys.array_all("k"), []),
            (lambda keys: keys.array_slice("k", 0, 9), []),
            (lambda keys: keys.array_page("k", 1, 9), []),
        ],
    )
    @pytest.mark.parametrize("value", [1, [1, 2]], ids=["integer", "list"])
    async def test_m11_an_expired_key_is_missing_for_every_operation(
        self, keys: Namespace, clock: Clock, value: Any, operation: Callable[[Namespace], Awaitable[Any]], result: Any
    ) -> None:
        await keys.set("k", value, ttl=5)
        clock.forward(5)
        assert await operation(keys) == result

    @pytest.mark.parametrize(
        "operation",
        [
            lambda keys: keys.pop("k"),
            lambda keys: keys.array_get("k", 0),
            lambda keys: keys.array_set("k", 0, 9),
            lambda keys: keys.expire("k", 60),
        ],
        ids=["pop", "array_get", "array_set", "expire"],
    )
    async def test_m11_what_needs_a_key_says_that_an_expired_one_is_not_there(
        self, keys: Namespace, clock: Clock, operation: Callable[[Namespace], Awaitable[Any]]
    ) -> None:
        await keys.set("k", [1], ttl=5)
        clock.forward(5)
        with pytest.raises(NothingThere):
            await operation(keys)

    async def test_m11_a_snapshot_holds_no_expired_key(self, keys: Namespace, clock: Clock) -> None:
        await keys.set("k", 1, ttl=5)
        clock.forward(5)
        assert (await keys.snapshot()).entries == ()

    async def test_a_key_gets_another_time_without_another_value(self, keys: Namespace, clock: Clock) -> None:
        await keys.push("k", 1, 2)
        await keys.expire("k", "1h")
        assert await remaining(keys, "k", clock) == HOURS
        await keys.expire("k", "never")
        assert await remaining(keys, "k", clock) is None
        assert await keys.get("k") == [1, 2]
