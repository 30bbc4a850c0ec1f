"""Whatever an embedder answers, it is an error that says what to do, or a vector that can be compared."""

from __future__ import annotations

import json
import time
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.activity import Events
from services.agents import Agents, VectorSection
from services.errors import EmbedderRefused, EmbedderUnavailable
from services.home import BlockingCalls
from services.memory.agents.vectors.answers import vectors_in
from services.memory.agents.vectors.embedding import Embedding
from services.memory.agents.vectors.model import Embedder
from tests.services.memory.agents.vectors.conftest import KEY, House
from tests.support.embedder import Answer, EmbedderServer, answered

ONE = Embedder("near", "openai http://x", "http://x/embeddings", "small")
SECTION = VectorSection(embedder="near")


@pytest.fixture
async def embedding(house: House, calls: BlockingCalls) -> Embedding:
    agents = Agents(house.home, Events(), calls)
    await agents.load()
    return Embedding(agents, house.env, calls, query_seconds=5.0, batch_seconds=5.0)


def data(*vectors: object) -> dict[str, object]:
    return {"data": [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]}


ANSWERS = [
    ("nothing", Answer(body=b""), "cannot be read: it is no JSON"),
    ("a page", Answer(body=b"<html>502 bad gateway</html>"), "it is no JSON"),
    ("no UTF-8", Answer(body=b'{"data": "\xff\xfe"}'), "cannot be read"),
    ("half", Answer(body=b'{"data": [{"index": 0, "embedding": [1.0'), "it is no JSON"),
    ("a list", Answer(body=[]), "Expected `object`"),
    ("an error", Answer(body={"error": {"message": f"no {KEY}"}}), "missing required field `data`"),
    ("NaN", Answer(body=b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}'), "it is no JSON"),
    ("infinity", Answer(body=b'{"data": [{"index": 0, "embedding": [1e999, 1]}]}'), ""),
    ("text", Answer(body=data(["1"])), "Expected `float`"),
    ("no numbers", Answer(body=data([])), "length >= 1"),
    ("zeros", Answer(body=data([0.0, 0.0])), "nothing but zeros"),
    ("too long", Answer(body=data([0.5] * 8193)), "length <= 8192"),
    ("too many", Answer(body=data([1.0], [1.0])), "given 1 texts and answers with 2 vectors"),
    ("none", Answer(body={"data": []}), "given 1 texts and answers with 0"),
    ("not its own", Answer(body={"data": [{"index": 7, "embedding": [1.0]}]}), "or not theirs"),
    ("deep", Answer(body=b'{"x": ' + b"[" * 100_000), "cannot be read"),
    ("huge", Answer(body=b'{"data": [' + b" " * 400_000), "larger than"),
    ("cut", Answer(body=data([1.0]), cut=True), "the connection broke"),
    ("elsewhere", Answer(307, b"", {"Location": "http://127.0.0.1:9/steal"}), "not followed. Look at base_url"),
    ("no key", Answer(401, {"error": f"bad key {KEY}"}), "refuses the key. Look at api_key_env in [connectors.near]"),
    ("not there", Answer(404), "Look at base_url in [connectors.near], and at the model"),
    ("too fast", Answer(429), "too much to do"),
    ("overrun", Answer(503, headers={"Retry-After": "9" * 5000}), "too much to do (503). Try again in a while"),
    ("broken", Answer(500, f"trace {KEY}".encode()), "answers 500"),
    ("packed", Answer(body=b"\x1f\x8b\x08\x00", headers={"Content-Encoding": "gzip"}), "it is no JSON"),
]


@pytest.mark.parametrize(("answer", "words"), [one[1:] for one in ANSWERS], ids=[one[0] for one in ANSWERS])
async def test_a_wrong_answer_says_what_is_wrong_and_nothing_of_the_key(
    embedding: Embedding, server: EmbedderServer, answer: Answer, words: str
) -> None:
    server.answer = lambda _: answer
    with pytest.raises(EmbedderUnavailable) as caught:
        await embedding.of_texts(embedding.embedder(SECTION), ["hello"])
    assert caught.value.what == "cannot use the embedder near"
    assert caught.value.why
    assert words in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert len(server.asked) == 1  # nothing was followed, nothing tried twice
    await embedding.close()


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_texts_that_are_not_taken_are_told_from_an_embedder_that_fails(
    embedding: Embedding, server: EmbedderServer, status: int
) -> None:
    server.answer = lambda _: Answer(status)
    embedder = embedding.embedder(SECTION)
    with pytest.raises(EmbedderRefused, match=f"does not take the texts: it answers {status}. Look whether small"):
        await embedding.of_query(embedder, "hello")
    server.answer = server.usual
    assert (await embedding.of_query(embedder, "hello")).space.dimensions == server.dimensions
    await embedding.close()


async def test_a_slow_answer_is_given_up_however_it_trickles_and_then_left_alone(
    house: House, server: EmbedderServer, calls: BlockingCalls
) -> None:
    agents = Agents(house.home, Events(), calls)
    await agents.load()
    embedding = Embedding(agents, house.env, calls, query_seconds=0.5)
    embedder = embedding.embedder(SECTION)
    server.answer = lambda asked: Answer(body=answered([[1.0]]), pause=0.05)
    began = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match=r"did not answer within 0\.5 seconds"):
        await embedding.of_query(embedder, "hello")
    assert time.monotonic() - began < 10
    with pytest.raises(EmbedderUnavailable, match="did not answer"):
        await embedding.of_query(embedder, "others")
    assert server.texts == ["hello"]
    await embedding.close()


