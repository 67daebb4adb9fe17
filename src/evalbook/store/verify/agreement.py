"""Rule 5, agreed: rows are as planned, plans as frozen, exclusions as the policy allowed."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evalbook.base.problems import Finding
from evalbook.records.attempt import Attempt
from evalbook.records.decision import Exclusion, exclusion_refusal
from evalbook.records.fields import attempt_parts
from evalbook.records.plan import Plan, PlannedAttempt, PlannedTask
from evalbook.store.verify.catalogue import Catalogue, Key
from evalbook.store.verify.order import Link

RULE = "agreed"

REFERENCES = ("input_sha256", "initial_state_ref", "grader_ref")
"""What a row says of its task's material."""


def agreed(catalogue: Catalogue) -> Iterator[Finding | Link]:
    """Yield every row that is not as its plan says, and every exclusion its plan forbids.

    Every row must come in a later commit than its plan.
    """
    promises: dict[Key, _Promise] = {
        key: _promise(plan.record) for key, plan in catalogue.plans.items()
    }
    linked: set[tuple[str, str]] = set()
    for row in catalogue.attempts.values():
        run = attempt_parts(row.record.attempt_id).run
        key = Key(row.evaluation, run)
        plan = catalogue.plans.get(key)
        if plan is None:
            message = f"run {run} has no plan in the book"
            yield catalogue.finding(catalogue.absence, RULE, message, row.place)
            continue
        if (plan.place.path, row.place.path) not in linked:
            linked.add((plan.place.path, row.place.path))
            yield Link(plan.place, row.place, f"a row of run {run}", "its plan")
        for message in _broken(row.record, promises[key]):
            yield catalogue.finding("violation", RULE, message, row.place)
    yield from _exclusions(catalogue)


class _Promise(NamedTuple):
    """A plan, ready to be asked."""

    plan: Plan
    tasks: Mapping[str, PlannedTask]
    attempts: Mapping[str, PlannedAttempt]
    """By attempt id."""


def _promise(plan: Plan) -> _Promise:
    attempts = {
        plan.attempt_id(task.task_id, attempt.number): attempt
        for task in plan.tasks
        for attempt in task.attempts
    }
    return _Promise(plan, {task.task_id: task for task in plan.tasks}, attempts)


def _broken(row: Attempt, promise: _Promise) -> Iterator[str]:
    """Yield what the row does otherwise than its plan says."""
    task, planned = promise.tasks.get(row.task_id), promise.attempts.get(row.attempt_id)
    if task is None or planned is None:
        yield f"attempt {row.attempt_id} was never planned"
        return
    if row.config_ref != promise.plan.config_ref:
        yield f"config_ref is {row.config_ref}, the plan says {promise.plan.config_ref}"
    for name in REFERENCES:
        said, meant = getattr(row, name), getattr(task, name)
        if said != meant:
            yield f"{name} is {_short(said)}, the plan says {_short(meant)}"
    if None not in {row.seed, planned.seed} and row.seed != planned.seed:
        yield f"seed is {row.seed}, the plan says {planned.seed}"
    may_retry = promise.plan.purpose == "import" or promise.plan.rules.retry.max_attempts > 1
    if row.request_id != row.attempt_id and not may_retry:
        yield f"request_id is {row.request_id}, but the plan allows no retries"
    # A source's own reruns are told by its rows alone.
    if row.rerun_of != planned.rerun_of and promise.plan.purpose != "import":
        yield f"it reruns {row.rerun_of or 'nothing'}, the plan says {planned.rerun_of or 'nothing'}"


def _short(reference: str) -> str:
    return reference[:12]


def _exclusions(catalogue: Catalogue) -> Iterator[Finding]:
    for placed in catalogue.decisions.values():
        decision = placed.record
        if not isinstance(decision, Exclusion):
            continue
        row = catalogue.attempts.get(Key(placed.evaluation, decision.subject))
        run = attempt_parts(decision.subject).run
        plan = catalogue.plans.get(Key(placed.evaluation, run))
        if row is None or plan is None:
            continue  # a finding already
        refusal = exclusion_refusal(row.record, decision.ground, plan.record.rules)
        if refusal:
            message = f"exclusion of {decision.subject} is outside the policy: {refusal}"
            yield catalogue.finding("violation", RULE, message, placed.place)
