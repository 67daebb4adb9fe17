from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbook.base.times import decimal_text, instant, moment, seconds_between

moments = st.datetimes(
    timezones=st.just(UTC), min_value=datetime(1970, 1, 1), max_value=datetime(2100, 1, 1)
)


@given(moments)
def test_an_instant_names_its_moment_to_the_millisecond(when: datetime) -> None:
    assert timedelta(0) <= when - moment(instant(when)) < timedelta(milliseconds=1)


def test_an_instant_is_utc_whatever_the_zone() -> None:
    there = timezone(timedelta(hours=8))
    assert (
        instant(datetime(2026, 12, 1, 5, 18, 4, 123_999, tzinfo=there))
        == "2026-11-30T21:18:04.123Z"
    )


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        instant(datetime(2026, 12, 1))


@given(moments, moments)
def test_seconds_between_are_exact_and_antisymmetric(start: datetime, end: datetime) -> None:
    there, back = (
        seconds_between(instant(start), instant(end)),
        seconds_between(instant(end), instant(start)),
    )
    assert there == -back
    assert (there * 1000) % 1 == 0


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=0, max_value=10**9, places=4))
def test_decimal_text_keeps_the_value_in_its_shortest_form(value: Decimal) -> None:
    text = decimal_text(value)
    assert Decimal(text) == value
    assert "." not in text or not text.endswith("0")


@pytest.mark.parametrize(
    ("value", "text"),
    [("0.080", "0.08"), ("1E+3", "1000"), ("0E-7", "0"), ("-0", "0"), ("10", "10")],
)
def test_decimal_text_has_one_form(value: str, text: str) -> None:
    assert decimal_text(Decimal(value)) == text


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="recorded"):
        decimal_text(Decimal("NaN"))
