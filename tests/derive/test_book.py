"""What the folded book says of every attempt."""

import itertools

import pytest
from tests.builders import (
    book_of,
    exclusion_of,
    folded,
    page_of,
    pages_of,
    plan_of,
    reinstatement_of,
    rerun_of,
    row_of,
    row_sha256,
    rows_of,
)

from evalbook.base.problems import UserError
from evalbook.derive.book import fold

PLAN = plan_of({"complete": 2})
ROWS = rows_of(PLAN, {"complete": "ip"})
BROKEN, SOUND = ROWS
OUT = exclusion_of(BROKEN)


def test_every_row_keeps_its_plan_its_page_and_its_digest() -> None:
    plan_page, rows_page = pages_of(PLAN, ROWS)
    entry = folded(plan_page, rows_page).entries[1]
    assert (entry.attempt, entry.plan) == (SOUND, PLAN)
    assert (entry.path, entry.line, entry.sha256) == (rows_page.path, 2, row_sha256(SOUND))


def test_entries_stand_in_order_of_plan_run_task_and_number() -> None:
    late = plan_of({"a": 1}, run="20261129-0000-late", planned_at="2026-12-02T00:00:00.000Z")
    early = plan_of({"b": 11, "a": 2}, run="20261130-0000-zzzz")
    pages = (
        *pages_of(late, rows_of(late, {"a": "p"})),
        *pages_of(early, rows_of(early, {"a": "pp", "b": "p" * 11})),
    )
    ids = [entry.attempt.attempt_id.split("/", 1)[1] for entry in folded(*pages).entries]
    assert ids == ["a/1", "a/2", *(f"b/{n}" for n in range(1, 12)), "a/1"]


def test_the_order_of_the_pages_changes_nothing() -> None:
    pages = (*pages_of(PLAN, ROWS), page_of(OUT), page_of(reinstatement_of(OUT)))
    first = fold(pages)
    assert all(fold(each) == first for each in itertools.permutations(pages))


def test_an_exclusion_holds_until_it_is_taken_back() -> None:
    back = reinstatement_of(OUT)
    excluded = folded(*pages_of(PLAN, ROWS), page_of(OUT)).entries[0]
    assert excluded.exclusion == OUT
    again = folded(*pages_of(PLAN, ROWS), page_of(OUT), page_of(back)).entries[0]
    assert again.exclusion is None
    assert again.decisions == (OUT, back)


def test_of_two_exclusions_the_other_still_holds_after_one_is_taken_back() -> None:
    second = exclusion_of(BROKEN, number=2, ground="infra_error")
    pages = (page_of(OUT), page_of(second), page_of(reinstatement_of(OUT, number=3)))
    assert folded(*pages_of(PLAN, ROWS), *pages).entries[0].exclusion == second


def test_an_exclusion_outside_the_policy_of_the_plan_never_holds() -> None:
    plan = plan_of({"complete": 2}, rules={"attempts": 2, "exclusion": {"allowed": ()}})
    rows = rows_of(plan, {"complete": "ip"})
    forbidden = exclusion_of(rows[0])
    entry = folded(*pages_of(plan, rows), page_of(forbidden)).entries[0]
    assert entry.exclusion is None
    assert entry.decisions == (forbidden,)


def test_a_pass_can_never_be_excluded_as_a_fault_of_the_infrastructure() -> None:
    entry = folded(*pages_of(PLAN, ROWS), page_of(exclusion_of(SOUND))).entries[1]
    assert entry.exclusion is None


def test_a_row_knows_its_reruns() -> None:
    again, row = rerun_of(PLAN, BROKEN)
    book = folded(*pages_of(PLAN, ROWS), *pages_of(again, [row]))
    assert book.by_id[BROKEN.attempt_id].reruns == (row.attempt_id,)
    assert not book.by_id[row.attempt_id].independent


