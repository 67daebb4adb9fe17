"""What failed: checks, critical ones above all, and the classes of failure they stand for."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from evalbook.derive.book import Entry
from evalbook.records.attempt import CheckOutcome
from evalbook.records.fields import AttemptId, CheckName, FailureClass


class CheckFailures(NamedTuple):
    """How often one check of one task did not hold."""

    task_id: str
    check: CheckName
    critical: bool
    failed: tuple[AttemptId, ...]
    """In order."""
    broke: tuple[AttemptId, ...]
    """Attempts in which the check itself broke down, which is no failure of the agent."""
    graded: int
    """Attempts in which it was evaluated."""


class _Outcome(NamedTuple):
    attempt_id: AttemptId
    check: CheckOutcome


class ClassCount(NamedTuple):
    """In how many attempts one class of failure was seen."""

    failure_class: FailureClass
    attempts: int


def check_failures(entries: Iterable[Entry]) -> tuple[CheckFailures, ...]:
    """Return every check that some attempt did not meet: critical first, then most often failed."""
    seen: dict[tuple[str, str], list[_Outcome]] = defaultdict(list)
    for entry in entries:
        row = entry.attempt
        for check in row.checks:
            seen[row.task_id, check.name].append(_Outcome(row.attempt_id, check))
    found = [
        CheckFailures(
            task_id=task,
            check=name,
            critical=any(each.check.critical for each in outcomes),
            failed=tuple(o.attempt_id for o in outcomes if o.check.outcome == "failed"),
            broke=tuple(o.attempt_id for o in outcomes if o.check.outcome == "error"),
            graded=len(outcomes),
        )
        for (task, name), outcomes in seen.items()
    ]
    return tuple(
        sorted(
            (each for each in found if each.failed or each.broke),
            key=lambda each: (not each.critical, -len(each.failed), each.task_id, each.check),
        )
    )


def failure_classes(entries: Iterable[Entry]) -> tuple[ClassCount, ...]:
    """Return the classes of failure, most frequent first; an attempt counts once per class."""
    counts: Counter[FailureClass] = Counter()
    for entry in entries:
        counts.update(
            {
                check.failure_class
                for check in entry.attempt.checks
                if check.outcome == "failed" and check.failure_class is not None
            }
        )
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(ClassCount(name, count) for name, count in ordered)
