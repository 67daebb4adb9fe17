"""Rule 5: rows are as planned, exclusions as the plan's policy allows."""

from typing import Any

import pytest
from tests.builders import config_ref, exclusion_of, plan_of, rerun_of, row_of, row_sha256, rows_of
from tests.store.verify.builder import Past, freeze_of, page, story

from evalbook.records.attempt import Attempt
from evalbook.records.plan import Plan
from evalbook.store.git import Repository

RULE = "agreed"
PLAN = plan_of({"complete": 2})


def _found(repository: Repository, row: Attempt) -> list[str]:
    """The messages about a row that PLAN should hold, each with its place checked."""
    past = Past(repository)
    past.commit(freeze_of(PLAN))
    past.commit(page(PLAN))
    leaf = page(row, plan=PLAN)
    commit = past.commit(leaf)
    found = past.verified().findings
    places = {(f.severity, f.rule, f.commit, f.path, f.line) for f in found}
    assert places <= {("violation", RULE, past.id(commit), leaf.path, 1)}
    return [finding.message for finding in found]


@pytest.mark.parametrize("name", ["input_sha256", "initial_state_ref", "grader_ref"])
def test_a_row_with_other_material_than_planned_is_a_violation(
    repository: Repository, name: str
) -> None:
    changes: dict[str, Any] = {name: "0" * 64}
    (message,) = _found(repository, row_of(PLAN, "complete", 1, **changes))
    assert message.startswith(f"{name} is 000000000000, the plan says ")


def test_a_row_whose_grader_is_unknown_is_a_violation_in_a_run_of_our_own(
    repository: Repository,
) -> None:
    (message,) = _found(repository, row_of(PLAN, "complete", 1, grader_ref="unknown"))
    assert message.startswith("grader_ref is unknown, the plan says ")


def test_a_row_of_another_version_than_planned_is_a_violation(repository: Repository) -> None:
    (message,) = _found(
        repository, row_of(PLAN, "complete", 1, config_ref=config_ref("agent", "v2"))
    )
    assert message == f"config_ref is {config_ref('agent', 'v2')}, the plan says {PLAN.config_ref}"


@pytest.mark.parametrize(("task", "number"), [("complete", 3), ("other", 1)])
def test_a_row_that_was_never_planned_is_a_violation(
    repository: Repository, task: str, number: int
) -> None:
    (message,) = _found(repository, row_of(PLAN, task, number))
    assert message == f"attempt {PLAN.run_id}/{task}/{number} was never planned"


def test_a_row_with_another_seed_than_planned_is_a_violation(repository: Repository) -> None:
    facts = PLAN.model_dump()
    facts["tasks"][0]["attempts"][0]["seed"] = 11
    plan = Plan.model_validate(facts)
    past = Past(repository)
    past.commit(freeze_of(plan))
    past.commit(page(plan))
    past.commit(page(row_of(plan, "complete", 1, seed=12), plan=plan))
    (finding,) = past.verified().findings
    assert finding.message == "seed is 12, the plan says 11"


def test_rows_without_any_plan_are_a_violation_each(repository: Repository) -> None:
    past = Past(repository)
    past.commit(freeze_of(PLAN))
    past.commit(page(*rows_of(PLAN, {"complete": "pp"}), plan=PLAN))
    found = past.verified().findings
    assert [(f.rule, f.line) for f in found] == [(RULE, 1), (RULE, 2)]
    assert {f.message for f in found} == {f"run {PLAN.run_id} has no plan in the book"}


def test_a_rerun_that_was_planned_as_an_ordinary_attempt_is_a_violation(
    repository: Repository,
) -> None:
    book = story(repository)
    plan = plan_of({"missing": 1}, run="20261130-2200-aaaa")
    original = book.rows[4]
    row = row_of(
        plan, "missing", 1, rerun_of=original.attempt_id, rerun_of_sha256=row_sha256(original)
    )
    book.past.commit(page(plan))
    book.past.commit(page(row, plan=plan))
    (finding,) = book.past.verified().findings
    assert finding.message == f"it reruns {original.attempt_id}, the plan says nothing"


def test_a_planned_rerun_that_poses_as_an_ordinary_attempt_is_a_violation(
    repository: Repository,
) -> None:
    book = story(repository)
    plan, _ = rerun_of(book.plan, book.rows[4])
    row = row_of(plan, "missing", 2)
    book.past.commit(page(plan))
    book.past.commit(page(row, plan=plan))
    (finding,) = book.past.verified().findings
    assert finding.message == f"it reruns nothing, the plan says {book.rows[4].attempt_id}"


def test_an_exclusion_outside_the_policy_is_a_violation(repository: Repository) -> None:
    book = story(repository)
    leaf = page(exclusion_of(book.rows[1], number=7))
    commit = book.past.commit(leaf)
    (finding,) = book.past.verified().findings
    assert finding[:2] == ("violation", RULE)
    assert finding[3:] == (book.past.id(commit), leaf.path, 1)
    assert finding.message == (
        f"exclusion of {book.rows[1].attempt_id} is outside the policy: "
        "its verdict is fail, which is no ground for infra_error"
    )


def test_an_exclusion_on_a_ground_that_was_not_agreed_is_a_violation(
    repository: Repository,
) -> None:
    book = story(repository)
    book.past.commit(page(exclusion_of(book.rows[4], number=7, ground="unjudged")))
    (finding,) = book.past.verified().findings
    assert finding.message.endswith("allows exclusion for infra_error, not for unjudged")
