"""CPU seconds, of ourselves and of the programs we start."""

import os
from collections.abc import Callable
from typing import NamedTuple


class Measured(NamedTuple):
    """What one piece of work cost."""

    cpu_s: float
    """User and system, children included."""


def cpu_of(work: Callable[[], object]) -> Measured:
    """Do the work and return what it cost."""
    before = os.times()
    work()
    after = os.times()
    return Measured(sum(after[:4]) - sum(before[:4]))
