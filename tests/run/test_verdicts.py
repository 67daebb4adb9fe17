"""One verdict from many outcomes: every required check must hold."""

from decimal import Decimal
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbook.records.attempt import CheckOutcome, TouchedFile
from evalbook.records.task import Task
from evalbook.run.verdicts import judge, own_checks

Outcome = Literal["held", "failed", "error"]


def outcome(name: str, what: Outcome, *, critical: bool = False) -> CheckOutcome:
    return CheckOutcome(name=name, outcome=what, critical=critical)


def task(forbid: str = "[]") -> Task:
    return Task.model_validate_json(
        f'{{"title": "T", "time_limit_s": 5, "forbid": {forbid},'
        ' "check": [{"name": "c", "kind": "file_exists", "file": "x"}]}'
    )


@pytest.mark.parametrize(
    ("outcomes", "verdict", "failed"),
    [
        ({"time_limit": "held", "a": "held"}, "pass", ()),
        ({"time_limit": "held", "a": "failed"}, "fail", ("a",)),
        ({"time_limit": "failed", "a": "held"}, "timeout", ("time_limit",)),
        ({"time_limit": "failed", "a": "failed"}, "timeout", ("time_limit", "a")),
        ({"forbidden_paths": "failed", "time_limit": "failed"}, "fail", ("forbidden_paths", "time_limit")),
        ({"forbidden_paths": "failed", "a": "error"}, "fail", ("forbidden_paths",)),
        ({"time_limit": "failed", "a": "error"}, "timeout", ("time_limit",)),
        ({"a": "failed", "b": "error"}, "fail", ("a",)),
        ({"a": "held", "b": "error"}, "infra_error", ()),
    ],
)  # fmt: skip
def test_verdicts(outcomes: dict[str, Outcome], verdict: str, failed: tuple[str, ...]) -> None:
    judgement = judge([outcome(name, what) for name, what in outcomes.items()])

    assert (judgement.verdict, judgement.failed_checks) == (verdict, failed)
    assert judgement.judged == (verdict != "infra_error")


def test_critical_failures_come_first_and_then_as_declared() -> None:
    judgement = judge(
        [
            outcome("b", "failed"),
            outcome("z", "failed", critical=True),
            outcome("a", "failed"),
            outcome("y", "failed", critical=True),
        ]
    )

    assert judgement.failed_checks == ("z", "y", "b", "a")


@given(st.lists(st.sampled_from(["held", "failed", "error"]), min_size=1))
def test_an_attempt_passes_exactly_when_everything_held(outcomes: list[Outcome]) -> None:
    judgement = judge([outcome(f"c{n}", what) for n, what in enumerate(outcomes)])

    assert (judgement.verdict == "pass") == (set(outcomes) == {"held"})
    assert (judgement.verdict == "fail") == ("failed" in outcomes)


@pytest.mark.parametrize(
    ("path", "caught"),
    [("tests/a.py", True), ("tests/deep/b.py", True), ("lock", True), ("src/tests/a.py", False), ("lock2", False)],
)  # fmt: skip
def test_forbidden_paths_are_globs_over_whole_paths(path: str, caught: bool) -> None:
    touched = [TouchedFile(path=path, change="created")]

    own = own_checks(task('["tests/**", "lock"]'), touched, Decimal(1), stopped=False)

    assert [(each.name, each.outcome) for each in own] == [
        ("forbidden_paths", "failed" if caught else "held"),
        ("time_limit", "held"),
    ]


def test_a_flood_of_forbidden_paths_is_counted_not_listed() -> None:
    touched = [TouchedFile(path=f"{n:04}", change="created") for n in range(1_000)]

    (forbidden, _) = own_checks(task('["*"]'), touched, Decimal(1), stopped=False)

    assert forbidden.actual == "touched 0000, 0001, 0002, 0003, 0004 and 995 more"


def test_a_task_that_forbids_nothing_has_no_such_check() -> None:
    assert [each.name for each in own_checks(task(), [], Decimal(1), stopped=True)] == [
        "time_limit"
    ]
