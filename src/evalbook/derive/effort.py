"""What attempts took: time, money, tool calls tried again, people's time."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from evalbook.records.attempt import Attempt
from evalbook.records.fields import Currency


class Sum(NamedTuple):
    """A sum over the attempts that reported the number."""

    total: Decimal
    known: int
    """How many attempts reported it."""
    unknown: int
    """How many did not; they are not counted as 0."""


class Money(NamedTuple):
    """Known costs in one currency; currencies are never added up."""

    currency: Currency
    total: Decimal
    known: int


class Effort(NamedTuple):
    """What some attempts took, failures included."""

    attempts: int
    elapsed_seconds: Sum
    """Wall clock of the agents, not of the grading."""
    costs: tuple[Money, ...]
    """By currency, sorted."""
    costs_unknown: int
    human_hints: Sum
    human_seconds: Sum
    tool_retries: Sum
    """Tool calls tried again inside an attempt."""
    steps: Sum
    tokens: Sum
    """In and out together."""


def effort_of(attempts: Iterable[Attempt]) -> Effort:
    """Return what ``attempts`` took; an unknown number stays unknown and is counted as such."""
    rows = tuple(attempts)
    costs: dict[str, list[Decimal]] = defaultdict(list)
    for row in rows:
        if row.currency is not None and row.cost != "unknown":
            costs[row.currency].append(Decimal(row.cost))
    return Effort(
        attempts=len(rows),
        elapsed_seconds=_sum(_decimal(row.elapsed_seconds) for row in rows),
        costs=tuple(
            Money(currency, sum(amounts, Decimal(0)), len(amounts))
            for currency, amounts in sorted(costs.items())
        ),
        costs_unknown=sum(row.cost == "unknown" for row in rows),
        human_hints=_sum(_decimal(row.human_help) for row in rows),
        human_seconds=_sum(_decimal(row.human_seconds) for row in rows),
        tool_retries=_sum(_decimal(row.tool_retries) for row in rows),
        steps=_sum(_decimal(row.steps) for row in rows),
        tokens=_sum(_tokens(row) for row in rows),
    )


def _decimal(value: str | int | None) -> Decimal | None:
    return None if value is None else Decimal(value)


def _tokens(row: Attempt) -> Decimal | None:
    if row.tokens_in is None or row.tokens_out is None:
        return None
    return Decimal(row.tokens_in + row.tokens_out)


def _sum(values: Iterable[Decimal | None]) -> Sum:
    found = tuple(values)
    known = tuple(value for value in found if value is not None)
    return Sum(sum(known, Decimal(0)), len(known), len(found) - len(known))
