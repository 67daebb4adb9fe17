"""Where pages lie, how one leads to another."""

import pytest
from tests.builders import book_of, folded, pages_of, plan_of, rows_of

from evalbook.derive.figures import figures_of
from evalbook.present.site import places
from evalbook.present.site.marks import MOST_COLUMNS, MOST_MARKS, grid, strip


@pytest.mark.parametrize(
    ("here", "target", "link"),
    [
        ("index.html", "style.css", "style.css"),
        ("index.html", "evaluation/e/index.html", "evaluation/e/index.html"),
        ("evaluation/e/task/t.html", "index.html", "../../../index.html"),
        ("evaluation/e/task/t.html", "evaluation/e/task/t.html#a-1", "#a-1"),
        ("evaluation/e/index.html", "evaluation/e/task/t.html#a-1", "task/t.html#a-1"),
    ],
)
def test_links_are_relative(here: str, target: str, link: str) -> None:
    assert places.relative(here, target) == link


def test_no_name_of_an_evaluation_can_take_the_place_of_a_page_of_ours() -> None:
    ours = {places.HOME, places.CHECK, places.STYLE, places.LEDGER}
    for name in ("index.html", "style.css", "data", "evaluation", "zh", "ledger.json"):
        paths = {
            places.evaluation(name), places.report(name), places.report_markdown(name),
            places.attempts_csv(name), places.decisions(name), places.figures_json(name),
        }  # fmt: skip
        assert len(paths) == 6
        assert not paths & ours


def test_marks_stand_in_the_order_of_the_attempts() -> None:
    drawn = strip(book_of({"a": "pfti"}).entries)
    assert [each.mark.kind for each in drawn.marks] == ["p", "f", "t", "i"]
    assert drawn.title == "pass, fail, timeout, infrastructure error, not judged"


def test_more_marks_than_anybody_counts_become_a_bar_with_counts() -> None:
    drawn = strip(book_of({"a": "p" * MOST_MARKS + "fi"}).entries)
    assert drawn.marks == ()
    assert drawn.title == f"{MOST_MARKS} pass, 1 fail, 1 infrastructure error, not judged"
    assert sum(piece.width for piece in drawn.bar) == pytest.approx(drawn.width, abs=0.05)


def test_no_attempts_are_said_in_words() -> None:
    assert strip(()).title == "no attempts"


def test_a_grid_shows_the_latest_versions_and_says_how_many_it_leaves_out() -> None:
    plans = [
        plan_of({"a": 1}, version=f"v{n}", run=f"20261130-21{n:02d}-aaaa",
                planned_at=f"2026-11-30T21:{n:02d}:00.000Z")
        for n in range(1, MOST_COLUMNS + 3)
    ]  # fmt: skip
    pages = [page for plan in plans for page in pages_of(plan, rows_of(plan, {"a": "p"}))]
    book = folded(*pages)
    made = grid(book.name, figures_of(book))
    assert (len(made.columns), made.left_out) == (MOST_COLUMNS, 2)
    assert made.columns[-1].name == f"agent v{MOST_COLUMNS + 2}"


def test_cells_say_all_some_none_in_words() -> None:
    outcomes = {"a": "pp", "b": "pf", "c": "fi", "d": "ii"}
    book = book_of(outcomes, planned=dict.fromkeys("abcde", 2))
    rows = grid(book.name, figures_of(book)).rows
    words = [row.cells[0].word if row.cells[0] else None for row in rows]
    assert words == ["all", "some", "none", "not judged", "not measured"]
