"""Moments as the book writes them: UTC, to the millisecond, ending in Z."""

from datetime import UTC, datetime
from decimal import Decimal


def instant(moment: datetime) -> str:
    """Return an aware ``moment`` as ``2026-11-30T21:18:04.123Z``.

    Raises:
        ValueError: when ``moment`` has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError("a moment without a time zone can't be recorded")
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


def moment(text: str) -> datetime:
    """Return the aware UTC moment that an instant names."""
    return datetime.fromisoformat(text)


def seconds_between(start: str, end: str) -> Decimal:
    """Return the seconds from one instant to another, exact to the millisecond."""
    delta = moment(end) - moment(start)
    milliseconds = (delta.days * 86_400 + delta.seconds) * 1000 + delta.microseconds // 1000
    return Decimal(milliseconds) / 1000


def decimal_text(value: Decimal) -> str:
    """Return ``value`` without exponent and trailing zeros: the one form the book writes.

    Raises:
        ValueError: for NaN and infinities.
    """
    if not value.is_finite():
        raise ValueError(f"{value} can't be recorded")
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text
