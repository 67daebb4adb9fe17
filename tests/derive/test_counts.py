"""The reference values P1 to P20 of the statistics, and the laws that hold for every count."""

import math
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbook.derive.counts import Mean, Weighted, pass_at, pass_hat, rate, weighted_mean

ONE = Fraction(1)


def test_p1_pass_at_3_of_five_attempts() -> None:
    assert [pass_at(5, c, 3) for c in (5, 3, 1)] == [1, 1, Fraction(3, 5)]


def test_p2_pass_hat_3_of_five_attempts() -> None:
    assert [pass_hat(5, c, 3) for c in (5, 3, 1)] == [1, Fraction(1, 10), 0]


def test_p3_the_worked_example_is_the_mean_over_its_tasks() -> None:
    assert _mean(pass_at, 3, (ONE, ONE, ONE)) == Mean(Fraction(13, 15), 3)
    assert _mean(pass_hat, 3, (ONE, ONE, ONE)) == Mean(Fraction(11, 30), 3)


def test_p4_a_task_of_weight_two_counts_twice() -> None:
    assert _mean(pass_at, 3, (ONE, ONE, Fraction(2))) == Mean(Fraction(4, 5), 3)
    assert _mean(pass_hat, 3, (ONE, ONE, Fraction(2))) == Mean(Fraction(11, 40), 3)


def test_p5_the_estimates_are_unbiased_for_the_theory_of_independent_attempts() -> None:
    p = Fraction(3, 4)
    assert _expected(pass_at, 5, 3, p) == Fraction(984375, 1000000)
    assert _expected(pass_hat, 5, 3, p) == Fraction(421875, 1000000)


def test_p6_p7_no_figure_is_a_pooled_or_plugged_in_rate_raised_to_a_power() -> None:
    at, hat = _mean(pass_at, 3, (ONE,) * 3).value, _mean(pass_hat, 3, (ONE,) * 3).value
    assert at is not None
    assert hat is not None
    for wrong in (0.936, 0.808):
        assert abs(float(at) - wrong) > 0.05
    for wrong in (0.216, 0.408):
        assert abs(float(hat) - wrong) > 0.04


@pytest.mark.parametrize(
    ("n", "c", "k", "hat", "at"),
    [
        (5, 4, 3, Fraction(2, 5), ONE),  # P8
        (4, 2, 2, Fraction(1, 6), Fraction(5, 6)),  # P9
        (8, 6, 5, Fraction(3, 28), ONE),  # P10
        (20, 17, 10, Fraction(2, 19), ONE),  # P11
        (10, 9, 5, Fraction(1, 2), ONE),  # P12
        (2, 0, 5, None, None),  # P13
        (1, 1, 2, None, None),  # P14
    ],
)
def test_p8_to_p14_small_counts_are_exact_fractions(
    n: int, c: int, k: int, hat: Fraction | None, at: Fraction | None
) -> None:
    assert pass_hat(n, c, k) == hat
    assert pass_at(n, c, k) == at


@pytest.mark.parametrize(
    ("n", "c", "k", "hat", "tolerance"),
    [
        (200, 150, 100, 2.2229697512078617e-19, 1e-15),  # P15
        (10**6, 999_000, 1000, 0.36751150041701125, 1e-12),  # P16
        (10**6, 500_000, 3, 0.124999624999625, 1e-12),  # P17
        (10**6, 999_999, 500_000, 0.5, 0),  # P18
        (10**6, 999_997, 900_000, 0.000999973000117, 1e-9),  # P19
    ],
)
def test_p15_to_p19_large_counts_are_right_and_quick(
    n: int, c: int, k: int, hat: float, tolerance: float
) -> None:
    before = time.process_time()
    value = pass_hat(n, c, k)
    assert value is not None
    assert math.isclose(value, hat, rel_tol=tolerance)
    assert time.process_time() - before < 2  # math.comb would take minutes of processor time


def test_p17_pass_at_of_a_large_count() -> None:
    value = pass_at(10**6, 500_000, 3)
    assert value is not None
    assert math.isclose(value, 0.875000375000375, rel_tol=1e-12)


