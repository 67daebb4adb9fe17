"""Weak spots of a task's checks, told before anything runs."""

from collections.abc import Mapping

from evalbook.records.checks import (
    WEAK_KINDS,
    FileAbsent,
    JsonEquals,
    OnlyChanged,
    Unchanged,
    WithinTime,
)
from evalbook.records.task import Task

_HOLD_AT_ONCE = (FileAbsent, OnlyChanged, Unchanged, WithinTime)
"""Kinds that mostly hold where nothing was done."""


def lint(task: Task) -> tuple[str, ...]:
    """Return one line for every weak spot of a task, in the order of its checks; none: nothing found."""
    found = []
    for check in task.check:
        if check.kind in WEAK_KINDS:
            found.append(f"check {check.name!r} is weak: it reads words, not the state")
        if isinstance(check, JsonEquals):
            found += _value_doubts(check)
    if all(check.kind in WEAK_KINDS for check in task.check):
        found.append("every check is weak: an agent can pass by talking")
    if not task.negative and all(isinstance(check, _HOLD_AT_ONCE) for check in task.check):
        found.append("every check holds at the start: an agent that does nothing would pass")
    return tuple(found)


def _value_doubts(check: JsonEquals) -> list[str]:
    if check.expected is not None and check.value is not None:
        return [f"check {check.name!r} has 'expected' and 'value': only 'expected' is used"]
    if check.expected is None and check.value is None:
        return [f"check {check.name!r} has neither 'expected' nor 'value': it compares with null"]
    return []


def lint_suite(tasks: Mapping[str, Task]) -> tuple[str, ...]:
    """Return the weak spots of all tasks, each with its task's id, and those of the suite as a whole."""
    found = [f"{task_id}: {line}" for task_id in sorted(tasks) for line in lint(tasks[task_id])]
    if tasks and not any(task.negative for task in tasks.values()):
        found.append(
            "no task says `negative = true`: nothing shows that an agent asks, stops or leaves "
            "alone where that is right"
        )
    return tuple(found)
