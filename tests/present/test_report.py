"""The filled results report."""

from typing import Any

import pytest
from markdown_it import MarkdownIt
from tests.builders import book_of
from tests.present.site.books import full_book, hostile_book

from evalbook.derive.book import EvaluationBook
from evalbook.derive.figures import figures_of
from evalbook.present.report import Report, report_markdown, report_of
from evalbook.present.report_parts import Facts, Field
from evalbook.present.templates import Templates

FACTS = Facts("c" * 40, "evalbook 0.1.0")
KEYS = [
    "configuration",
    "time-span",
    "tasks",
    "figures",
    "start",
    "grading",
    "outside",
    "exclusions",
    "records",
    "estimator",
    "delivery",
    "effort",
    "critical",
    "next",
]


def report(book: EvaluationBook) -> Report:
    return report_of(book, figures_of(book), FACTS)


def fields(book: EvaluationBook, version: int = -1) -> dict[str, Field]:
    return {field.key: field for field in report(book).versions[version].fields}


@pytest.fixture(scope="module")
def full() -> EvaluationBook:
    (book,) = full_book().evaluations
    return book


@pytest.mark.parametrize(
    "book",
    [
        lambda: full_book().evaluations[0],
        lambda: hostile_book().evaluations[0],
        lambda: book_of({"a": "p"}),
        lambda: book_of({}, planned={"a": 2}),
    ],
    ids=["full", "hostile", "plain", "planned"],
)
def test_every_field_is_there_and_is_filled_or_says_why_not(book: Any) -> None:
    for version in report(book()).versions:
        assert [field.key for field in version.fields] == KEYS
        for field in version.fields:
            assert field.says or field.table or field.missing, field.key
            assert field.says or field.table or len(field.missing or "") > 10, field.key


def test_exclusions_and_reruns_stand_with_numbers_and_reasons(full: EvaluationBook) -> None:
    field = fields(full)["exclusions"]
    assert "Excluded: 1. Reruns: 2, of which 1 stand in for an excluded original." in field.says
    assert field.table is not None
    words = [row[1] for row in field.table.rows]
    assert sum("not in force" in word for word in words) == 1
    assert sum("stands in for it" in word for word in words) == 1
    assert sum("shown apart, in no figure" in word for word in words) == 1
    assert "reinstated" in words
    assert all(row[2] for row in field.table.rows)


def test_figures_stand_twice(full: EvaluationBook) -> None:
    table = fields(full)["figures"].table
    assert table is not None
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["Attempts that count"] == ("14", "14")
    assert rows["Passed"] == ("11", "12")
    assert rows["Excluded"] == ("0", "1")


def test_a_failed_critical_check_is_named_and_its_use_left_to_a_person(
    full: EvaluationBook,
) -> None:
    field = fields(full)["critical"]
    assert field.table is not None
    assert field.table.rows[0][:2] == ("complete", "untouched")
    assert field.missing is not None
    assert "a person must say" in field.missing


def test_an_unknown_cost_is_said_to_be_unknown(full: EvaluationBook) -> None:
    assert "Cost: 1.2 CNY known; unknown for 2 of 16 attempts." not in fields(full)["effort"].says
    said = " ".join(fields(full)["effort"].says)
    assert "CNY known; unknown for" in said
    assert "Time of people: not recorded." in said


def test_what_no_interval_can_back_is_not_claimed(full: EvaluationBook) -> None:
    missing = fields(full)["estimator"].missing
    assert missing is not None
    assert "no interval" in missing


def test_the_markdown_holds_the_numbers_of_both_versions(full: EvaluationBook) -> None:
    text = report_markdown(report(full), Templates())
    assert text.startswith("# Results report: Device inventory\n")
    assert "Constructed data" in text
    assert "9 of 15 attempts passed, 60.0 %." in text
    assert "| Task rate | 60.0 % | 60.0 % |" in text
    assert "\n\n\n" not in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.endswith("|")


def test_no_text_of_a_record_acts_in_the_markdown() -> None:
    (book,) = hostile_book().evaluations
    text = report_markdown(report(book), Templates())
    assert "<script" not in text
    assert "@someone" not in text
    assert "\n# heading" not in text
    assert "\n- item" not in text
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    for claw in ("<a ", "<img", "<script", "<strong", "<em"):
        assert claw not in rendered


def test_no_text_of_a_record_adds_a_cell_to_a_table() -> None:
    (book,) = hostile_book().evaluations
    text = report_markdown(report(book), Templates())
    rendered = MarkdownIt("commonmark").enable("table").render(text)
    tables = [field.table for each in report(book).versions for field in each.fields if field.table]
    for table, shown in zip(tables, rendered.split("<table>")[1:], strict=True):
        body = shown.split("</table>")[0]
        cells = body.count("<th") - body.count("<thead") + body.count("<td")
        assert cells == len(table.head) * (1 + len(table.rows))


def test_nothing_planned_is_said() -> None:
    book = book_of({"a": "p"})
    empty = report_of(book, (), FACTS)
    assert "Nothing is planned yet" in report_markdown(empty, Templates())
