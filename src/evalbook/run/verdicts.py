"""From what the checks found to one verdict."""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from evalbook.base.times import decimal_text
from evalbook.records.attempt import CheckOutcome, TouchedFile
from evalbook.records.fields import Verdict
from evalbook.records.task import Task
from evalbook.run.checks.globs import matches
from evalbook.run.evaluations import FORBIDDEN_PATHS, TIME_LIMIT

_NAMED_MAX = 5


class Judgement(NamedTuple):
    """A verdict and what it rests on."""

    verdict: Verdict
    failed_checks: tuple[str, ...]
    """Critical ones first, then as declared."""

    @property
    def judged(self) -> bool:
        """False: no verdict of its own, because something that is not the agent broke down."""
        return self.verdict != "infra_error"


def own_checks(
    task: Task, touched: Sequence[TouchedFile], elapsed_s: Decimal, *, stopped: bool
) -> tuple[CheckOutcome, ...]:
    """Return the outcomes of the checks that a task has without declaring them.

    ``stopped``: the agent was still running when its time was up.
    """
    limit = CheckOutcome(
        name=TIME_LIMIT,
        outcome="failed" if stopped else "held",
        expected=f"done within {task.time_limit_s} s",
        actual=f"still running after {task.time_limit_s} s"
        if stopped
        else f"done after {decimal_text(elapsed_s)} s",
        failure_class="budget_exhausted" if stopped else None,
    )
    if not task.forbid:
        return (limit,)
    wrong = [each.path for each in touched if matches(each.path, task.forbid)]
    more = f" and {len(wrong) - _NAMED_MAX} more" if len(wrong) > _NAMED_MAX else ""
    forbidden = CheckOutcome(
        name=FORBIDDEN_PATHS,
        outcome="failed" if wrong else "held",
        critical=True,
        expected=f"nothing touched that matches {', '.join(task.forbid)}"[:2_000],
        actual=(f"touched {', '.join(wrong[:_NAMED_MAX])}{more}" if wrong else "as expected")[
            :2_000
        ],
        evidence=wrong[0][:2_000] if wrong else "",
        failure_class="out_of_bounds" if wrong else None,
    )
    return (forbidden, limit)


def judge(outcomes: Sequence[CheckOutcome]) -> Judgement:
    """Return the verdict over all outcomes, a task's own checks among them.

    A forbidden path touched decides whatever else holds; then the time limit. A failed check is a
    failure even when another one broke down: all are required, so the broken one could not have
    mended it, and no agent can hide a failure by breaking a grader. Only without any failure does a
    broken check leave the attempt without a verdict of its own.
    """
    failed = [each for each in outcomes if each.outcome == "failed"]
    ranked = sorted(failed, key=lambda each: not each.critical)  # stable: then as declared
    names = tuple(each.name for each in ranked)
    if FORBIDDEN_PATHS in names:
        return Judgement("fail", names)
    if TIME_LIMIT in names:
        return Judgement("timeout", names)
    if names:
        return Judgement("fail", names)
    if any(each.outcome == "error" for each in outcomes):
        return Judgement("infra_error", ())
    return Judgement("pass", ())
