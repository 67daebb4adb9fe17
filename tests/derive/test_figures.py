"""What counts, before and after exclusion."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import (
    WORKED_EXAMPLE,
    book_of,
    config_ref,
    exclusion_of,
    folded,
    page_of,
    pages_of,
    plan_of,
    rerun_of,
    row_of,
    row_sha256,
    rows_of,
)

from evalbook.derive.counts import Mean
from evalbook.derive.figures import ConfigFigures, figures_of

RULES = {"attempts": 5, "k": (1, 3), "exclusion": {"allowed": ("infra_error",)}}


def only(*args: object, **kwargs: object) -> ConfigFigures:
    (found,) = figures_of(book_of(*args, **kwargs))  # type: ignore[arg-type]  # handed on as they are
    return found


def test_the_worked_example_has_the_figures_of_its_table() -> None:
    figures = only(WORKED_EXAMPLE, rules=RULES).after
    assert (figures.counts.planned, figures.counts.executed, figures.counts.passed) == (15, 15, 9)
    assert figures.attempt_rate == Fraction(3, 5)
    assert figures.task_rate == Mean(Fraction(3, 5), 3)
    assert [(each.k, each.mean.value) for each in figures.pass_at] == [
        (1, Fraction(3, 5)),
        (3, Fraction(13, 15)),
    ]
    assert [each.mean.value for each in figures.pass_hat] == [Fraction(3, 5), Fraction(11, 30)]
    per_task = {task.task_id: task.pass_hat[1].value for task in figures.tasks}
    assert per_task == {"complete": 1, "duplicate-ids": 0, "missing-department": Fraction(1, 10)}


def test_verdicts_are_counted_apart_and_only_a_pass_is_delivered() -> None:
    counts = only({"a": "pftip"}).before.counts
    assert counts[3:7] == (2, 1, 1, 1)
    assert (counts.unjudged, counts.counted) == (1, 5)


def test_planned_but_never_started_is_a_count_of_its_own_and_no_failure() -> None:
    figures = only({"a": "pp"}, planned={"a": 5, "b": 5}).before
    counts = figures.counts
    assert (counts.planned, counts.executed, counts.not_executed) == (10, 2, 8)
    assert figures.attempt_rate == 1
    assert figures.task_rate == Mean(Fraction(1), 1)
    assert [(task.task_id, task.n) for task in figures.tasks] == [("a", 2), ("b", 0)]


def test_an_excluded_attempt_leaves_only_the_figures_after_exclusion() -> None:
    plan = plan_of({"a": 4})
    rows = rows_of(plan, {"a": "ppif"})
    book = folded(*pages_of(plan, rows), page_of(exclusion_of(rows[2])))
    (figures,) = figures_of(book)
    assert figures.before.attempt_rate == Fraction(2, 4)
    assert figures.after.attempt_rate == Fraction(2, 3)
    assert (figures.before.counts.excluded, figures.after.counts.excluded) == (0, 1)
    assert figures.after.counts.executed == figures.before.counts.executed == 4


@pytest.mark.parametrize("again", ["p", "f"])
def test_a_rerun_stands_in_only_where_its_original_is_excluded(again: str) -> None:
    plan = plan_of({"a": 3})
    rows = rows_of(plan, {"a": "pif"})
    second, row = rerun_of(plan, rows[1], again)
    run = (*pages_of(plan, rows), *pages_of(second, [row]))
    (kept,) = figures_of(folded(*run))
    assert kept.after == kept.before
    assert (kept.reruns, kept.after.counts.stood_in) == (1, 0)
    (excluded,) = figures_of(folded(*run, page_of(exclusion_of(rows[1]))))
    assert excluded.before == kept.before
    assert excluded.after.attempt_rate == Fraction(1 + (again == "p"), 3)
    assert (excluded.after.counts.excluded, excluded.after.counts.stood_in) == (1, 1)


def test_a_rerun_of_a_plain_failure_never_enters_a_figure() -> None:
    plan = plan_of({"a": 2})
    rows = rows_of(plan, {"a": "pf"})
    second, row = rerun_of(plan, rows[1], "p")
    (figures,) = figures_of(folded(*pages_of(plan, rows), *pages_of(second, [row])))
    assert figures.before.attempt_rate == figures.after.attempt_rate == Fraction(1, 2)
    assert figures.version.cells[0].reruns[0].attempt == row


def test_of_several_reruns_the_first_stands_in_never_the_best() -> None:
    plan = plan_of({"a": 1})
    (original,) = rows_of(plan, {"a": "i"})
    pages = [*pages_of(plan, [original]), page_of(exclusion_of(original))]
    for run, outcome, hour in (("20261130-2301-aaaa", "f", 2), ("20261130-2302-bbbb", "p", 3)):
        second, row = rerun_of(plan, original, outcome, run=run)
        later = second.model_copy(update={"planned_at": f"2026-12-01T0{hour}:00:00.000Z"})
        pages += pages_of(later, [row])
    (figures,) = figures_of(folded(*pages))
    assert figures.after.attempt_rate == 0


def test_the_rerun_of_an_excluded_rerun_stands_in_for_both() -> None:
    plan = plan_of({"a": 1})
    (original,) = rows_of(plan, {"a": "i"})
    second, again = rerun_of(plan, original, "i", run="20261130-2301-aaaa")
    third, last = rerun_of(second, again, "p", run="20261130-2302-bbbb")
    pages = (
        *pages_of(plan, [original]),
        *pages_of(second, [again]),
        *pages_of(third, [last]),
        page_of(exclusion_of(original, number=1)),
        page_of(exclusion_of(again, number=2)),
    )
    (figures,) = figures_of(folded(*pages))
    assert figures.after.attempt_rate == 1
    assert (figures.after.counts.excluded, figures.after.counts.stood_in) == (1, 1)


def test_a_rerun_with_another_grader_cannot_stand_in() -> None:
    plan = plan_of({"a": 2})
    rows = rows_of(plan, {"a": "ip"})
    second, row = rerun_of(plan, rows[0], "p", grader_ref="f" * 64)
    book = folded(*pages_of(plan, rows), *pages_of(second, [row]), page_of(exclusion_of(rows[0])))
    (figures,) = figures_of(book)
    assert (figures.after.counts.counted, figures.after.counts.stood_in) == (1, 0)


def test_recoveries_and_retries_enter_neither_figure_nor_count_of_executed() -> None:
    plan = plan_of({"a": 3}, purpose="import")
    first = row_of(plan, "a", 1, "f")
    rest = (
        row_of(plan, "a", 2, recovery_of=first.attempt_id, recovery_of_sha256=row_sha256(first)),
        row_of(plan, "a", 3, request_id=first.attempt_id),
    )
    (figures,) = figures_of(folded(*pages_of(plan, (first, *rest))))
    counts = figures.before.counts
    assert (counts.planned, counts.executed, counts.not_executed) == (1, 1, 0)
    assert (figures.before.attempt_rate, figures.dependent) == (0, 2)


def test_runs_of_one_version_are_pooled_and_still_told_apart() -> None:
    runs = [
        plan_of({"a": 2}, run="20261130-2118-aaaa"),
        plan_of({"a": 2, "b": 2}, run="20261130-2119-bbbb"),
    ]
    pages = (
        *pages_of(runs[0], rows_of(runs[0], {"a": "pp"})),
        *pages_of(runs[1], rows_of(runs[1], {"a": "pf", "b": "f"})),
    )
    (figures,) = figures_of(folded(*pages))
    assert [(task.n, task.c) for task in figures.before.tasks] == [(4, 3), (1, 0)]
    assert [(run.executed, run.passed, run.planned) for run in figures.runs] == [
        (2, 2, 2),
        (3, 1, 4),
    ]


def test_attempts_with_recorded_tool_returns_are_never_pooled_with_live_ones() -> None:
    live = plan_of({"a": 1}, run="20261130-2118-aaaa")
    replayed = plan_of({"a": 1}, run="20261130-2119-bbbb", condition="replayed")
    pages = (
        *pages_of(live, [row_of(live, "a", 1, "p")]),
        *pages_of(replayed, [row_of(replayed, "a", 1, "f", condition="replayed")]),
    )
    found = {each.version.condition: each for each in figures_of(folded(*pages))}
    assert found["live"].after.attempt_rate == 1
    assert found["replayed"].after.attempt_rate == 0


def test_attempts_under_a_changed_grader_are_never_pooled() -> None:
    before = plan_of({"a": 1}, run="20261130-2118-aaaa")
    changed = before.tasks[0].model_copy(update={"grader_ref": "e" * 64})
    after = before.model_copy(update={"run_id": "20261130-2119-bbbb", "tasks": (changed,)})
    pages = (
        *pages_of(before, [row_of(before, "a", 1, "f")]),
        *pages_of(after, [row_of(after, "a", 1, "p", grader_ref="e" * 64)]),
    )
    found = figures_of(folded(*pages))
    assert [(each.version.part, each.after.attempt_rate) for each in found] == [(1, 0), (2, 1)]


def test_versions_stand_by_config_and_then_in_order_of_their_first_plan() -> None:
    named = [("zoo", "v1", 3), ("ant", "v2", 1), ("ant", "v1", 2)]
    plans = [
        plan_of(
            {"a": 1},
            config=config,
            version=version,
            run=f"2026113{hour - 1}-2118-aaaa",
            planned_at=f"2026-12-01T0{hour}:00:00.000Z",
        )
        for config, version, hour in named
    ]
    pages = [page for plan in plans for page in pages_of(plan, rows_of(plan, {"a": "p"}))]
    found = [each.version.config_ref for each in figures_of(folded(*pages))]
    assert found == [config_ref("ant", "v2"), config_ref("ant", "v1"), config_ref("zoo", "v1")]


def test_a_version_read_in_later_stands_where_its_attempts_were_made() -> None:
    facts = {"purpose": "import", "condition": "unknown"}
    new, old = (
        plan_of({"a": 1}, version=v, run=f"2026113{n}-2118-aaaa",
                planned_at=f"2026-12-0{n + 1}T00:00:00.000Z", **facts)
        for n, v in enumerate(("2025-09", "2025-08"))
    )  # fmt: skip
    pages = [
        page
        for plan in (new, old)
        for page in pages_of(
            plan, [row_of(plan, "a", 1, started_at=f"{plan.version}-10T00:00:00.000Z")]
        )
    ]
    found = figures_of(folded(*pages))
    assert [each.version.version for each in found] == ["2025-08", "2025-09"]
    assert found[0].runs[0].at == "2025-08-10T00:00:00.000Z"


def test_weights_move_the_task_rate_and_leave_the_attempt_rate_alone() -> None:
    rules = RULES | {"weights": ({"task": "a", "weight": "3"},)}
    figures = only({"a": "pp", "b": "ff"}, rules=rules).after
    assert figures.task_rate == Mean(Fraction(3, 4), 2)
    assert figures.attempt_rate == Fraction(1, 2)


def test_a_mean_says_over_how_many_tasks_it_goes() -> None:
    figures = only({"a": "ppp", "b": "p"}, rules=RULES).after
    assert figures.pass_hat[1].mean == Mean(Fraction(1), 1)
    assert figures.tasks[1].pass_hat[1].value is None


def test_an_infrastructure_error_changes_the_bound_and_not_the_passes() -> None:
    figures = only({"a": "ppii"}).before
    assert figures.attempt_rate == Fraction(1, 2)
    assert figures.attempt_rate_if_unjudged_passed == 1


@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "c", "d"]), st.text("pfti", min_size=1, max_size=6), min_size=1
    )
)
def test_the_order_of_attempts_inside_a_task_changes_no_figure(outcomes: dict[str, str]) -> None:
    turned = {task: letters[::-1] for task, letters in outcomes.items()}
    assert only(outcomes).before == only(turned).before


@given(st.text("pft", min_size=1, max_size=8), st.integers(1, 3))
def test_adding_infrastructure_errors_and_excluding_them_changes_no_rate(
    letters: str, errors: int
) -> None:
    plan = plan_of({"a": len(letters) + errors})
    rows = rows_of(plan, {"a": letters + "i" * errors})
    decisions = [
        page_of(exclusion_of(row, number=number))
        for number, row in enumerate(rows[len(letters) :], 1)
    ]
    (figures,) = figures_of(folded(*pages_of(plan, rows), *decisions))
    plain = only({"a": letters})
    assert figures.after.attempt_rate == plain.after.attempt_rate
    assert figures.after.pass_hat == plain.after.pass_hat
    assert figures.before.counts.counted == plain.before.counts.counted + errors
