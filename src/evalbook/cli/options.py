"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
evaluation = click.argument("evaluation", required=False)
reason = click.option("--reason", required=True, metavar="TEXT", help="Why; kept in the book.")


def folder() -> Path:
    """Return the folder that ``-C`` named, or the one we are in."""
    root = click.get_current_context().find_root()
    chosen: Path = root.params["folder"]
    return chosen


def colour(stream_is_terminal: bool) -> bool:  # noqa: FBT001 - click's own answer, passed straight on
    """Return whether to use colour, by ``--color`` and NO_COLOR."""
    wanted = click.get_current_context().find_root().color
    return stream_is_terminal if wanted is None else wanted
