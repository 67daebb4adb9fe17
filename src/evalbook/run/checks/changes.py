"""Checks on what the agent touched, and on how long it took."""

from decimal import Decimal

from evalbook.records.checks import OnlyChanged, Unchanged, WithinTime
from evalbook.run.checks.context import Finding, GradeContext, failed, held, quoted
from evalbook.run.checks.globs import matches


def unchanged(check: Unchanged, context: GradeContext) -> Finding:
    """Answer whether everything that matches stands as it was at the start."""
    expected = f"{', '.join(check.files)} as at the start"
    touched = [each for each in context.touched if matches(each.path, check.files)]
    if touched:
        said = ", ".join(f"{each.path} {each.change}" for each in touched)
        return failed(expected, quoted(said, 800), touched[0].path)
    return held(expected)


def only_changed(check: OnlyChanged, context: GradeContext) -> Finding:
    """Answer whether nothing was touched but what matches."""
    expected = f"nothing touched but {', '.join(check.files)}"
    others = [each for each in context.touched if not matches(each.path, check.files)]
    if others:
        said = ", ".join(f"{each.path} {each.change}" for each in others)
        return failed(expected, quoted(said, 800), others[0].path)
    return held(expected)


def within_time(check: WithinTime, context: GradeContext) -> Finding:
    """Answer whether the agent took at most so many seconds."""
    expected = f"at most {check.seconds} s"
    actual = f"{context.elapsed_seconds} s"
    if context.elapsed_seconds > Decimal(check.seconds):
        return failed(expected, actual)
    return held(expected, actual)
