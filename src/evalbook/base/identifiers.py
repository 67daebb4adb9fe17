"""Readable ids: a UTC minute and a few letters."""

from collections.abc import Callable
from datetime import UTC, datetime

_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
"""Without l, o, 0 and 1, which are read wrongly."""
_LENGTH = 4


def run_id(now: datetime, pick: Callable[[str], str]) -> str:
    """Return a new run id like ``20261130-2118-k3f9``; ``pick`` chooses one of some letters."""
    return f"{now.astimezone(UTC):%Y%m%d-%H%M}-{''.join(pick(_LETTERS) for _ in range(_LENGTH))}"


def decision_id(now: datetime, pick: Callable[[str], str]) -> str:
    """Return a new decision id like ``d-20261130-2118-k3f9``."""
    return f"d-{run_id(now, pick)}"