async def test_nobody_at_the_address_is_said_with_where_it_is_written(
    house: House, server: EmbedderServer, calls: BlockingCalls
) -> None:
    server.stop()
    agents = Agents(house.home, Events(), calls)
    await agents.load()
    embedding = Embedding(agents, house.env, calls)
    with pytest.raises(EmbedderUnavailable, match=r"no server answers .* base_url in \[connectors.near\]"):
        await embedding.of_query(embedding.embedder(SECTION), "hello")
    await embedding.close()


async def test_a_request_has_the_model_the_size_and_the_key_and_goes_past_any_proxy(
    embedding: Embedding, server: EmbedderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    server.dimensions = 64
    embedder = embedding.embedder(VectorSection(embedder="near", dimensions=64))
    embedded = await embedding.of_texts(embedder, ["a b", "c", "a b"])
    (asked,) = server.asked
    assert asked.path == "/v1/embeddings"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {"model": "small", "input": ["a b", "c"], "encoding_format": "float", "dimensions": 64}
    assert embedded.vectors.shape == (3, 64)
    assert KEY not in repr(embedder)
    server.dimensions = 5
    with pytest.raises(EmbedderUnavailable, match=r"5 dimensions, not 64\. Look at dimensions"):
        await embedding.of_texts(embedder, ["d"])
    await embedding.close()


@pytest.mark.parametrize(
    "url",
    [
        "http://\x01/v1",
        "http://☃☃..x/v1",
        "http://[::1/v1",
        "http://127.0.0.1:0/v1",
    ],
    ids=["control", "no name", "half an address", "no port"],
)
async def test_an_address_that_is_none_is_an_error_like_any_other(house: House, calls: BlockingCalls, url: str) -> None:
    house.home.config_file.write_text(
        f"[connectors.near]\nkind = 'openai'\nmodel = 'm'\nbase_url = {json.dumps(url)}\n"
    )
    agents = Agents(house.home, Events(), calls)
    await agents.load()
    embedding = Embedding(agents, house.env, calls)
    with pytest.raises(EmbedderUnavailable, match=r"cannot use the embedder near: .*Look "):
        await embedding.of_query(embedding.embedder(SECTION), "hello")
    await embedding.close()


async def test_two_connectors_to_one_embedder_share_what_is_remembered(
    house: House, server: EmbedderServer, calls: BlockingCalls
) -> None:
    with house.home.config_file.open("a") as config:
        config.write(f"[connectors.same]\nkind = 'openai'\nmodel = 'small'\nbase_url = '{server.url}/'\n")
    agents = Agents(house.home, Events(), calls)
    await agents.load()
    embedding = Embedding(agents, house.env, calls)
    for name in ("near", "same"):
        embedded = await embedding.of_query(embedding.embedder(VectorSection(embedder=name)), "hello")
        assert embedded.space.provider == f"openai {server.url}"
    assert server.texts == ["hello"]
    await embedding.close()


async def test_a_text_is_asked_for_once(embedding: Embedding, server: EmbedderServer) -> None:
    embedder = embedding.embedder(SECTION)
    first = await embedding.of_texts(embedder, ["a", "b"])
    again = await embedding.of_texts(embedder, ["b", "c", "a"])
    assert server.texts == ["a", "b", "c"]
    assert (again.vectors[2] == first.vectors[0]).all()
    await embedding.close()


async def test_vectors_of_another_size_than_before_are_never_beside_the_old_ones(
    embedding: Embedding, server: EmbedderServer
) -> None:
    embedder = embedding.embedder(SECTION)
    await embedding.of_texts(embedder, ["a", "b"])
    server.dimensions = 9
    embedded = await embedding.of_texts(embedder, ["a", "c"])
    assert embedded.vectors.shape == (2, 9)
    assert (await embedding.of_query(embedder, "b")).space.dimensions == 9
    await embedding.close()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"EMBED_KEY": ""}, r"\$EMBED_KEY is not set. Set it"),
        ({"EMBED_KEY": f"{KEY}\r\nX-Injected: yes"}, "holds signs that no key has"),
        ({"EMBED_KEY": f"{KEY}é"}, "holds signs that no key has"),
    ],
    ids=["none", "a header more", "not ASCII"],
)
async def test_a_key_that_cannot_be_one_is_said_without_it(
    house: House, calls: BlockingCalls, change: dict[str, str], words: str
) -> None:
    agents = Agents(house.home, Events(), calls)
    await agents.load()
    with pytest.raises(EmbedderUnavailable, match=words) as caught:
        Embedding(agents, change, calls).embedder(SECTION)
    assert KEY not in str(caught.value)


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


VECTORS = st.integers(1, 6).flatmap(
    lambda size: st.lists(st.lists(NUMBERS, min_size=size, max_size=size), min_size=1, max_size=4)
)


@given(vectors=VECTORS)
def test_every_vector_with_a_direction_gets_the_length_one(vectors: list[list[float]]) -> None:
    body = json.dumps(answered(vectors)).encode()
    if not all(any(vector) for vector in vectors):
        with pytest.raises(EmbedderUnavailable, match="zeros"):
            vectors_in(body, ONE, len(vectors))
        return
    unit = vectors_in(body, ONE, len(vectors))
    assert unit.dtype == "<f4"
    assert ((unit.astype(float) ** 2).sum(axis=1) ** 0.5).tolist() == pytest.approx([1.0] * len(vectors), abs=1e-5)
    assert all((unit[place] * vector >= 0).all() for place, vector in enumerate(vectors))


@given(junk=st.binary(max_size=200))
def test_no_answer_is_anything_but_vectors_or_such_an_error(junk: bytes) -> None:
    with pytest.raises(EmbedderUnavailable):
        vectors_in(junk, ONE, 1)
