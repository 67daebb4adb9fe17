import pytest
from tests.run.checks.graded import Desk

RIGHT = "department,devices\n研发,2\n销售,1\n"


def said(
    desk: Desk, left: str | bytes, expected: str = RIGHT, **facts: object
) -> tuple[str, str, str]:
    desk.with_files({"a.csv": left}, {"a.csv": expected})
    found = desk.outcome("csv_equals", file="a.csv", expected="a.csv", **facts)
    return found.outcome, found.actual, found.evidence


@pytest.mark.parametrize(
    "left",
    [
        RIGHT,
        "﻿" + RIGHT,
        RIGHT.replace("\n", "\r\n"),
        RIGHT + "\n\n",
        RIGHT.rstrip("\n"),
        "devices,department\n2,研发\n1,销售\n",
        'department,devices\n"研发",2\n销售,"1"\n',
    ],
    ids=["same", "byte order mark", "CRLF", "blank lines", "no last newline", "columns", "quotes"],
)
def test_the_same_table_written_differently_is_equal(desk: Desk, left: str) -> None:
    assert said(desk, left)[0] == "held"


def test_the_order_of_rows_counts_only_when_declared(desk: Desk) -> None:
    left = "department,devices\n销售,1\n研发,2\n"
    outcome, actual, evidence = said(desk, left)
    assert outcome == "failed"
    assert actual.endswith("(the rows are right, their order is not)")
    assert evidence == "a.csv, line 2"
    assert said(desk, left, order="any")[0] == "held"


def test_the_first_different_row_is_shown_with_its_line(desk: Desk) -> None:
    desk.with_files({"a.csv": RIGHT.replace("1", "3")}, {"a.csv": RIGHT})
    for order in ("same", "any"):
        found = desk.outcome("csv_equals", file="a.csv", expected="a.csv", order=order)
        assert found.outcome == "failed"
        assert found.expected == 'department="销售", devices="1"'
        assert found.actual == 'department="销售", devices="3"'
        assert found.evidence == "a.csv, line 3"


def test_a_row_that_stands_twice_must_stand_twice(desk: Desk) -> None:
    assert said(desk, RIGHT + "销售,1\n", order="any")[0] == "failed"
    twice = RIGHT + "销售,1\n"
    assert said(desk, RIGHT, twice, order="any")[:2] == ("failed", "no such row")
    assert (
        said(desk, "department,devices\n销售,1\n研发,2\n销售,1\n", twice, order="any")[0] == "held"
    )


def test_missing_and_additional_rows_are_told(desk: Desk) -> None:
    assert said(desk, "department,devices\n研发,2\n") == ("failed", "no more rows", "a.csv, line 3")
    assert said(desk, RIGHT + "财务,1\n")[1] == 'department="财务", devices="1"'


def test_missing_and_additional_columns_are_named(desk: Desk) -> None:
    assert said(desk, "department,count\n研发,2\n")[:2] == (
        "failed",
        "without devices, with count besides",
    )


@pytest.mark.parametrize(
    ("kind", "cell", "equal"),
    [
        ("text", "2.0", False),
        ("text", " 2", False),
        ("integer", "2", True),
        ("integer", "02", True),
        ("integer", " +2 ", True),
        ("integer", "2.0", False),
        ("decimal", "2.0", True),
        ("decimal", "2e0", True),
        ("decimal", "0.2E1", True),
        ("decimal", "2.", True),
        ("decimal", "2.00000000000000000000000000001", False),
        ("decimal", "nan", False),
        ("decimal", "２", False),
        ("decimal", "1e999999999", False),
        ("decimal", "", False),
        ("decimal", "9" * 100_000, False),
    ],
)
def test_cells_are_compared_as_their_column_is_typed(
    desk: Desk, kind: str, cell: str, equal: bool
) -> None:
    outcome, *_ = said(desk, f"n\n{cell}\n", "n\n2\n", columns={"n": kind})
    assert outcome == ("held" if equal else "failed")


@pytest.mark.parametrize(
    ("left", "actual"),
    [
        (b"", "is empty: not even a header"),
        (b"department,devices\n\xff\xfe,2\n", "is not UTF-8"),
        (b"department,devices\na\0b,2\n", "holds a NUL byte, so it is no CSV"),
        (b"department,devices\na,2,3\n", "has 3 cells in a row, but 2 columns"),
        (b"department,devices\na\n", "has 1 cells in a row, but 2 columns"),
        (b"a,a\n1,2\n", "names the column a twice"),
        (b'department,devices\n"a,2\n', "is no CSV: unexpected end of data"),
        (b"department,devices\n" + b"x" * 200_000 + b",2\n", "is no CSV: field larger than"),
    ],
)
def test_what_is_no_table_fails_and_says_why(desk: Desk, left: bytes, actual: str) -> None:
    outcome, said_actual, _ = said(desk, left)
    assert outcome == "failed"
    assert said_actual.startswith(actual)


def test_a_header_of_very_many_names_is_read_in_fair_time(desk: Desk) -> None:
    names = ",".join(map(str, range(200_000)))
    assert said(desk, f"{names}\n")[0] == "failed"


def test_a_broken_reference_breaks_the_check(desk: Desk) -> None:
    assert said(desk, RIGHT, 'a,b\n"1,2\n')[0] == "error"
    assert said(desk, RIGHT, columns={"devcies": "integer"})[:2] == (
        "error",
        "expected/a.csv has no column devcies",
    )
