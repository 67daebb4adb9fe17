"""The filled results report, as a value that Markdown and the site both show."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from evalbook.derive.book import EvaluationBook
from evalbook.derive.figures import ConfigFigures
from evalbook.present import report_measured as measured
from evalbook.present import report_outcome as outcome
from evalbook.present.report_parts import Facts, Field, Subject
from evalbook.present.sentences import Sentence, cautions, headline
from evalbook.present.tables import version_name
from evalbook.present.templates import Templates
from evalbook.present.text import ENGLISH, Language

_FIELDS: Sequence[Callable[[Subject], Field]] = (
    measured.configuration,
    measured.time_span,
    measured.tasks,
    measured.figures,
    measured.start,
    measured.grading,
    measured.outside,
    outcome.exclusions,
    outcome.records,
    outcome.estimator,
    outcome.delivery,
    outcome.effort,
    outcome.critical,
    outcome.next_steps,
)
"""Every field of P1, in the order of the report."""


class VersionReport(NamedTuple):
    """The report of one version of a config."""

    name: str
    """``agent v1``."""
    headline: str
    cautions: tuple[Sentence, ...]
    fields: tuple[Field, ...]


class Report(NamedTuple):
    """The results report of an evaluation."""

    evaluation: str
    title: str
    constructed: bool
    facts: Facts
    versions: tuple[VersionReport, ...]


def report_of(
    book: EvaluationBook,
    figures: Iterable[ConfigFigures],
    facts: Facts,
    language: Language = ENGLISH,
) -> Report:
    """Return the report of the versions in ``figures``: every field filled, or why it can't be."""
    return Report(
        evaluation=book.name,
        title=book.agreed.title if book.agreed else book.name,
        constructed=book.agreed is not None and book.agreed.constructed,
        facts=facts,
        versions=tuple(
            VersionReport(
                name=version_name(each),
                headline=headline(each, language),
                cautions=cautions(each, language),
                fields=tuple(fill(Subject(book, each, facts, language)) for fill in _FIELDS),
            )
            for each in figures
        ),
    )


def report_markdown(report: Report, templates: Templates) -> str:
    """Return the report as Markdown, in which nothing that a record says can act as markup."""
    return templates.markdown("report.md", report=report)
