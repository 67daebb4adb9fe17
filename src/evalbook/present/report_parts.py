"""What a results report is made of."""

from typing import NamedTuple

from evalbook.derive.book import Entry, EvaluationBook
from evalbook.derive.figures import ConfigFigures
from evalbook.present.text import Language


class Facts(NamedTuple):
    """What a report must state and the book does not know."""

    commit: str
    """The ledger commit it was made from."""
    tool: str
    """``evalbook`` and its version."""


class Table(NamedTuple):
    """A table of text."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers_from: int
    """First column that holds numbers, which stand to the right; len(head): none does."""


class Field(NamedTuple):
    """One field of the report."""

    key: str
    label: str
    says: tuple[str, ...]
    """Sentences."""
    table: Table | None = None
    missing: str | None = None
    """Why the field, or a part of it, can't be filled; None: it is filled."""


class Subject(NamedTuple):
    """What the fields of one version are filled from."""

    book: EvaluationBook
    figures: ConfigFigures
    facts: Facts
    language: Language

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every attempt of the version."""
        return self.figures.version.entries

    @property
    def imported(self) -> bool:
        """Whether some of it was read in from elsewhere."""
        return any(plan.purpose == "import" for plan in self.figures.version.plans)
