"""What was done to a page, in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbook.store.verify.edits import describe_edit

OLD = b"one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("new", "line", "words"),
    [
        (b"one\nTWO\nthree\n", 2, "line 2 differs"),
        (b"one\nthree\ntwo\n", 2, "rows reordered from line 2"),
        (b"two\nthree\n", 1, "row deleted: line 1 is gone"),
        (b"one\ntwo\n", 3, "row deleted: line 3 is gone"),
        (b"one\n", 2, "row deleted: line 2 is gone, 2 in all"),
        (b"", 1, "row deleted: line 1 is gone, 3 in all"),
        (b"zero\none\ntwo\nthree\n", 1, "row inserted: line 1 is new"),
        (b"one\ntwo\nthree\nfour\nfive\n", 4, "row inserted: line 4 is new, 2 in all"),
        (b"one\r\ntwo\r\nthree\r\n", 1, "only line ends and spaces, from line 1 (CRLF)"),
        (b"one\ntwo\nthree", 3, "only line ends and spaces, from line 3"),
        (b"one\ntwo\nthree\n\n", 4, "row inserted: line 4 is new"),
        (b"one\ntwo \nTHREE\n", 2, "line 2 differs"),
        (b"one\r\rtwo\nthree\n", 1, "line 1 differs"),
    ],
)
def test_an_edit_is_told_with_the_first_line_that_shows_it(
    new: bytes, line: int, words: str
) -> None:
    assert describe_edit(OLD, new) == (line, words)


_PAGES = st.lists(st.sampled_from([b"a\n", b"b\n", b"b \n", b"c\r\n"]), max_size=5).map(b"".join)


@given(_PAGES, _PAGES)
def test_the_line_of_an_edit_is_the_first_that_differs(old: bytes, new: bytes) -> None:
    line = describe_edit(old, new).line
    before, after = old.split(b"\n"), new.split(b"\n")
    assert before[: line - 1] == after[: line - 1]
    if old != new:
        assert before[line - 1 : line] != after[line - 1 : line]
