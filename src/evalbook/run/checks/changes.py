"""Checks of what an attempt touched, or how long it took."""

from collections.abc import Sequence
from decimal import Decimal

from evalbook.base.times import decimal_text
from evalbook.records.attempt import TouchedFile
from evalbook.records.checks import OnlyChanged, Unchanged, WithinTime
from evalbook.run.checks.answers import Answer, listed
from evalbook.run.checks.globs import matches


def unchanged(check: Unchanged, touched: Sequence[TouchedFile]) -> Answer:
    """Hold when nothing that matches was created, changed or deleted."""
    wrong = [each for each in touched if matches(each.path, check.files)]
    return _answer(wrong, f"{listed(check.files)} as at the start", "not touched")


def only_changed(check: OnlyChanged, touched: Sequence[TouchedFile]) -> Answer:
    """Hold when all that was created, changed or deleted matches; nothing touched holds too."""
    wrong = [each for each in touched if not matches(each.path, check.files)]
    return _answer(wrong, f"nothing touched but {listed(check.files)}", "nothing else touched")


def _answer(wrong: Sequence[TouchedFile], expected: str, right: str) -> Answer:
    if not wrong:
        return Answer("held", expected, right)
    said = listed([f"{each.path} {each.change}" for each in wrong])
    return Answer("failed", expected, said, wrong[0].path)


def within_time(check: WithinTime, elapsed_seconds: Decimal) -> Answer:
    """Hold when the agent took at most that many seconds, to the millisecond."""
    return Answer(
        "held" if elapsed_seconds <= Decimal(check.seconds) else "failed",
        f"at most {check.seconds} s",
        f"{decimal_text(elapsed_seconds)} s",
    )