def test_p20_the_attempt_rate_and_the_task_rate_differ_when_n_does() -> None:
    assert rate(1, 10) == Fraction(1, 10)
    rates = [rate(1, 1), rate(0, 9)]
    assert weighted_mean(Weighted(each, ONE) for each in rates if each is not None) == Mean(
        Fraction(1, 2), 2
    )


def test_no_attempts_are_no_rate_rather_than_zero() -> None:
    assert rate(0, 0) is None
    assert weighted_mean(()) == Mean(None, 0)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0), (-1, -1, 1)])
def test_counts_that_cannot_be_are_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="can't be"):
        pass_hat(n, c, k)
    with pytest.raises(ValueError, match="can't be"):
        pass_at(n, c, k)


def test_both_products_of_the_large_form_agree_with_the_exact_ratio() -> None:
    for n, c, k in ((101, 60, 7), (150, 149, 140), (999, 500, 20), (1200, 1100, 400)):
        exact = Fraction(math.comb(c, k), math.comb(n, k))
        assert pass_hat(n, c, k) == float(exact)


def test_the_sum_of_logarithms_agrees_with_the_exact_ratio() -> None:
    n, c, k = 60_000, 48_000, 12_000  # more terms than are multiplied out
    exact = float(Fraction(math.comb(c, k), math.comb(n, k)))
    value = pass_hat(n, c, k)
    assert value is not None
    assert exact == 0.0 or math.isclose(value, exact, rel_tol=1e-9)
    nearly = pass_hat(60_000, 59_990, 10_001)
    assert nearly is not None
    assert math.isclose(
        nearly, float(Fraction(math.comb(59_990, 10_001), math.comb(60_000, 10_001))), rel_tol=1e-9
    )


counts = st.integers(1, 30).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))
)


@given(counts)
def test_pass_at_is_what_is_left_when_all_k_fail(case: tuple[int, int, int]) -> None:
    n, c, k = case
    at, hat = pass_at(n, c, k), pass_hat(n, n - c, k)
    assert at is not None
    assert hat is not None
    assert at + hat == 1


@given(counts)
def test_for_k_of_one_both_are_the_rate(case: tuple[int, int, int]) -> None:
    n, c, _ = case
    assert pass_at(n, c, 1) == pass_hat(n, c, 1) == Fraction(c, n)


@given(counts)
def test_more_draws_never_lower_pass_at_and_never_raise_pass_hat(
    case: tuple[int, int, int],
) -> None:
    n, c, k = case
    if k < n:
        at, more_at = pass_at(n, c, k), pass_at(n, c, k + 1)
        hat, more_hat = pass_hat(n, c, k), pass_hat(n, c, k + 1)
        assert at is not None
        assert more_at is not None
        assert at <= more_at
        assert hat is not None
        assert more_hat is not None
        assert hat >= more_hat


@given(
    st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))),
    st.fractions(0, 1, max_denominator=12),
)
def test_the_expectation_over_all_outcomes_is_the_truth(size: tuple[int, int], p: Fraction) -> None:
    n, k = size
    assert _expected(pass_hat, n, k, p) == p**k
    assert _expected(pass_at, n, k, p) == 1 - (1 - p) ** k


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(1, 5)), min_size=1, max_size=20))
def test_the_order_of_the_tasks_changes_no_bit_of_a_mean(rows: list[tuple[int, int]]) -> None:
    values = [Weighted(passes / 200, Fraction(weight)) for passes, weight in rows]
    assert weighted_mean(values) == weighted_mean(reversed(values))


def _mean(measure: object, k: int, weights: tuple[Fraction, ...]) -> Mean:
    assert measure in (pass_at, pass_hat)
    values = [(pass_at if measure is pass_at else pass_hat)(5, c, k) for c in (5, 3, 1)]
    return weighted_mean(
        Weighted(value, weight)
        for value, weight in zip(values, weights, strict=True)
        if value is not None
    )


def _expected(measure: object, n: int, k: int, p: Fraction) -> Fraction:
    total = Fraction(0)
    for c in range(n + 1):
        value = (pass_at if measure is pass_at else pass_hat)(n, c, k)
        assert value is not None
        total += math.comb(n, c) * p**c * (1 - p) ** (n - c) * Fraction(value)
    return total