@pytest.mark.parametrize(
    ("purpose", "independent"), [("import", [True, False, False]), ("measure", [True, True, True])]
)
def test_recoveries_and_retries_are_told_by_a_source_but_never_by_the_agent_of_a_planned_run(
    purpose: str, independent: list[bool]
) -> None:
    plan = plan_of({"complete": 3}, purpose=purpose)
    first = row_of(plan, "complete", 1, "f")
    recovery = row_of(
        plan, "complete", 2, recovery_of=first.attempt_id, recovery_of_sha256=row_sha256(first)
    )
    retry = row_of(plan, "complete", 3, request_id=first.attempt_id)
    book = folded(*pages_of(plan, (first, recovery, retry)))
    assert [entry.independent for entry in book.entries] == independent


def test_a_row_that_was_never_planned_gives_no_figures() -> None:
    wide, narrow = plan_of({"complete": 2}), plan_of({"complete": 1})
    pages = (*pages_of(narrow, ()), *pages_of(wide, rows_of(wide, {"complete": "pp"}))[1:])
    with pytest.raises(UserError, match="complete/2 was never planned"):
        fold(pages)


def test_a_reinstatement_takes_back_the_exclusion_that_it_names_whatever_the_dates() -> None:
    plan = plan_of({"complete": 1})
    row = row_of(plan, "complete", 1, "i")
    exclusion = exclusion_of(row, decided_at="2026-11-30T22:00:00.000Z")
    back = reinstatement_of(exclusion, decided_at="2026-11-30T21:59:00.000Z")
    book = folded(*pages_of(plan, (row,)), page_of(exclusion), page_of(back))
    assert book.entries[0].exclusion is None


def test_evaluations_are_kept_apart_and_sorted() -> None:
    plans = [plan_of({"a": 1}, evaluation=name) for name in ("zebra", "ant")]
    book = fold(page for plan in plans for page in pages_of(plan, rows_of(plan, {"a": "p"})))
    assert [each.name for each in book.evaluations] == ["ant", "zebra"]
    assert [len(each.entries) for each in book.evaluations] == [1, 1]


def test_no_pages_make_an_empty_book() -> None:
    assert fold(()).evaluations == ()


@pytest.mark.parametrize("missing", ["plan", "row"])
def test_no_figure_is_made_where_a_plan_or_a_decided_row_is_missing(missing: str) -> None:
    plan_page, rows_page = pages_of(PLAN, ROWS)
    pages = (rows_page,) if missing == "plan" else (plan_page, page_of(OUT))
    with pytest.raises(UserError, match=r"has no plan|no such row") as caught:
        fold(pages)
    assert caught.value.exit_code == 6


def test_no_figure_is_made_where_a_decided_row_is_another_one_now() -> None:
    changed = (BROKEN.model_copy(update={"termination": "signal SIGKILL"}), SOUND)
    with pytest.raises(UserError, match="no such row"):
        fold((*pages_of(PLAN, changed), page_of(OUT)))


def test_no_figure_is_made_where_an_attempt_has_two_rows() -> None:
    twice = (*pages_of(PLAN, ROWS), pages_of(PLAN, ROWS[:1])[1])
    with pytest.raises(UserError, match="has a row already"):
        fold(twice)


def test_no_figure_is_made_where_a_rerun_reruns_nothing() -> None:
    again, row = rerun_of(PLAN, BROKEN, rerun_of=None, rerun_of_sha256=None)
    with pytest.raises(UserError, match="reruns nothing"):
        fold((*pages_of(PLAN, ROWS), *pages_of(again, [row])))
    again, row = rerun_of(PLAN, BROKEN, rerun_of_sha256="0" * 64)
    with pytest.raises(UserError, match=r"is a rerun of .* no such row"):
        fold((*pages_of(PLAN, ROWS), *pages_of(again, [row])))


def test_the_builder_of_these_tests_plans_more_than_it_executes_when_told() -> None:
    book = book_of({"a": "p"}, planned={"a": 3})
    assert (book.plans[0].planned, len(book.entries)) == (3, 1)
