"""The two kinds of wrong: what a person can fix, and what is wrong in the book."""

from typing import Literal, NamedTuple

from evalbook.base.exits import COULD_NOT_RUN

Severity = Literal["violation", "weakness"]
"""A violation: someone changed the past. A weakness: it can't be shown that nobody did."""


class UserError(Exception):
    """Something the person can fix; the message says what and where, the hint what to do next.

    Anything else that escapes is a bug in evalbook and shows its traceback.
    """

    def __init__(
        self, message: str, *, hint: str | None = None, exit_code: int = COULD_NOT_RUN
    ) -> None:
        super().__init__(message)
        self.hint = hint
        self.exit_code = exit_code


class Finding(NamedTuple):
    """One thing that is wrong in the book, and where."""

    severity: Severity
    rule: str
    """Name of the rule, say ``added-only``; stable, for tests and scripts."""
    message: str
    """One line for people: what is wrong."""
    commit: str | None = None
    """Full id of the commit that did it; None where no one commit did."""
    path: str | None = None
    """Path from the top of the repository."""
    line: int | None = None
    """1-based line in that file; None where the whole file is meant."""
