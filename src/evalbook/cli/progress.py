"""How a run looks while it runs: on stderr, one line a finished attempt, a moving line on terminals."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from evalbook.cli.shell import talk

if TYPE_CHECKING:
    from evalbook.run.session import Progress
