"""Which checks failed, and what that says."""

from typing import Any

from tests.builders import folded, pages_of, plan_of, row_of

from evalbook.derive.failures import ClassCount, check_failures, failure_classes


def check(name: str, outcome: str = "failed", **changes: Any) -> dict[str, Any]:
    return {"name": name, "outcome": outcome, **changes}


PLAN = plan_of({"a": 3})
ROWS = (
    row_of(
        PLAN, "a", 1, "f", checks=(check("often"), check("rare", "held"), check("mine", "held"))
    ),
    row_of(PLAN, "a", 2, "f", checks=(check("often"), check("rare"), check("mine", critical=True))),
    row_of(PLAN, "a", 3, "i", checks=(check("often", "error"), check("rare", "held"))),
)
ENTRIES = folded(*pages_of(PLAN, ROWS)).entries


def test_critical_checks_stand_first_then_those_that_failed_most() -> None:
    found = check_failures(ENTRIES)
    assert [(each.check, len(each.failed)) for each in found] == [
        ("mine", 1),
        ("often", 2),
        ("rare", 1),
    ]


def test_a_check_that_broke_down_did_not_fail() -> None:
    often = next(each for each in check_failures(ENTRIES) if each.check == "often")
    assert often.broke == (ROWS[2].attempt_id,)
    assert (often.failed, often.graded) == ((ROWS[0].attempt_id, ROWS[1].attempt_id), 3)


def test_an_attempt_counts_once_for_a_class_however_many_checks_failed() -> None:
    both = (
        check("one", failure_class="misread_contract"),
        check("two", failure_class="misread_contract"),
        check("three", "held", failure_class="tool_misuse"),
        check("four", failure_class="out_of_bounds"),
    )
    rows = [
        row_of(PLAN, "a", 1, "f", checks=both),
        row_of(PLAN, "a", 2, "f", checks=(check("one", failure_class="misread_contract"),)),
    ]
    assert failure_classes(folded(*pages_of(PLAN, rows)).entries) == (
        ClassCount("misread_contract", 2),
        ClassCount("out_of_bounds", 1),
    )


def test_where_all_held_nothing_is_named() -> None:
    row = row_of(PLAN, "a", 1, checks=(check("one", "held"),))
    assert check_failures(folded(*pages_of(PLAN, [row])).entries) == ()
