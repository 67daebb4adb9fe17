"""How numbers and untrusted words look."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import plan_of, row_of

from evalbook.derive.counts import Mean
from evalbook.derive.effort import Sum, effort_of
from evalbook.present.text import (
    coverage,
    known_cost,
    mark_of,
    mean_over,
    name_only,
    percent,
    seconds,
    short,
    size,
    visible,
)

PLAN = plan_of({"a": 3})


@pytest.mark.parametrize(
    ("value", "attempts", "text"),
    [
        (Fraction(3, 5), 15, "60.0 %"),
        (Fraction(13, 15), 15, "86.7 %"),
        (Fraction(11, 30), 15, "36.7 %"),
        (Fraction(1, 16), 16, "6.3 %"),
        (0.5675, 400, "56.75 %"),
        (Fraction(1), 5, "100.0 %"),
        (Fraction(0), 5, "0.0 %"),
        (None, 0, "–"),
    ],
)
def test_one_decimal_and_two_from_a_hundred_attempts_on(
    value: Fraction | float | None, attempts: int, text: str
) -> None:
    assert percent(value, attempts) == text


def test_what_is_not_quite_all_or_nothing_never_looks_like_it() -> None:
    assert percent(29_999 / 30_000, 30_000) == "> 99.99 %"
    assert percent(1 / 30_000, 30_000) == "< 0.01 %"


def test_a_mean_over_some_of_the_tasks_says_so() -> None:
    assert mean_over(Mean(Fraction(1, 2), 2), 3, 10) == "50.0 % (2 of 3 tasks)"
    assert mean_over(Mean(Fraction(1, 2), 3), 3, 10) == "50.0 %"
    assert mean_over(Mean(None, 0), 3, 10) == "–"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0", "0 s"),
        ("0.268", "0.27 s"),
        ("9.5", "9.5 s"),
        ("41.4", "41 s"),
        ("105", "1 min 45 s"),
        ("120", "2 min"),
        ("7500", "2 h 5 min"),
    ],
)
def test_seconds_in_the_unit_that_can_be_read(value: str, text: str) -> None:
    assert seconds(Decimal(value)) == text


def test_bytes_in_the_unit_that_can_be_read() -> None:
    assert [size(number) for number in (0, 1023, 1536, 3 * 1024**2)] == [
        "0 B", "1023 B", "1.5 KiB", "3.0 MiB",
    ]  # fmt: skip


def test_only_digests_are_shortened() -> None:
    assert short("a" * 64) == "a" * 12
    assert short("unknown") == "unknown"
    assert short('"a setting that begins with a and is long enough to be a digest"') != "a" * 12


def test_an_unknown_cost_is_never_nothing() -> None:
    unknown = row_of(PLAN, "a", 1)
    known = row_of(PLAN, "a", 2, cost="0.08", currency="CNY")
    other = row_of(PLAN, "a", 3, cost="1.5", currency="USD")
    assert known_cost(effort_of([])) == "none"
    assert known_cost(effort_of([unknown])) == "unknown"
    assert known_cost(effort_of([known, other])) == "0.08 CNY + 1.5 USD"
    assert known_cost(effort_of([known, unknown])) == (
        "0.08 CNY known; unknown for 1 of 2 attempts"
    )


def test_a_sum_says_how_many_attempts_did_not_report_it() -> None:
    assert coverage(Sum(Decimal(3), 2, 0), "3") == "3"
    assert coverage(Sum(Decimal(3), 2, 1), "3") == "3 in 2 attempts, unknown in 1"
    assert coverage(Sum(Decimal(0), 0, 2), "0") == "unknown"
    assert coverage(Sum(Decimal(0), 0, 0), "0") == "none"


def test_an_attempt_that_was_not_judged_says_so_beside_its_verdict() -> None:
    assert mark_of(row_of(PLAN, "a", 1, "t", judged=False)).word == "timeout, not judged"
    assert mark_of(row_of(PLAN, "a", 1, "t")).word == "timeout"


@given(st.text())
def test_no_control_or_direction_character_stays(text: str) -> None:
    shown = visible(text)
    for character in shown:
        assert character in "\n\t" or ord(character) >= 0x20
        assert (
            character not in "\x7f\x9b\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
        )
    assert visible(shown) == shown


def test_what_people_write_stays_as_it_is() -> None:
    text = "研发 2, Ünïcode\ttab\nline 👩‍🔬"
    assert visible(text) == text


def test_a_public_page_names_people_without_their_mail() -> None:
    assert name_only("Ada Lovelace <ada@example.org>") == "Ada Lovelace"
    assert name_only("<ada@example.org>") == "<ada@example.org>"
