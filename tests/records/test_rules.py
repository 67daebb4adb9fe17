from typing import Any

import pytest
from tests.records.test_pages import row

from evalbook.records.decision import exclusion_refusal
from evalbook.records.evaluation import Evaluation, Rules
from evalbook.records.plan import Plan
from evalbook.records.task import Task


def rules(*allowed: str) -> Rules:
    return Rules.model_validate({"attempts": 5, "exclusion": {"allowed": tuple(allowed)}})


def test_an_exclusion_needs_a_ground_that_was_agreed_and_holds() -> None:
    broken = row(verdict="infra_error", judged=False)
    assert exclusion_refusal(broken, "infra_error", rules("infra_error")) is None
    assert exclusion_refusal(broken, "unjudged", rules("unjudged")) is None
    assert "allows exclusion for nothing" in str(exclusion_refusal(broken, "infra_error", rules()))
    assert "no ground for timeout" in str(exclusion_refusal(broken, "timeout", rules("timeout")))


def test_a_plain_failure_can_never_be_excluded() -> None:
    failed = row(verdict="fail")
    for ground in ("infra_error", "timeout", "unjudged"):
        assert (
            exclusion_refusal(failed, ground, rules("infra_error", "timeout", "unjudged"))
            is not None
        )


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"k": (3, 1)}, "ascending"),
        ({"k": ()}, "ascending"),
        ({"attempts": 0}, "attempts"),
        ({"attempts": 5, "seeds": (1, 2)}, "2 entries for 5 attempts"),
        ({"weights": ({"task": "a", "weight": 0},)}, "weight"),
        ({"stability": {"max_range": 1.5}}, "max_range"),
    ],
)
def test_rules_that_contradict_themselves_are_refused(facts: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Rules.model_validate({"attempts": 5} | facts)


def test_people_may_write_numbers_where_the_book_keeps_decimal_text() -> None:
    made = Rules.model_validate({"attempts": 1, "stability": {"max_range": 0.15}})
    assert made.stability.max_range == "0.15"


def test_a_plan_takes_the_rules_along_without_the_title() -> None:
    evaluation = Evaluation(title="Inventory", attempts=5, k=(1, 3))
    assert type(evaluation.rules()) is Rules
    assert evaluation.rules().k == (1, 3)


def test_two_checks_of_a_task_have_two_names() -> None:
    check = {"kind": "file_exists", "name": "there", "file": "a"}
    with pytest.raises(ValueError, match="two checks are named 'there'"):
        Task.model_validate({"title": "T", "time_limit_s": 1, "check": (check, check)})


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "a\\b", "a\nb", ""])
def test_a_check_can_only_name_files_of_its_folder(path: str) -> None:
    check = {"kind": "file_exists", "name": "there", "file": path}
    with pytest.raises(ValueError, match="file"):
        Task.model_validate({"title": "T", "time_limit_s": 1, "check": (check,)})


def planned(**changes: Any) -> Plan:
    task = {
        "task_id": "complete", "input_sha256": "b" * 64, "initial_state_ref": "c" * 64,
        "grader_ref": "d" * 64, "attempts": ({"number": 1}, {"number": 2}),
    }  # fmt: skip
    facts: dict[str, Any] = {
        "record": "plan/1", "run_id": "20261130-2118-k3f9", "evaluation": "inventory",
        "config": "agent", "version": "v1", "config_ref": f"agent@v1:{'a' * 64}",
        "planned_at": "2026-11-30T21:18:04.123Z", "planned_by": "A Person <a@example.org>",
        "purpose": "measure", "rules": {"attempts": 2}, "seeds": "none", "condition": "live",
        "tasks": (task,), "tool": "evalbook 0.1.0",
    }  # fmt: skip
    return Plan.model_validate(facts | changes)


def test_a_plan_counts_and_names_every_attempt() -> None:
    assert planned().planned == 2
    assert planned().attempt_id("complete", 2) == "20261130-2118-k3f9/complete/2"


def test_a_plan_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="config_ref"):
        planned(version="v2")
    with pytest.raises(ValueError, match="sorted"):
        planned(tasks=(planned().tasks[0], planned().tasks[0]))
