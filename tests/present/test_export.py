"""The rows as a table for other programs."""

import csv
import io

import pytest
from tests.builders import (
    exclusion_of,
    folded,
    page_of,
    pages_of,
    plan_of,
    rerun_of,
    row_of,
    rows_of,
)
from tests.present.site.books import hostile_book

from evalbook.derive.book import EvaluationBook
from evalbook.present.export import attempts_csv, defused
from evalbook.records.attempt import F9_COLUMNS


def read(book: EvaluationBook) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(attempts_csv(book), newline=""), strict=True))


def test_the_columns_are_exactly_those_agreed() -> None:
    plan = plan_of({"a": 1})
    text = attempts_csv(folded(*pages_of(plan, rows_of(plan, {"a": "p"}))))
    assert text.splitlines()[0] == ",".join(F9_COLUMNS)
    assert len(F9_COLUMNS) == 21
    assert text.endswith("\n")
    assert "\r" not in text


def test_every_attempt_is_there_also_the_excluded_and_the_rerun() -> None:
    plan = plan_of({"a": 2})
    rows = rows_of(plan, {"a": "ip"})
    again, row = rerun_of(plan, rows[0], "f")
    reason = 'lost power, "twice"\nsays the log'
    book = folded(
        *pages_of(plan, rows),
        *pages_of(again, [row]),
        page_of(exclusion_of(rows[0], reason=reason)),
    )
    found = read(book)
    assert [each["verdict"] for each in found] == ["infra_error", "pass", "fail"]
    assert [each["excluded_reason"] for each in found] == [reason, "", ""]
    assert [each["rerun_of"] for each in found] == ["", "", rows[0].attempt_id]


def test_unknown_says_unknown_and_none_is_empty() -> None:
    plan = plan_of({"a": 2})
    rows = (
        row_of(plan, "a", 1, human_help=None, elapsed_seconds=None, input_sha256="unknown"),
        row_of(plan, "a", 2, cost="0.08", currency="CNY", failed_checks=("one", "two")),
    )
    first, second = read(folded(*pages_of(plan, rows)))
    assert (first["cost"], first["currency"], first["input_sha256"]) == ("unknown", "", "unknown")
    assert (first["human_help"], first["elapsed_seconds"], first["failed_checks"]) == ("", "", "")
    assert (second["cost"], second["currency"], second["failed_checks"]) == (
        "0.08",
        "CNY",
        "one;two",
    )
    assert second["human_help"] == "0"


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\x0b=1", "'quoted"]
)
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(cell: str) -> None:
    assert defused(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "plain", "1.5", "a=b", "研发"])
def test_other_cells_stay_as_they_are(cell: str) -> None:
    assert defused(cell) == cell


def test_no_cell_of_a_hostile_book_begins_like_a_formula() -> None:
    (book,) = hostile_book().evaluations
    for row in read(book):
        for cell in row.values():
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
