"""What a terminal shows."""

import re

import pytest
from rich.cells import cell_len
from tests.builders import (
    WORKED_EXAMPLE,
    book_of,
    exclusion_of,
    folded,
    page_of,
    pages_of,
    plan_of,
    rows_of,
)
from tests.present.site.books import HOSTILE, ONE_LINE, full_book, hostile_book

from evalbook.derive.figures import figures_of
from evalbook.present.tables import Sheet, exclusion_effect, log_lines, log_text, show_text

PLAIN = Sheet(80, colour=False)
RULES = {"attempts": 5, "k": (1, 3), "exclusion": {"allowed": ("infra_error",)}}


def test_the_worked_example_reads_counts_before_rates_and_sentences_before_both() -> None:
    book = book_of(WORKED_EXAMPLE, rules=RULES)
    assert show_text(book, figures_of(book), PLAIN) == (
        "inventory: inventory\n"
        "\n"
        "agent v1\n"
        "9 of 15 attempts passed, 60.0 %.\n"
        "- A single run: says nothing about another day.\n"
        "\n"
        "              nothing excluded\n"
        "planned                     15\n"
        "executed                    15\n"
        "failed                       6\n"
        "passed                    9/15\n"
        "attempt rate            60.0 %\n"
        "task rate               60.0 %\n"
        "pass@3                  86.7 %\n"
        "pass^3                  36.7 %\n"
        "\n"
        "task                passed     rate   pass@3   pass^3\n"
        "complete               5/5  100.0 %  100.0 %  100.0 %\n"
        "duplicate-ids          1/5   20.0 %   60.0 %    0.0 %\n"
        "missing-department     3/5   60.0 %  100.0 %   10.0 %\n"
    )


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    long = {f"task-{'x' * 60}": "pfpfp"}
    many = {"attempts": 5, "k": (1, 2, 3, 4, 5)}
    for book in (book_of(long, rules=many), *full_book().evaluations):
        text = show_text(book, figures_of(book), Sheet(width, colour=False))
        assert max(cell_len(line) for line in text.splitlines()) <= width


def test_colour_only_where_it_is_wanted() -> None:
    book = book_of(WORKED_EXAMPLE)
    assert "\x1b" not in show_text(book, figures_of(book), PLAIN)
    coloured = show_text(book, figures_of(book), Sheet(80, colour=True))
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == show_text(book, figures_of(book), PLAIN)


def test_nothing_planned_is_said() -> None:
    book = folded(pages_of(plan_of({"a": 1}), [])[0])
    assert "Nothing was measured" in show_text(book, figures_of(book), PLAIN)
    assert "Nothing is planned yet" in show_text(book, (), PLAIN)


def test_no_text_of_a_record_reaches_the_terminal_as_a_command() -> None:
    (book,) = hostile_book().evaluations
    shown = show_text(book, figures_of(book), PLAIN)
    logged = log_text(log_lines([book], {}), PLAIN)
    for text in (shown, logged):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert ONE_LINE in logged
    assert HOSTILE not in logged


def test_the_log_is_newest_first_and_names_commit_person_and_reason() -> None:
    (book,) = full_book().evaluations
    paths = {event.path: f"{number:040x}" for number, event in enumerate(book.events)}
    lines = log_lines([book], paths)
    assert [line.at for line in lines] == sorted((line.at for line in lines), reverse=True)
    assert {line.kind for line in lines} == {"freeze", "plan", "exclude", "reinstate", "rerun"}
    assert all(line.who and line.why and len(line.commit) == 40 for line in lines)
    run = next(line for line in lines if "bbbb" in line.what and line.kind == "plan")
    assert run.what == "run 20261202-0100-bbbb: agent v2, 14 of 15 attempts"


def test_an_empty_log_says_so() -> None:
    assert log_text((), PLAIN) == "Nothing is recorded yet.\n"


def test_a_decision_shows_its_effect_and_that_the_first_figure_stays() -> None:
    plan = plan_of({"a": 4})
    rows = rows_of(plan, {"a": "ppfi"})
    before = figures_of(folded(*pages_of(plan, rows)))
    after = figures_of(folded(*pages_of(plan, rows), page_of(exclusion_of(rows[3]))))
    assert exclusion_effect(before, after) == (
        "agent v1 after exclusion: 2/4 50.0 % → 2/3 66.7 %; before exclusion it stays 2/4 50.0 %",
    )
    assert exclusion_effect(before, before) == ()
