"""What a check says, in words that fit a row."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple

LONGEST_TEXT = 2_000
"""Characters of each text of an outcome that are kept."""
_LONGEST_QUOTE = 20_000
"""Far above `LONGEST_TEXT`: quotations are cut before scrubbing, and a secret that straddles that
cut must not come near what is kept."""
_NAMES_SHOWN = 5


class Answer(NamedTuple):
    """What one check found, before it is scrubbed and cut."""

    outcome: Literal["held", "failed", "error"]
    expected: str
    actual: str
    evidence: str = ""


class UnreadableError(Exception):
    """What the agent left can't be read as what it should be: the check failed."""

    def __init__(self, actual: str, evidence: str = "") -> None:
        super().__init__(actual)
        self.actual = actual
        self.evidence = evidence


class BrokenCheckError(Exception):
    """The check can't be made, whatever the agent did: its reference, schema or grader is broken."""


@contextmanager
def broken_if_unreadable(what: str) -> Iterator[None]:
    """Say of unreadable *reference* material that the check is broken, not that the agent failed."""
    try:
        yield
    except UnreadableError as error:
        raise BrokenCheckError(f"{what}: {error.actual} {error.evidence}".rstrip()) from error


def quoted(text: str) -> str:
    """Return ``text`` in quotation marks, on one line, otherwise as it is so that scrubbing sees it."""
    shown = "".join(_visible(each) for each in text[:_LONGEST_QUOTE])
    return f'"{shown}"'


def _visible(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def listed(names: Sequence[str]) -> str:
    """Return the first few names and how many more there are."""
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def fit(text: str, scrub: Callable[[str], str]) -> str:
    """Return a text as a row may hold it: writable as UTF-8, without control characters, scrubbed, cut."""
    plain = "".join(each if each == "\n" else _visible(each) for each in text[: 2 * _LONGEST_QUOTE])
    clean = scrub(plain)
    return clean if len(clean) <= LONGEST_TEXT else f"{clean[: LONGEST_TEXT - 1]}…"
