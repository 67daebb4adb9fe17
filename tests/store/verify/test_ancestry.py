"""Ancestors, held against git's own answer."""

from hypothesis import given
from hypothesis import strategies as st

from evalbook.store.verify.ancestry import Ancestry
from evalbook.store.verify.walk import Step


def _steps(parents: list[list[int]]) -> list[Step]:
    return [
        Step(number, str(number), tuple(str(parent) for parent in each), ())
        for number, each in enumerate(parents)
    ]


@st.composite
def _graphs(draw: st.DrawFn) -> list[list[int]]:
    """Any history: roots, straight lines, forks, merges of up to four, criss-cross ones too."""
    size = draw(st.integers(1, 14))
    return [
        draw(st.lists(st.integers(0, number - 1), max_size=4, unique=True)) if number else []
        for number in range(size)
    ]


@given(_graphs())
def test_precedes_says_what_following_every_parent_says(parents: list[list[int]]) -> None:
    above: list[set[int]] = []
    for each in parents:
        above.append(set(each).union(*(above[parent] for parent in each)))
    ancestry = Ancestry(_steps(parents))
    for later, ancestors in enumerate(above):
        found = {number for number in range(len(parents)) if ancestry.precedes(number, later)}
        assert found == ancestors


def test_parents_that_were_not_walked_are_left_out() -> None:
    steps = [Step(0, "a", ("outside",), ()), Step(1, "b", ("a",), ())]
    assert Ancestry(steps).precedes(0, 1)
    assert not Ancestry(steps).precedes(1, 0)
