"""Headers are made as the library makes them, to the byte, and read back as what they were made of."""

from __future__ import annotations

import os
import tarfile

from hypothesis import given
from hypothesis import strategies as st

from services.archives.tars.making import FILE, FOLDER, HARD_LINK, LINK, Facts, header_bytes

NAMES = st.binary(min_size=1, max_size=300).filter(lambda name: b"\0" not in name and not name.endswith(b"/"))
IDS = st.one_of(st.integers(0, 2**32 - 2), st.sampled_from([0, 8**7 - 1, 8**7]))
TIMES = st.one_of(st.integers(-(2**62), 2**62), st.integers(0, 2**33).map(lambda seconds: seconds * 10**9))
SIZES = st.one_of(st.integers(0, 2**50), st.sampled_from([8**11 - 1, 8**11]))
RECORDS = st.dictionaries(
    st.sampled_from(["SCHILY.xattr.user.a", "SCHILY.xattr.user.b", "GNU.sparse.name", "GNU.sparse.realsize"]),
    st.binary(max_size=200).filter(lambda value: b"\0" not in value).map(os.fsdecode),
)
FACTS = st.builds(
    Facts,
    path=NAMES,
    type=st.sampled_from([FILE, HARD_LINK, LINK, FOLDER]),
    mode=st.integers(0, 0o7777),
    uid=IDS,
    gid=IDS,
    mtime=TIMES,
    size=SIZES,
    target=st.one_of(st.just(b""), NAMES),
    records=RECORDS,
)


def by_the_library(facts: Facts) -> bytes:
    info = tarfile.TarInfo(os.fsdecode(facts.path))
    info.type, info.mode, info.uid, info.gid = facts.type, facts.mode, facts.uid, facts.gid
    info.size, info.linkname = facts.size, os.fsdecode(facts.target)
    info.mtime, rest = divmod(facts.mtime, 10**9)
    info.pax_headers = dict(facts.records)
    if rest or info.mtime < 0:
        sign, whole = "-" if facts.mtime < 0 else "", abs(facts.mtime)
        info.pax_headers["mtime"] = f"{sign}{whole // 10**9}.{whole % 10**9:09d}"
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")


@given(FACTS)
def test_they_are_those_of_the_library(facts: Facts) -> None:
    assert header_bytes(facts) == by_the_library(facts)
