"""Comparing rows of tables, in order or as a bag."""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import zip_longest
from typing import Literal, NamedTuple

from evalbook.run.checks.answers import Answer, listed


class Row(NamedTuple):
    """One row of a table."""

    key: tuple[Hashable, ...]
    """What decides whether two rows are equal."""
    shown: str
    where: str
    """``row 3``."""


def compare_rows(
    expected: Sequence[Row], actual: Sequence[Row], order: Literal["same", "any"], where: str
) -> Answer:
    """Return whether the rows are the same ones, equally often, and in the same order if asked.

    ``where`` names the file; the first row that differs is shown.
    """
    if order == "same":
        return _in_order(expected, actual, where)
    wanted, found = Counter(row.key for row in expected), Counter(row.key for row in actual)
    missing, extra = wanted - found, found - wanted
    if not missing and not extra:
        return _held(len(expected), where)
    return _failed(
        _first(expected, missing), _first(actual, extra), len(missing), len(extra), where
    )


def _held(rows: int, where: str) -> Answer:
    return Answer("held", _number(rows), f"{_number(rows)}, all equal", where)


def _number(rows: int) -> str:
    return f"{rows} row" if rows == 1 else f"{rows} rows"


class _Odd(NamedTuple):
    """The first row that only one side has, or has more often."""

    row: Row
    times: int


def _first(rows: Sequence[Row], surplus: Counter[tuple[Hashable, ...]]) -> _Odd | None:
    return next((_Odd(row, surplus[row.key]) for row in rows if row.key in surplus), None)


def _failed(
    missing: _Odd | None, extra: _Odd | None, missing_kinds: int, extra_kinds: int, where: str
) -> Answer:
    if missing is None:
        expected = "no more rows than the reference"
    else:
        expected = missing.row.shown + _times(missing.times, missing_kinds)
    if extra is None:
        return Answer("failed", expected, "no such row", where)
    actual = extra.row.shown + _times(extra.times, extra_kinds)
    return Answer("failed", expected, actual, f"{where}, {extra.row.where}")


def _times(times: int, kinds: int) -> str:
    words = [f"{times} times"] if times > 1 else []
    words += [f"and {kinds - 1} more rows"] if kinds > 1 else []
    return f" ({', '.join(words)})" if words else ""


def _in_order(expected: Sequence[Row], actual: Sequence[Row], where: str) -> Answer:
    for wanted, found in zip_longest(expected, actual):
        if wanted is None:
            return Answer("failed", "no more rows", found.shown, f"{where}, {found.where}")
        if found is None:
            return Answer("failed", wanted.shown, "no more rows", f"{where}, {wanted.where}")
        if wanted.key != found.key:
            same = Counter(row.key for row in expected) == Counter(row.key for row in actual)
            note = " (the rows are right, their order is not)" if same else ""
            return Answer("failed", wanted.shown, found.shown + note, f"{where}, {found.where}")
    return _held(len(expected), where)


def missing_and_extra(expected: Sequence[str], actual: Sequence[str]) -> str | None:
    """Say which column names are missing and which are too many; None when they agree."""
    missing = [name for name in expected if name not in actual]
    extra = [name for name in actual if name not in expected]
    words = [f"without {listed(missing)}"] if missing else []
    words += [f"with {listed(extra)} besides"] if extra else []
    return ", ".join(words) or None
