"""Exact estimates from counts of passes."""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

Share = Fraction | float
"""A share in [0, 1]: exact up to `EXACT_ATTEMPTS`, the nearest float beyond."""

EXACT_ATTEMPTS = 100
_MULTIPLIED_TERMS = 10_000
"""Up to here whole numbers are multiplied out and divided once, which rounds correctly and the same
everywhere; beyond, logarithms are summed. ``math.comb(10**6, 5 * 10**5)`` would take minutes."""


class Weighted(NamedTuple):
    """One task's share, and how much it counts."""

    value: Share
    weight: Fraction
    """Greater than 0."""


class Mean(NamedTuple):
    """A weighted mean over the tasks that have a value."""

    value: Share | None
    """None: no task has one."""
    tasks: int
    """How many tasks it is the mean of."""


def rate(passes: int, attempts: int) -> Share | None:
    """Return the share of passes; None where there were no attempts, which is not 0.

    Raises:
        ValueError: unless 0 <= passes <= attempts.
    """
    _check(attempts, passes, 1)
    if attempts == 0:
        return None
    return Fraction(passes, attempts) if attempts <= EXACT_ATTEMPTS else passes / attempts


def pass_hat(n: int, c: int, k: int) -> Share | None:
    """Return pass^k, the chance that k attempts drawn from these n all pass: C(c,k)/C(n,k).

    Unbiased for p^k, where (c/n)^k is not. None where n < k: nothing is known then.

    Raises:
        ValueError: unless 0 <= c <= n and k >= 1.
    """
    _check(n, c, k)
    if n < k:
        return None
    if n <= EXACT_ATTEMPTS:
        return Fraction(math.comb(c, k), math.comb(n, k))
    return _ratio(n, c, k)


def pass_at(n: int, c: int, k: int) -> Share | None:
    """Return pass@k, the chance that at least one of k attempts drawn from these n passes.

    1 − C(n−c,k)/C(n,k), unbiased for 1 − (1−p)^k. None where n < k, even with no pass at all.

    Raises:
        ValueError: unless 0 <= c <= n and k >= 1.
    """
    none_passes = pass_hat(n, n - c, k)
    return None if none_passes is None else 1 - none_passes


def weighted_mean(values: Iterable[Weighted]) -> Mean:
    """Return the weighted mean; exact while all values are, else summed without order mattering."""
    found = tuple(values)
    if not found:
        return Mean(None, 0)
    total = sum((each.weight for each in found), Fraction(0))
    if all(isinstance(each.value, Fraction) for each in found):
        weighed = sum((each.weight * Fraction(each.value) for each in found), Fraction(0))
        return Mean(weighed / total, len(found))
    floats = math.fsum(float(each.weight) * float(each.value) for each in found)
    return Mean(min(1.0, floats / float(total)), len(found))


def _check(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n or k < 1:
        raise ValueError(f"{c} passes of {n} attempts, k = {k}: can't be")


def _ratio(n: int, c: int, k: int) -> float:
    """Return C(c,k)/C(n,k) for any size, by the shorter of its two products.

    With b = n−c failures it is ∏(1 − b/(n−i)) over k terms, and as well ∏(1 − k/(n−i)) over b
    terms, since C(c,k)/C(n,k) = C(n−k,b)/C(n,b).
    """
    failures = n - c
    if c < k:
        return 0.0
    terms, less = min(failures, k), max(failures, k)
    if terms <= _MULTIPLIED_TERMS:
        above = math.prod(range(n - terms + 1 - less, n + 1 - less))
        return above / math.prod(range(n - terms + 1, n + 1))
    return math.exp(math.fsum(math.log1p(-less / (n - i)) for i in range(terms)))
