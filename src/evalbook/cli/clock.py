"""The one place that reads the clock."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return this moment, in UTC."""
    return datetime.now(UTC)
