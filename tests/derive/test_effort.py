"""What attempts took, and what is not known of it."""

from decimal import Decimal

from tests.builders import plan_of, row_of

from evalbook.derive.effort import Money, Sum, effort_of

PLAN = plan_of({"a": 4})


def test_failures_count_like_passes_and_sums_are_exact() -> None:
    rows = [
        row_of(PLAN, "a", 1, "f", elapsed_seconds="40", cost="0.08", currency="CNY"),
        row_of(PLAN, "a", 2, "p", elapsed_seconds="55", cost="0.11", currency="CNY", human_seconds="30"),
    ]  # fmt: skip
    found = effort_of(rows)
    assert found.elapsed_seconds == Sum(Decimal(95), 2, 0)
    assert found.costs == (Money("CNY", Decimal("0.19"), 2),)
    assert (found.costs_unknown, found.human_seconds) == (0, Sum(Decimal(30), 1, 1))


def test_unknown_is_counted_and_never_zero() -> None:
    found = effort_of([row_of(PLAN, "a", 1, elapsed_seconds=None, human_help=None)])
    assert found.elapsed_seconds == found.human_hints == Sum(Decimal(0), 0, 1)
    assert (found.costs, found.costs_unknown) == ((), 1)


def test_currencies_are_never_added_up() -> None:
    rows = [
        row_of(PLAN, "a", number, cost=cost, currency=currency)
        for number, (cost, currency) in enumerate((("1", "USD"), ("2", "CNY"), ("3", "USD")), 1)
    ]
    assert effort_of(rows).costs == (Money("CNY", Decimal(2), 1), Money("USD", Decimal(4), 2))


def test_tokens_are_known_only_where_both_ways_are() -> None:
    rows = [
        row_of(PLAN, "a", 1, tokens_in=10, tokens_out=5),
        row_of(PLAN, "a", 2, tokens_in=10),
    ]
    assert effort_of(rows).tokens == Sum(Decimal(15), 1, 1)
