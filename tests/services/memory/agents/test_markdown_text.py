"""Memory files taken apart and written: nothing in a file or an entry is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.memory.agents.markdown.text import Item, Mark, pieces_of, written

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
MARKISH = st.sampled_from(["\n", "  ", "<!-- pinfold {} -->", "\\", "- **k**: v", "# x", "\r", "-->", "*", "x"])
MARK = Mark(id="1", session="-->", created_at=1, updated_at=2)


@given(st.lists(MARKISH).map("".join) | TEXT)
def test_taken_apart_a_file_loses_nothing(text: str) -> None:
    assert "".join(piece.text for piece in pieces_of(text, "MEMORY")) == text


@given(st.lists(st.tuples(TEXT | st.lists(MARKISH, min_size=1).map("".join), st.lists(MARKISH).map("".join))))
def test_entries_are_read_as_they_were_written_whatever_they_hold(entries: list[tuple[str, str]]) -> None:
    items = [Item(key, content, MARK) for key, content in entries]
    text = "# Title\n\n" + "".join(map(written, items))
    assert [piece.item for piece in pieces_of(text, "MEMORY") if piece.item] == items
